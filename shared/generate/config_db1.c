#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/generate/config_yaml.h"

#define CANDIDATES_MAX 8 /* places in a text that look like the entry */

/* ---- in a tree -------------------------------------------------------------------------------------------------- */

static bool is_placeholder(const struct ytree *t)
{
    size_t i;

    if (t->kind == YTREE_SCALAR)
        return str_starts(t->text + strspn(t->text, " \t\r\n"), "YOUR-");
    for (i = 0; i < t->len; i++)
        if ((t->kind == YTREE_SEQUENCE || i % 2) && is_placeholder(&t->items[i]))
            return true;
    return false;
}

/* The value of db1 among the entries, which are a list of single-key mappings or one mapping; NULL: missing. */
static struct ytree *find_entry(const struct ytree *sql)
{
    size_t i;

    if (sql->kind == YTREE_MAPPING)
        return ytree_get(sql, "db1");
    for (i = 0; sql->kind == YTREE_SEQUENCE && i < sql->len; i++) {
        struct ytree *found = ytree_get(&sql->items[i], "db1");

        if (found)
            return found;
    }
    return NULL;
}

static int fill_entry(struct ytree *at, const struct sql_entry *entry, struct err *err)
{
    size_t i;

    ytree_make_mapping(at);
    for (i = 0; i < entry->len; i++) {
        struct ytree *field = ytree_add(at, entry->fields[i].key, err);

        if (!field || ytree_make_scalar(field, entry->fields[i].value, entry->fields[i].plain, err) < 0)
            return -1;
    }
    return 0;
}

static struct ytree *add_entry(struct ytree *sql, struct err *err)
{
    struct ytree *item;

    if (sql->kind == YTREE_MAPPING && sql->len)
        return ytree_add(sql, "db1", err);
    item = ytree_append(sql, err);
    return item ? ytree_add(item, "db1", err) : NULL;
}

/* The child as a mapping or, when list, as a list; NULL when it is something else, or out of memory (*ret_failed). */
static struct ytree *enter(struct ytree *mapping, const char *key, bool list, bool *ret_failed, struct err *err)
{
    struct ytree *child = ytree_add(mapping, key, err);

    if (!child) {
        *ret_failed = true;
        return NULL;
    }
    if (ytree_is_null(child))
        ytree_make_mapping(child);
    return child->kind == YTREE_MAPPING || (list && child->kind == YTREE_SEQUENCE) ? child : NULL;
}

/* 1 replaced, 0 left as it is, -1 out of memory. */
static int replace(struct ytree *root, const struct sql_entry *entry, struct err *err)
{
    struct ytree *db, *sql, *found;
    bool failed = false;

    if (root->kind != YTREE_MAPPING)
        return 0;
    db = enter(root, "db", false, &failed, err);
    sql = db ? enter(db, "sql", true, &failed, err) : NULL;
    if (!sql)
        return failed ? -1 : 0;
    found = find_entry(sql);
    if (found && !ytree_is_null(found) && !(found->kind != YTREE_SCALAR && !found->len) && !is_placeholder(found))
        return 0;
    if (!found && !(found = add_entry(sql, err)))
        return -1;
    return fill_entry(found, entry, err) < 0 ? -1 : 1;
}

int config_db1_tree(struct ytree *root, const struct sql_entry *entry, struct err *err)
{
    return replace(root, entry, err) < 0 ? -1 : 0;
}

/* ---- in a text -------------------------------------------------------------------------------------------------- */

/* Adds the fields as lines of that indentation. */
static int add_fields(struct buf *out, size_t indent, const struct sql_entry *entry, struct err *err)
{
    struct ytree fields = { .kind = YTREE_MAPPING };
    auto_free char *text = NULL;
    const char *s;
    int result = fill_entry(&fields, entry, err);

    if (result == 0)
        result = ytree_write(&fields, &text, err);
    ytree_release(&fields);
    if (result < 0)
        return -1;
    for (s = text; *s; s += strcspn(s, "\n") + 1) {
        buf_add_repeat(out, ' ', indent);
        buf_add(out, s, strcspn(s, "\n") + 1);
    }
    return 0;
}

static bool opens_db1(const struct config_line *l)
{
    const char *s = l->start + l->indent;

    if (!config_line_opens(l))
        return false;
    s += 1 + strspn(s + 1, " \t");
    return strncmp(s, "db1:", 4) == 0;
}

/* The text with the block behind an opening line replaced; block is where that begins. */
static int edited(const char *text, const char *block, size_t indent, const struct sql_entry *entry, struct buf *out,
                  struct err *err)
{
    size_t inner = indent + 4;
    const char *end = block, *next = block;
    struct config_line l;

    while (*next) {
        next = config_line_read(next, &l);
        if (!l.blank && l.indent <= indent)
            break;
        if (!l.blank && end == block)
            inner = l.indent;
        if (!l.blank)
            end = next;
    }
    buf_add(out, text, (size_t)(block - text));
    if (block > text && block[-1] != '\n')
        buf_add_char(out, '\n');
    if (add_fields(out, inner, entry, err) < 0)
        return -1;
    buf_add_str(out, end);
    return buf_failed(out) ? err_nomem(err) : 0;
}

/* 1 and out when an edit of one list item gives exactly the wanted tree, 0 when none does, -1 out of memory. */
static int edit_in_place(const char *text, const struct ytree *wanted, const struct sql_entry *entry, struct buf *out,
                         struct err *err)
{
    unsigned tries = 0;
    const char *next = text;

    while (*next && tries < CANDIDATES_MAX) {
        struct ytree got = { 0 };
        struct config_line l;
        struct err why = { 0 };
        bool same;

        next = config_line_read(next, &l);
        if (!opens_db1(&l))
            continue;
        tries++;
        buf_clear(out);
        if (edited(text, next, l.indent, entry, out, err) < 0)
            return -1;
        if (ytree_parse(out->data, out->len, &got, &why) < 0) {
            if (why.kind != ERR_BAD_REQUEST)
                return err_nomem(err);
            continue;
        }
        same = ytree_equal(&got, wanted);
        ytree_release(&got);
        if (same)
            return 1;
    }
    return 0;
}

static int write_replaced(const char *text, const struct ytree *wanted, const struct sql_entry *entry, char **ret,
                          struct err *err)
{
    auto_buf struct buf out;
    char *stolen;
    int done;

    buf_init(&out, SIZE_MAX / 2);
    done = edit_in_place(text, wanted, entry, &out, err);
    if (done < 0)
        return -1;
    if (!done)
        return ytree_write(wanted, ret, err);
    stolen = buf_steal(&out, NULL);
    if (!stolen)
        return err_nomem(err);
    *ret = stolen;
    return 0;
}

static int keep(const char *text, char **ret, struct err *err)
{
    char *copy = mem_strdup(text);

    if (!copy)
        return err_nomem(err);
    *ret = copy;
    return 0;
}

int config_yaml_set_db1(const char *text, const struct sql_entry *entry, char **ret, struct err *err)
{
    struct ytree root = { 0 };
    struct err why = { 0 };
    int result;

    if (ytree_parse(text, strlen(text), &root, &why) < 0)
        return why.kind == ERR_BAD_REQUEST ? keep(text, ret, err) : err_nomem(err);
    result = replace(&root, entry, err);
    if (result >= 0)
        result = result ? write_replaced(text, &root, entry, ret, err) : keep(text, ret, err);
    ytree_release(&root);
    return result;
}
