#include "shared/diagram/read.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define COMPOSING_COST 8 /* bytes that one takes the time of, when it is no ASCII and a name */

int reader_nomem(struct reader *r)
{
    return err_nomem(r->err);
}

int reader_charge(struct reader *r, size_t bytes)
{
    if (bytes <= READER_MODEL_MAX - r->used) {
        r->used += bytes;
        return 0;
    }
    return finding_add(r->f, FINDING_ERROR, 0, "model",
                       "The agent is too large: its texts, counted at every place that uses them, exceed %u MiB",
                       READER_MODEL_MAX >> 20);
}

int reader_charge_name(struct reader *r, const char *name)
{
    const char *s;

    for (s = name; *s && (unsigned char)*s < 0x80; s++)
        ;
    return reader_charge(r, (size_t)(s - name) + strlen(s) * COMPOSING_COST);
}

/* ---- names (2.3)
 * ---------------------------------------------------------------------------------------------- */

static int check_name(struct reader *r, const char *where, const char *kind, const char *id, const char *name)
{
    struct {
        char character;
        const char *say;
    } forbidden[] = {
        { ' ', "spaces" },
        { '-', "hyphens (-); use _ instead" },
    };
    size_t i;

    if (text_is_blank(name)) {
        if (id)
            return finding_add(r->f, FINDING_ERROR, 1, where, "%s with id \"%s\": the name is missing or blank", kind,
                               SHOWN(id));
        return finding_add(r->f, FINDING_ERROR, 1, where, "%s: the name is missing or blank", kind);
    }
    for (i = 0; i < ARRAY_LEN(forbidden); i++)
        if (strchr(name, forbidden[i].character))
            return finding_add(r->f, FINDING_ERROR, 1, where, "%s \"%s\": a name must not contain %s", kind,
                               SHOWN(name), forbidden[i].say);
    return 0;
}

int reader_check_name(struct reader *r, const struct element *e, const char *kind, const char *name)
{
    return check_name(r, ELEMENT_PATH(e, "name"), kind, e->id, name);
}

static int read_title(struct reader *r, const cJSON *request)
{
    const cJSON *title = json_get(request, "title");
    char *c;

    if (title && !cJSON_IsString(title))
        return finding_add(r->f, FINDING_ERROR, 0, "title", "title must be a text");
    r->m->name = mem_strdup(title ? title->valuestring : "Generated_Agent");
    if (!r->m->name)
        return reader_nomem(r);
    for (c = r->m->name; *c; c++)
        if (*c == ' ')
            *c = '_';
    return reader_charge_name(r, r->m->name) < 0 ? -1 : check_name(r, "title", "Agent", NULL, r->m->name);
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------
 */

static int choose_default_llm(struct reader *r)
{
    const char *name = r->m->settings.default_llm_name;
    size_t at = MAP_NONE;

    if (name && *name && map_find_name(&r->llms, name, &at) < 0)
        return reader_nomem(r);
    if (at == MAP_NONE && r->m->llms_len)
        at = 0;
    r->m->default_llm = at;
    return 0;
}

static int read_parts(struct reader *r, const cJSON *request)
{
    const cJSON *yaml = json_get(request, "configYaml");

    r->m->uses_custom_code = document_uses_custom_code(&r->doc);
    if (cJSON_IsString(yaml)) {
        r->m->config_yaml = mem_strdup(yaml->valuestring);
        if (!r->m->config_yaml)
            return reader_nomem(r);
    }
    if (read_title(r, request) < 0 || read_settings(r, request) < 0 || read_components(r) < 0 || read_states(r) < 0 ||
        read_transitions(r) < 0 || read_comments(r) < 0 || choose_default_llm(r) < 0)
        return -1;
    return model_resolve(r->m, r->err);
}

static struct map *const *reader_maps(struct reader *r, struct map *out[static 11])
{
    struct map *all[] = { &r->llms,   &r->tools,   &r->skills,         &r->workspaces,   &r->rags, &r->guis,
                          &r->states, &r->intents, &r->intents_folded, &r->intents_used, NULL };

    memcpy(out, all, sizeof(all));
    return out;
}

int reader_read(const cJSON *request, struct python_parser *parser, size_t *used, struct model *ret, struct findings *f,
                struct err *err)
{
    struct model m;
    struct reader r = { .m = &m, .parser = parser, .f = f, .err = err, .used = *used };
    struct map *out[11], *const *maps = reader_maps(&r, out);
    size_t before = f->len, i;
    int rc;

    model_init(&m);
    for (i = 0; maps[i]; i++)
        map_init(maps[i]);
    rc = document_read(request, &r.doc, f, err);
    if (rc == 0)
        rc = read_parts(&r, request);
    document_release(&r.doc);
    for (i = 0; maps[i]; i++)
        map_release(maps[i]);
    if (rc < 0) {
        model_release(&m);
        if (f->errors && f->len == before && f->truncated)
            err_nomem(err); /* there was a finding, and no memory to say it */
        return -1;
    }
    *used = r.used;
    *ret = m;
    return 0;
}

int diagram_read(const cJSON *request, struct python_parser *parser, struct model *ret, struct findings *f,
                 struct err *err)
{
    size_t used = 0;

    return reader_read(request, parser, &used, ret, f, err);
}
