/* A document into its tree: bounded, aliases expanded, merges resolved, equal keys settled. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/generate/yaml_tree.h"

#define ANCHORS_MAX 256

struct anchor {
    char *name;
    struct ytree tree; /* a copy: the original moves while its parent grows */
};

struct reader {
    yaml_parser_t parser;
    struct anchor *anchors;
    size_t anchors_len, anchors_cap;
    size_t nodes, bytes; /* spent, copies of aliases included */
    struct err *err;
};

static int fail_at(struct reader *r, size_t line, const char *what)
{
    return err_set(r->err, ERR_BAD_REQUEST, 0, "config.yaml, line %zu: %s", line + 1, what);
}

static int spend(struct reader *r, size_t nodes, size_t bytes, size_t line)
{
    r->nodes += nodes;
    r->bytes += bytes;
    if (r->nodes > YTREE_NODES_MAX || r->bytes > YTREE_BYTES_MAX)
        return fail_at(r, line, "the document is too large, or too large once its aliases are expanded");
    return 0;
}

static int copy_tree(struct reader *r, const struct ytree *from, unsigned depth, struct ytree *ret, size_t line);

/* Behind what ret holds. */
static int copy_items(struct reader *r, const struct ytree *from, unsigned depth, struct ytree *ret, size_t line)
{
    size_t i;

    for (i = 0; i < from->len; i++) {
        struct ytree *item = ytree_grow(ret);

        if (!item)
            return err_nomem(r->err);
        if (copy_tree(r, &from->items[i], depth + 1, item, line) < 0)
            return -1;
    }
    return 0;
}

/* Copies may stand inside copies, so depth is counted here too. */
static int copy_tree(struct reader *r, const struct ytree *from, unsigned depth, struct ytree *ret, size_t line)
{
    if (depth > YTREE_DEPTH_MAX)
        return fail_at(r, line, "the document is nested too deeply");
    if (spend(r, 1, from->text ? strlen(from->text) : 0, line) < 0)
        return -1;
    ret->kind = from->kind;
    ret->plain = from->plain;
    if (from->text && !(ret->text = mem_strdup(from->text)))
        return err_nomem(r->err);
    return copy_items(r, from, depth, ret, line);
}

static struct anchor *find_anchor(struct reader *r, const char *name)
{
    size_t i = r->anchors_len;

    while (i--) /* the latest of a name counts */
        if (str_eq(r->anchors[i].name, name))
            return &r->anchors[i];
    return NULL;
}

/* An anchor is known only once its node is complete: a node that contains itself is refused as
 * unknown. */
static int keep_anchor(struct reader *r, const yaml_char_t *name, unsigned depth, const struct ytree *tree, size_t line)
{
    struct anchor a = { .name = mem_strdup((const char *)name) };
    void *array = r->anchors;

    if (!a.name)
        return err_nomem(r->err);
    if (r->anchors_len >= ANCHORS_MAX) {
        mem_free(a.name);
        return fail_at(r, line, "too many anchors");
    }
    if (copy_tree(r, tree, depth, &a.tree, line) < 0)
        goto fail;
    if (mem_grow(&array, r->anchors_len, &r->anchors_cap, sizeof(*r->anchors)) < 0) {
        err_nomem(r->err);
        goto fail;
    }
    r->anchors = array;
    r->anchors[r->anchors_len++] = a;
    return 0;
fail:
    ytree_release(&a.tree);
    mem_free(a.name);
    return -1;
}

static int next_event(struct reader *r, yaml_event_t *ret)
{
    const yaml_parser_t *p = &r->parser;
    size_t line = p->problem_mark.line;

    if (yaml_parser_parse(&r->parser, ret))
        return 0;
    if (p->error == YAML_MEMORY_ERROR)
        return err_nomem(r->err);
    line = p->error == YAML_READER_ERROR ? p->mark.line : p->problem_mark.line;
    return fail_at(r, line, p->problem ? p->problem : "this is no YAML");
}

/* Tags that say what the node is anyway; every other one would make the agent build an object. */
static int check_tag(struct reader *r, const yaml_char_t *tag, const char *expected, size_t line)
{
    if (!tag || str_eq((const char *)tag, expected) || str_eq((const char *)tag, "!"))
        return 0;
    return fail_at(r, line, "tags are not supported here");
}

static int read_scalar(struct reader *r, const yaml_event_t *e, struct ytree *ret)
{
    size_t line = e->start_mark.line;
    bool plain = e->data.scalar.plain_implicit;

    if (strlen((const char *)e->data.scalar.value) != e->data.scalar.length)
        return fail_at(r, line, "U+0000 is not allowed");
    if (!plain && check_tag(r, e->data.scalar.tag, YAML_STR_TAG, line) < 0)
        return -1;
    if (spend(r, 1, e->data.scalar.length, line) < 0)
        return -1;
    return ytree_make_scalar(ret, (const char *)e->data.scalar.value, plain, r->err);
}

