#include "shared/buml/tree.h"

#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/read.h"
#include "shared/json/json.h"

/* ---- arena --------------------------------------------------------------------------------------------------------
 */

#define BLOCK (64u << 10)

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

static struct arena_block *add_block(struct arena *a, size_t size)
{
    struct arena_block *b;

    if (size < BLOCK)
        size = BLOCK;
    b = mem_zalloc(1, sizeof(*b) + size);
    if (!b)
        return NULL;
    b->size = size;
    b->next = a->blocks;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_block *b = a->blocks;
    void *p;

    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->size - b->used < size)
        b = add_block(a, size);
    if (!b)
        return NULL;
    p = (char *)b->data + b->used;
    b->used += size;
    return p;
}

char *arena_text(struct arena *a, const char *s, size_t len)
{
    char *copy = arena_alloc(a, len + 1);

    if (copy)
        memcpy(copy, s, len);
    return copy;
}

void arena_release(struct arena *a)
{
    struct arena_block *b, *next;

    for (b = a->blocks; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    a->blocks = NULL;
}

/* ---- words of the tree --------------------------------------------------------------------------------------------
 */

static const char *const kinds[NODE__KINDS] = {
    [NODE_MODULE] = "Module",
    [NODE_EXPR] = "Expr",
    [NODE_ASSIGN] = "Assign",
    [NODE_ANN_ASSIGN] = "AnnAssign",
    [NODE_AUG_ASSIGN] = "AugAssign",
    [NODE_FUNCTION] = "FunctionDef",
    [NODE_ASYNC_FUNCTION] = "AsyncFunctionDef",
    [NODE_CLASS] = "ClassDef",
    [NODE_IF] = "If",
    [NODE_FOR] = "For",
    [NODE_WHILE] = "While",
    [NODE_TRY] = "Try",
    [NODE_WITH] = "With",
    [NODE_MATCH] = "Match",
    [NODE_IMPORT] = "Import",
    [NODE_IMPORT_FROM] = "ImportFrom",
    [NODE_RETURN] = "Return",
    [NODE_PASS] = "Pass",
    [NODE_CALL] = "Call",
    [NODE_NAME] = "Name",
    [NODE_ATTRIBUTE] = "Attribute",
    [NODE_CONSTANT] = "Constant",
    [NODE_LIST] = "List",
    [NODE_TUPLE] = "Tuple",
    [NODE_SET] = "Set",
    [NODE_DICT] = "Dict",
    [NODE_BIN_OP] = "BinOp",
    [NODE_UNARY_OP] = "UnaryOp",
    [NODE_SUBSCRIPT] = "Subscript",
    [NODE_STARRED] = "Starred",
    [NODE_LAMBDA] = "Lambda",
    [NODE_NAMED] = "NamedExpr",
    [NODE_JOINED] = "JoinedStr",
    [NODE_FORMATTED] = "FormattedValue",
};

static const char *const parts[NODE__PARTS] = {
    [PART_BODY] = "body",           [PART_ORELSE] = "orelse",
    [PART_FINALBODY] = "finalbody", [PART_HANDLERS] = "handlers",
    [PART_CASES] = "cases",         [PART_ITEMS] = "items",
    [PART_TARGETS] = "targets",     [PART_TARGET] = "target",
    [PART_VALUE] = "value",         [PART_VALUES] = "values",
    [PART_KEYS] = "keys",           [PART_ELTS] = "elts",
    [PART_FUNC] = "func",           [PART_ARGS] = "args",
    [PART_KEYWORDS] = "keywords",   [PART_LEFT] = "left",
    [PART_RIGHT] = "right",         [PART_OPERAND] = "operand",
    [PART_SLICE] = "slice",         [PART_ITER] = "iter",
    [PART_NAMES] = "names",         [PART_DECORATORS] = "decorator_list",
    [PART_DEFAULTS] = "defaults",
};

static const char *const literals[] = {
    [LITERAL_TEXT] = "str",      [LITERAL_BYTES] = "bytes",       [LITERAL_INT] = "int",
    [LITERAL_FLOAT] = "float",   [LITERAL_COMPLEX] = "complex",   [LITERAL_BOOL] = "bool",
    [LITERAL_NONE] = "NoneType", [LITERAL_ELLIPSIS] = "ellipsis",
};

static size_t word_index(const char *const *words, size_t len, const char *word)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (words[i] && strcmp(words[i], word) == 0)
            return i;
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

struct reading {
    struct tree *tree;
    struct err *err;
};

static struct node *read_node(struct reading *r, const cJSON *json, int depth);

static int no_tree(struct reading *r)
{
    return err_set(r->err, ERR_UPSTREAM, 0, "The parser's tree cannot be read");
}

static const char *keep_text(struct reading *r, const cJSON *v)
{
    const char *copy = arena_text(&r->tree->arena, v->valuestring, strlen(v->valuestring));

    if (!copy)
        err_nomem(r->err);
    return copy;
}

static int keep_number(struct node *n, const char *key, int v)
{
    if (strcmp(key, "l") == 0)
        n->line = v;
    else if (strcmp(key, "c") == 0)
        n->column = v;
    else if (strcmp(key, "el") == 0)
        n->end_line = v;
    else if (strcmp(key, "ec") == 0)
        n->end_column = v;
    else if (strcmp(key, "x") == 0)
        n->replaced = true;
    else if (strcmp(key, "conversion") == 0)
        n->truth = v != -1;
    return 0;
}

static int keep_string(struct reading *r, struct node *n, const cJSON *v)
{
    static const char *const names[] = { "id", "attr", "name", "arg", "module", "op" };
    size_t i;

    if (strcmp(v->string, "_") == 0)
        return 0;
    if (strcmp(v->string, "t") == 0) {
        n->literal = (enum literal)word_index(literals, ARRAY_LEN(literals), v->valuestring);
        return 0;
    }
    if (strcmp(v->string, "v") == 0)
        return (n->text = keep_text(r, v)) ? 0 : -1;
    if (strcmp(v->string, "asname") == 0)
        return (n->alias = keep_text(r, v)) ? 0 : -1;
    for (i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(v->string, names[i]) == 0)
            return (n->name = keep_text(r, v)) ? 0 : -1;
    return 0;
}

/* What a chain hangs on is no deeper than the chain: a().b().c() is long, not deep. */
static bool is_spine(const struct node *n, enum node_part part)
{
    return (n->kind == NODE_CALL && part == PART_FUNC) || (n->kind == NODE_ATTRIBUTE && part == PART_VALUE) ||
           (n->kind == NODE_BIN_OP && part == PART_LEFT);
}

static int keep_nodes(struct reading *r, struct node *n, const cJSON *v, int depth)
{
    struct node_list *l = &n->lists[n->lists_len++];
    const cJSON *c, *first = cJSON_IsArray(v) ? v->child : v;
    size_t len = cJSON_IsArray(v) ? (size_t)cJSON_GetArraySize(v) : 1;

    l->part = (enum node_part)word_index(parts, NODE__PARTS, v->string);
    l->items = len ? arena_alloc(&r->tree->arena, len * sizeof(struct node *)) : NULL;
    if (len && !l->items)
        return err_nomem(r->err);
    depth += !is_spine(n, l->part);
    for (c = first; c && l->len < len; c = c->next) {
        struct node *child = NULL;

        if (cJSON_IsObject(c)) {
            child = read_node(r, c, depth);
            if (!child)
                return -1;
        } else if (l->part != PART_OTHER && l->part != PART_KEYS && l->part != PART_NAMES) {
            return no_tree(r);
        }
        l->items[l->len++] = child;
    }
    return 0;
}

static int read_member(struct reading *r, struct node *n, const cJSON *v, int depth)
{
    if (cJSON_IsString(v))
        return keep_string(r, n, v);
    if (cJSON_IsNumber(v))
        return keep_number(n, v->string, v->valueint);
    if (cJSON_IsBool(v)) {
        n->truth = cJSON_IsTrue(v);
        return 0;
    }
    return cJSON_IsArray(v) || cJSON_IsObject(v) ? keep_nodes(r, n, v, depth) : 0;
}

/* What readers take for granted of a kind. */
static const struct needed {
    bool name;
    enum node_part parts[3];
} needed[NODE__KINDS] = {
    [NODE_EXPR] = { false, { PART_VALUE } },
    [NODE_ASSIGN] = { false, { PART_VALUE, PART_TARGETS } },
    [NODE_ANN_ASSIGN] = { false, { PART_TARGET } },
    [NODE_AUG_ASSIGN] = { true, { PART_TARGET, PART_VALUE } },
    [NODE_FUNCTION] = { true, { PART_ARGS } },
    [NODE_ASYNC_FUNCTION] = { true, { PART_ARGS } },
    [NODE_CLASS] = { true, { PART_OTHER } },
    [NODE_FOR] = { false, { PART_TARGET, PART_ITER } },
    [NODE_CALL] = { false, { PART_FUNC } },
    [NODE_NAME] = { true, { PART_OTHER } },
    [NODE_ATTRIBUTE] = { true, { PART_VALUE } },
    [NODE_BIN_OP] = { true, { PART_LEFT, PART_RIGHT } },
    [NODE_UNARY_OP] = { true, { PART_OPERAND } },
    [NODE_SUBSCRIPT] = { false, { PART_VALUE, PART_SLICE } },
    [NODE_STARRED] = { false, { PART_VALUE } },
    [NODE_LAMBDA] = { false, { PART_ARGS, PART_BODY } },
    [NODE_NAMED] = { false, { PART_TARGET, PART_VALUE } },
    [NODE_FORMATTED] = { false, { PART_VALUE } },
};

static bool is_whole(const struct node *n)
{
    const struct needed *want = &needed[n->kind];
    size_t i;

    if (want->name && !n->name)
        return false;
    for (i = 0; i < ARRAY_LEN(want->parts) && want->parts[i]; i++)
        if (!node_child(n, want->parts[i]))
            return false;
    return true;
}

static struct node *read_node(struct reading *r, const cJSON *json, int depth)
{
    const cJSON *type = json_get(json, "_"), *v;
    struct node *n = arena_alloc(&r->tree->arena, sizeof(*n));
    size_t lists = 0;

    if (!n) {
        err_nomem(r->err);
        return NULL;
    }
    if (depth > BUML_DEPTH_MAX) {
        err_set(r->err, ERR_BAD_REQUEST, 0, "Line %d: the file is nested more than %d levels deep",
                json_get(json, "l") ? json_get(json, "l")->valueint : 1, BUML_DEPTH_MAX);
        return NULL;
    }
    if (!cJSON_IsString(type)) {
        no_tree(r);
        return NULL;
    }
    n->kind = (enum node_kind)word_index(kinds, NODE__KINDS, type->valuestring);
    n->type = n->kind ? kinds[n->kind] : keep_text(r, type);
    for (v = json->child; v; v = v->next)
        lists += cJSON_IsArray(v) || cJSON_IsObject(v);
    n->lists = lists ? arena_alloc(&r->tree->arena, lists * sizeof(*n->lists)) : NULL;
    if (!n->type || (lists && !n->lists)) {
        err_nomem(r->err);
        return NULL;
    }
    for (v = json->child; v; v = v->next)
        if (read_member(r, n, v, depth) < 0)
            return NULL;
    if (!n->end_line)
        n->end_line = n->line;
    if (!is_whole(n)) {
        no_tree(r);
        return NULL;
    }
    return n;
}

/* Quotes inside of texts are escaped, so this stands only where a node begins. */
static size_t count_nodes(const char *json)
{
    static const char mark[] = "{\"_\":";
    const char *end = json + strlen(json);
    size_t n = 0;

    for (; (json = memchr(json, mark[0], (size_t)(end - json))); json++)
        n += strncmp(json, mark, sizeof(mark) - 1) == 0;
    return n;
}

int buml_tree_read(const char *json, struct tree *ret, struct err *err)
{
    struct tree t = { .nodes = count_nodes(json) };
    struct reading r = { &t, err };
    struct json_error e = { 0 };
    cJSON *parsed;

    if (t.nodes > BUML_NODES_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "The file has more than %d parts (nodes of its syntax tree)",
                       BUML_NODES_MAX);
    parsed = json_parse(json, strlen(json), &e);
    if (!parsed && e.fault == JSON_TOO_MANY)
        return err_set(err, ERR_BAD_REQUEST, 0, "The file has too many parts");
    if (!parsed)
        return e.fault == JSON_NOMEM ? err_nomem(err) : no_tree(&r);
    t.module = cJSON_IsObject(parsed) ? read_node(&r, parsed, -1) : NULL;
    cJSON_Delete(parsed);
    if (!t.module || t.module->kind != NODE_MODULE) {
        buml_tree_release(&t);
        return err && err->kind ? -1 : no_tree(&r);
    }
    *ret = t;
    return 0;
}

void buml_tree_release(struct tree *t)
{
    if (t)
        arena_release(&t->arena);
}

/* ---- asking -------------------------------------------------------------------------------------------------------
 */

const struct node_list *node_list(const struct node *n, enum node_part part)
{
    static const struct node_list none;
    size_t i;

    for (i = 0; n && i < n->lists_len; i++)
        if (n->lists[i].part == part)
            return &n->lists[i];
    return &none;
}

const struct node *node_child(const struct node *n, enum node_part part)
{
    const struct node_list *l = node_list(n, part);

    return l->len ? l->items[0] : NULL;
}

size_t node_count(const struct node *n)
{
    size_t i, k, count = n ? 1 : 0;

    for (i = 0; n && i < n->lists_len; i++)
        for (k = 0; k < n->lists[i].len; k++)
            count += node_count(n->lists[i].items[k]);
    return count;
}

int node_depth(const struct node *n)
{
    int deepest = 0;
    size_t i, k;

    for (i = 0; n && i < n->lists_len; i++)
        for (k = 0; k < n->lists[i].len; k++) {
            int depth = n->lists[i].items[k] ? node_depth(n->lists[i].items[k]) + !is_spine(n, n->lists[i].part) : 0;

            if (depth > deepest)
                deepest = depth;
        }
    return deepest;
}
