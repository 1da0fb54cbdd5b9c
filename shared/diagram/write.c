/* The document, and how nodes of it are made. */
#include "shared/diagram/write.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/writer.h"
#include "shared/json/json.h"

/* ---- ids ----------------------------------------------------------------------------------------------------------
 */

/* Every part of what is hashed ends with a NUL: no two lists of parts are the same bytes. */
static bool digest(const struct diagram_writer *w, const char *kind, const char *path, size_t number,
                   unsigned char out[EVP_MAX_MD_SIZE])
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    const char *agent = w->m->name ? w->m->name : "";
    bool done = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL) && EVP_DigestUpdate(c, agent, strlen(agent) + 1) &&
                EVP_DigestUpdate(c, kind, strlen(kind) + 1) && EVP_DigestUpdate(c, path, strlen(path) + 1) &&
                EVP_DigestUpdate(c, &number, sizeof(number)) && EVP_DigestFinal_ex(c, out, NULL);

    EVP_MD_CTX_free(c);
    return done;
}

void diagram_id(struct diagram_writer *w, const char *kind, const char *path, size_t number, char ret[DIAGRAM_ID_SIZE])
{
    unsigned char h[EVP_MAX_MD_SIZE] = { 0 };
    bool done = digest(w, kind, path ? path : "", number, h);

    w->failed |= !done; /* the library had no memory: equal ids would make another diagram */
    h[6] = (unsigned char)((h[6] & 0x0f) | 0x40);
    h[8] = (unsigned char)((h[8] & 0x3f) | 0x80);
    snprintf(ret, DIAGRAM_ID_SIZE, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", h[0], h[1],
             h[2], h[3], h[4], h[5], h[6], h[7], h[8], h[9], h[10], h[11], h[12], h[13], h[14], h[15]);
}

/* ---- nodes --------------------------------------------------------------------------------------------------------
 */

static cJSON *keep(struct diagram_writer *w, cJSON *node)
{
    if (!node)
        w->failed = true;
    return node;
}

cJSON *diagram_add_object(struct diagram_writer *w, cJSON *parent, const char *key)
{
    return keep(w, cJSON_AddObjectToObject(parent, key));
}

cJSON *diagram_add_array(struct diagram_writer *w, cJSON *parent, const char *key)
{
    return keep(w, cJSON_AddArrayToObject(parent, key));
}

void diagram_add_text(struct diagram_writer *w, cJSON *to, const char *key, const char *text)
{
    keep(w, text ? cJSON_AddStringToObject(to, key, text) : cJSON_AddNullToObject(to, key));
}

void diagram_add_word(struct diagram_writer *w, cJSON *to, const char *key, const char *text)
{
    diagram_add_text(w, to, key, text ? text : "");
}

void diagram_add_bool(struct diagram_writer *w, cJSON *to, const char *key, bool v)
{
    keep(w, cJSON_AddBoolToObject(to, key, v));
}

void diagram_add_number(struct diagram_writer *w, cJSON *to, const char *key, double v)
{
    keep(w, cJSON_AddNumberToObject(to, key, v));
}

/* By way of text, which keeps 1.0 apart from 1, and integers beyond a double's. */
void diagram_add_value(struct diagram_writer *w, cJSON *to, const char *key, const struct value *v)
{
    struct json_error e;
    auto_buf struct buf text;
    cJSON *node = NULL;

    buf_init(&text, SIZE_MAX / 2);
    if (value_write(v, 0, &text) == 0)
        node = json_parse(text.data, text.len, &e);
    if (!keep(w, node))
        return;
    if (!cJSON_AddItemToObject(to, key, node)) {
        cJSON_Delete(node);
        w->failed = true;
    }
}

void diagram_add_int(struct diagram_writer *w, cJSON *to, const char *key, int64_t v)
{
    diagram_add_value(w, to, key, &(struct value){ .kind = VALUE_INT, .integer = v });
}

void diagram_add_item(struct diagram_writer *w, cJSON *array, const char *text)
{
    cJSON *item = keep(w, cJSON_CreateString(text));

    if (item && !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        w->failed = true;
    }
}

void diagram_add_bounds(struct diagram_writer *w, cJSON *to, const struct box *b)
{
    cJSON *bounds = diagram_add_object(w, to, "bounds");

    diagram_add_number(w, bounds, "x", b->x);
    diagram_add_number(w, bounds, "y", b->y);
    diagram_add_number(w, bounds, "width", b->width);
    diagram_add_number(w, bounds, "height", b->height);
}

cJSON *diagram_add_element(struct diagram_writer *w, cJSON *to, const char *id, const char *type, const char *name,
                           const char *owner)
{
    cJSON *e = diagram_add_object(w, to, id);

    diagram_add_text(w, e, "id", id);
    diagram_add_word(w, e, "name", name);
    diagram_add_text(w, e, "type", type);
    diagram_add_text(w, e, "owner", owner);
    return e;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static void write_head(struct diagram_writer *w, cJSON *top)
{
    cJSON *node;

    diagram_add_text(w, top, "version", "3.0.0");
    diagram_add_text(w, top, "type", "AgentDiagram");
    node = diagram_add_object(w, top, "size");
    diagram_add_number(w, node, "width", 1980);
    diagram_add_number(w, node, "height", 640);
    node = diagram_add_object(w, top, "interactive");
    diagram_add_object(w, node, "elements");
    diagram_add_object(w, node, "relationships");
    w->elements = diagram_add_object(w, top, "elements");
    w->components = diagram_add_object(w, top, "components");
    w->relationships = diagram_add_object(w, top, "relationships");
    diagram_add_object(w, top, "assessments");
    if (w->m->default_llm < w->m->llms_len) {
        node = diagram_add_object(w, top, "config");
        diagram_add_text(w, node, "default_llm_name", w->m->llms[w->m->default_llm].name);
    }
}

int diagram_write(const struct model *m, cJSON **ret, struct err *err)
{
    struct diagram_writer w = { .m = m };
    cJSON *top = cJSON_CreateObject();

    w.boxes = mem_zalloc(m->states_len + 1, sizeof(*w.boxes));
    w.failed = !top || !w.boxes || diagram_place(m, w.boxes, &w.start) < 0;
    if (!w.failed) {
        write_head(&w, top);
        diagram_write_states(&w);
        diagram_write_components(&w);
        diagram_write_transitions(&w);
    }
    mem_free(w.boxes);
    if (w.failed) {
        cJSON_Delete(top);
        return err_nomem(err);
    }
    *ret = top;
    return 0;
}
