/* A tree as the text of a document. */
#include <string.h>
#include <yaml.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/generate/yaml_tree.h"

static int write_bytes(void *data, unsigned char *bytes, size_t size)
{
    return buf_add(data, bytes, size) == 0;
}

static int write_scalar(yaml_emitter_t *out, const struct ytree *t)
{
    /* An empty plain scalar as key or item would be quoted, and nothing would become a text. */
    const char *text = t->plain && !*t->text ? "null" : t->text;
    yaml_event_t e;

    return yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
                                        t->plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE) &&
           yaml_emitter_emit(out, &e);
}

static int write_node(yaml_emitter_t *out, const struct ytree *t)
{
    yaml_event_t e;
    size_t i;

    if (t->kind == YTREE_SCALAR)
        return write_scalar(out, t);
    if (!(t->kind == YTREE_MAPPING
              ? yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
              : yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE)) ||
        !yaml_emitter_emit(out, &e))
        return 0;
    for (i = 0; i < t->len; i++)
        if (!write_node(out, &t->items[i]))
            return 0;
    return (t->kind == YTREE_MAPPING ? yaml_mapping_end_event_initialize(&e)
                                     : yaml_sequence_end_event_initialize(&e)) &&
           yaml_emitter_emit(out, &e);
}

static int write_document(yaml_emitter_t *out, const struct ytree *t)
{
    yaml_event_t e;

    return yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING) && yaml_emitter_emit(out, &e) &&
           yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1) && yaml_emitter_emit(out, &e) &&
           write_node(out, t) && yaml_document_end_event_initialize(&e, 1) && yaml_emitter_emit(out, &e) &&
           yaml_stream_end_event_initialize(&e) && yaml_emitter_emit(out, &e);
}

int ytree_write(const struct ytree *t, char **ret, struct err *err)
{
    yaml_emitter_t out;
    auto_buf struct buf text;
    char *stolen;
    int done;

    buf_init(&text, 16u * YTREE_BYTES_MAX);
    if (!yaml_emitter_initialize(&out))
        return err_nomem(err);
    yaml_emitter_set_output(&out, write_bytes, &text);
    yaml_emitter_set_unicode(&out, 1);
    yaml_emitter_set_width(&out, -1);
    done = write_document(&out, t);
    yaml_emitter_delete(&out);
    stolen = done ? buf_steal(&text, NULL) : NULL;
    if (!stolen)
        return err_nomem(err);
    *ret = stolen;
    return 0;
}