static int read_node(struct reader *r, yaml_event_t *e, unsigned depth, struct ytree *ret);
static int settle_mapping(struct reader *r, struct ytree *mapping, unsigned depth, size_t line);

static int check_item(struct reader *r, const struct ytree *item, bool key, size_t line)
{
    if (key && item->kind != YTREE_SCALAR)
        return fail_at(r, line, "a key has to be a text or a number");
    if (item->kind == YTREE_SCALAR && item->plain && !ytree_plain_is_sound(item->text, key))
        return fail_at(r, line, "what looks like a date or a number is none, or means something else; quote it");
    return 0;
}

/* Reads items up to the end event of the collection. */
static int read_items(struct reader *r, yaml_event_type_t end, unsigned depth, struct ytree *ret)
{
    for (;;) {
        yaml_event_t e;
        struct ytree *item;
        int result;

        if (next_event(r, &e) < 0)
            return -1;
        if (e.type == end) {
            yaml_event_delete(&e);
            return 0;
        }
        item = ytree_grow(ret);
        result = item ? read_node(r, &e, depth + 1, item) : err_nomem(r->err);
        if (result == 0)
            result = check_item(r, item, end == YAML_MAPPING_END_EVENT && ret->len % 2, e.start_mark.line);
        yaml_event_delete(&e);
        if (result < 0)
            return -1;
    }
}

static int read_collection(struct reader *r, const yaml_event_t *e, unsigned depth, struct ytree *ret)
{
    bool mapping = e->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag = mapping ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    size_t line = e->start_mark.line;

    if (depth >= YTREE_DEPTH_MAX)
        return fail_at(r, line, "the document is nested too deeply");
    if (check_tag(r, tag, mapping ? YAML_MAP_TAG : YAML_SEQ_TAG, line) < 0 || spend(r, 1, 0, line) < 0)
        return -1;
    ret->kind = mapping ? YTREE_MAPPING : YTREE_SEQUENCE;
    if (read_items(r, mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, depth, ret) < 0)
        return -1;
    return mapping ? settle_mapping(r, ret, depth, line) : 0;
}

static int read_alias(struct reader *r, const yaml_event_t *e, unsigned depth, struct ytree *ret)
{
    struct anchor *found = find_anchor(r, (const char *)e->data.alias.anchor);

    if (!found)
        return fail_at(r, e->start_mark.line, "this alias has no anchor before it");
    return copy_tree(r, &found->tree, depth, ret, e->start_mark.line);
}

static int read_node(struct reader *r, yaml_event_t *e, unsigned depth, struct ytree *ret)
{
    const yaml_char_t *anchor = NULL;
    int result = -1;

    switch ((int)e->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(r, e, depth, ret);
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor;
        result = read_scalar(r, e, ret);
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor;
        result = read_collection(r, e, depth, ret);
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor;
        result = read_collection(r, e, depth, ret);
        break;
    default:
        return fail_at(r, e->start_mark.line, "a value is missing");
    }
    if (result == 0 && anchor)
        result = keep_anchor(r, anchor, depth, ret, e->start_mark.line);
    return result;
}

/* ---- equal keys and merges
 * -------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const struct ytree *one = *(struct ytree *const *)a, *two = *(struct ytree *const *)b;
    int order = strcmp(one->text, two->text);

    return order ? order : (one > two) - (one < two);
}

static bool is_merge(const struct ytree *key)
{
    return key->plain && str_eq(key->text, "<<");
}

/* Of equal keys the first place and the last value stay. Quoted and plain spellings of a key are
 * equal to whoever reads properties by name. Sorting keeps this cheap for mappings with very many
 * keys. */
static int drop_repeated(struct reader *r, struct ytree *mapping)
{
    size_t pairs = mapping->len / 2, i, kept = 0;
    struct ytree **sorted;

    if (pairs < 2)
        return 0;
    sorted = mem_zalloc(pairs, sizeof(struct ytree *));
    if (!sorted)
        return err_nomem(r->err);
    for (i = 0; i < pairs; i++)
        sorted[i] = &mapping->items[2 * i];
    qsort(sorted, pairs, sizeof(struct ytree *), compare_keys);
    for (i = 1; i < pairs; i++) {
        struct ytree *first = sorted[i - 1], *again = sorted[i];

        if (strcmp(first->text, again->text) != 0)
            continue;
        ytree_release(&first[1]);
        first[1] = again[1];
        again[1] = (struct ytree){ 0 };
        ytree_release(again); /* no text any more: dropped below */
        sorted[i] = first;
    }
    mem_free(sorted);
    for (i = 0; i < pairs; i++) {
        if (!mapping->items[2 * i].text)
            continue;
        memmove(&mapping->items[2 * kept], &mapping->items[2 * i], 2 * sizeof(struct ytree));
        kept++;
    }
    mapping->len = 2 * kept;
    return 0;
}

