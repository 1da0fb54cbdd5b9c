/* The settings file: one YAML mapping. libyaml is used here and nowhere else in this folder. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/config/table.h"

#define FILE_MAX (1u << 20)
#define NESTING_MAX 8
#define FAULTS_MAX 20 /* aliases could repeat one without end */

struct reader {
    struct config *c;
    const char *path;
    yaml_document_t doc;
    bool *seen; /* per row of the table */
    const struct config_faults *faults;
    unsigned told;
    struct err *err;
};

static int refuse(const struct reader *r, const yaml_node_t *at, const char *what, const char *name)
{
    return err_set(r->err, ERR_BAD_REQUEST, 0, "%s, line %zu: %s \"%.80s\"", r->path, at->start_mark.line + 1, what,
                   name);
}

static const char *scalar(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;

    if (node->type != YAML_SCALAR_NODE || strlen(text) != node->data.scalar.length)
        return NULL;
    return text;
}

/* A plain null says "not set", like an empty variable. */
static const char *without_null(const yaml_node_t *node, const char *text)
{
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return text;
    return strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ? "" : text;
}

static int join_entries(struct reader *r, const yaml_node_t *list, const char *name, struct buf *out)
{
    const yaml_node_item_t *i;

    for (i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
        const yaml_node_t *entry = yaml_document_get_node(&r->doc, *i);
        const char *text = entry ? scalar(entry) : NULL;

        if (!text || strchr(text, ','))
            return refuse(r, list, "an entry is no text in the list of", name);
        buf_add_fmt(out, "%s%s", out->len ? "," : "", text);
    }
    return 0;
}

static int read_setting(struct reader *r, const struct config_row *row, const yaml_node_t *node, const char *name)
{
    auto_buf struct buf joined;
    const char *text = node->type == YAML_SCALAR_NODE ? scalar(node) : NULL;
    int done;

    buf_init(&joined, FILE_MAX);
    if (r->seen[config_row_place(row)])
        return refuse(r, node, "a second value for", name);
    r->seen[config_row_place(row)] = true;
    if (node->type == YAML_SEQUENCE_NODE && config_row_is_list(row)) {
        if (join_entries(r, node, name, &joined) < 0)
            return -1;
        if (buf_failed(&joined) || buf_add_str(&joined, "") < 0)
            return err_nomem(r->err);
        text = joined.data;
    }
    if (!text)
        return refuse(r, node, "no simple value for", name);
    if (node->type == YAML_SCALAR_NODE)
        text = without_null(node, text);
    done = config_row_set(r->c, row, text, r->err);
    if (done == 0)
        config_row_came_from(r->c, row, text, CONFIG_FROM_FILE);
    return done < 0 ? err_wrap(r->err, "%s, line %zu", r->path, node->start_mark.line + 1) : 0;
}

static int read_mapping(struct reader *r, const yaml_node_t *map, const char *prefix, int depth);

static int read_pair(struct reader *r, const yaml_node_t *map, const yaml_node_pair_t *p, const char *prefix, int depth)
{
    const yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);
    const yaml_node_t *value = yaml_document_get_node(&r->doc, p->value);
    const char *word = key ? scalar(key) : NULL;
    const struct config_row *row;
    char name[CONFIG_NAME_MAX];

    if (!word || !value)
        return refuse(r, map, "a name is no text below", prefix);
    if (snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "_" : "", word) >= (int)sizeof(name))
        return refuse(r, key, "unknown setting", word);
    row = config_row_find(name);
    if (row)
        return read_setting(r, row, value, name);
    /* An empty mapping is refused too: aliases could repeat it without end. */
    if (value->type == YAML_MAPPING_NODE && depth < NESTING_MAX &&
        value->data.mapping.pairs.start < value->data.mapping.pairs.top)
        return read_mapping(r, value, name, depth + 1);
    return refuse(r, key, "unknown setting", name);
}

static int read_mapping(struct reader *r, const yaml_node_t *map, const char *prefix, int depth)
{
    const yaml_node_pair_t *p;

    for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
        if (read_pair(r, map, p, prefix, depth) < 0 &&
            (++r->told > FAULTS_MAX || config_go_on(r->faults, -1, r->err) < 0))
            return -1;
    return 0;
}

/* An empty file, or one of comments only, sets nothing. */
static int read_document(struct reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->doc);

    if (!root || (root->type == YAML_SCALAR_NODE && !root->data.scalar.length))
        return 0;
    if (root->type != YAML_MAPPING_NODE)
        return refuse(r, root, "settings are expected as", "name: value");
    return read_mapping(r, root, "", 0);
}

static int yaml_error(const yaml_parser_t *parser, const char *path, struct err *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return err_nomem(err);
    return err_set(err, ERR_BAD_REQUEST, 0, "%s, line %zu: %s", path, parser->problem_mark.line + 1,
                   parser->problem ? parser->problem : "no valid YAML");
}

/* True when nothing follows the first document. */
static bool at_end(yaml_parser_t *parser)
{
    yaml_document_t next;
    bool last;

    if (!yaml_parser_load(parser, &next))
        return false;
    last = !yaml_document_get_root_node(&next);
    yaml_document_delete(&next);
    return last;
}

int config_parse_yaml(struct config *c, const char *text, size_t len, const char *path,
                      const struct config_faults *faults, struct err *err)
{
    struct reader r = { .c = c, .path = path, .faults = faults, .err = err };
    auto_free bool *seen = NULL;
    yaml_parser_t parser;
    size_t rows = 0;
    int done = -1;

    while (config_row_at(rows))
        rows++;
    seen = mem_zalloc(rows, sizeof(*seen));
    if (!seen || !yaml_parser_initialize(&parser))
        return err_nomem(err);
    r.seen = seen;
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text ? text : ""), len);
    if (!yaml_parser_load(&parser, &r.doc)) {
        yaml_error(&parser, path, err);
    } else {
        done = read_document(&r);
        if (done == 0 && yaml_document_get_root_node(&r.doc) && !at_end(&parser))
            done = err_set(err, ERR_BAD_REQUEST, 0, "%s: more than one document", path);
        yaml_document_delete(&r.doc);
    }
    yaml_parser_delete(&parser);
    return done;
}

int config_read_yaml(struct config *c, const char *path, const struct config_faults *faults, struct err *err)
{
    struct buf text;
    int done;

    buf_init(&text, FILE_MAX);
    done = io_read_file(path, &text, err);
    if (done == 0)
        done = config_parse_yaml(c, text.data, text.len, path, faults, err);
    mem_wipe(text.data, text.cap);
    buf_release(&text);
    return done;
}