/* Copies the pairs of from behind those of ret. */
static int take_pairs(struct reader *r, const struct ytree *from, unsigned depth, struct ytree *ret, size_t line)
{
    size_t i;

    if (from->kind == YTREE_SEQUENCE) {
        for (i = from->len; i--;) /* of several sources the first wins, so it is taken last */
            if (from->items[i].kind != YTREE_MAPPING)
                return fail_at(r, line, "only mappings can be merged with \"<<\"");
            else if (take_pairs(r, &from->items[i], depth, ret, line) < 0)
                return -1;
        return 0;
    }
    if (from->kind != YTREE_MAPPING)
        return fail_at(r, line, "only mappings can be merged with \"<<\"");
    return copy_items(r, from, depth, ret, line);
}

/* Merged pairs come first, so that the mapping's own pairs win over them. */
static int merge(struct reader *r, struct ytree *mapping, unsigned depth, size_t line)
{
    struct ytree merged = { .kind = YTREE_MAPPING };
    size_t i;

    for (i = 0; i + 1 < mapping->len; i += 2)
        if (is_merge(&mapping->items[i]) && take_pairs(r, &mapping->items[i + 1], depth, &merged, line) < 0)
            goto fail;
    for (i = 0; i + 1 < mapping->len; i += 2) {
        if (is_merge(&mapping->items[i]))
            continue;
        if (!ytree_grow(&merged) || !ytree_grow(&merged)) {
            err_nomem(r->err);
            goto fail;
        }
        memcpy(&merged.items[merged.len - 2], &mapping->items[i], 2 * sizeof(struct ytree));
        memset(&mapping->items[i], 0, 2 * sizeof(struct ytree));
    }
    ytree_release(mapping);
    *mapping = merged;
    return 0;
fail:
    ytree_release(&merged);
    return -1;
}

static int settle_mapping(struct reader *r, struct ytree *mapping, unsigned depth, size_t line)
{
    size_t i;

    for (i = 0; i + 1 < mapping->len; i += 2)
        if (is_merge(&mapping->items[i])) {
            if (merge(r, mapping, depth, line) < 0)
                return -1;
            break;
        }
    return drop_repeated(r, mapping);
}

/* ---- the document
 * -----------------------------------------------------------------------------------------------
 */

/* The next event, of which only the type matters. */
static int skip_event(struct reader *r, yaml_event_type_t *ret, size_t *ret_line)
{
    yaml_event_t e;

    if (next_event(r, &e) < 0)
        return -1;
    *ret = e.type;
    *ret_line = e.start_mark.line;
    yaml_event_delete(&e);
    return 0;
}

static int read_document(struct reader *r, struct ytree *ret)
{
    yaml_event_type_t type;
    yaml_event_t e;
    size_t line;
    int result;

    if (skip_event(r, &type, &line) < 0 || skip_event(r, &type, &line) < 0)
        return -1;
    if (type == YAML_STREAM_END_EVENT)
        return ytree_make_scalar(ret, "", true, r->err);
    if (next_event(r, &e) < 0)
        return -1;
    result = read_node(r, &e, 0, ret);
    yaml_event_delete(&e);
    if (result < 0 || skip_event(r, &type, &line) < 0 || skip_event(r, &type, &line) < 0)
        return -1;
    if (type != YAML_STREAM_END_EVENT)
        return fail_at(r, line, "a second document begins here; one is expected");
    return 0;
}

int ytree_parse(const char *text, size_t len, struct ytree *ret, struct err *err)
{
    struct reader r = { .err = err };
    struct ytree tree = { 0 };
    size_t i;
    int result;

    if (len > YTREE_BYTES_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "config.yaml has more than %u bytes", YTREE_BYTES_MAX);
    if (!yaml_parser_initialize(&r.parser))
        return err_nomem(err);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    result = read_document(&r, &tree);
    yaml_parser_delete(&r.parser);
    for (i = 0; i < r.anchors_len; i++) {
        mem_free(r.anchors[i].name);
        ytree_release(&r.anchors[i].tree);
    }
    mem_free(r.anchors);
    if (result < 0) {
        ytree_release(&tree);
        return -1;
    }
    *ret = tree;
    return 0;
}
