#include "shared/diagram/document.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/read.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define WORD(s) \
    { \
        s, sizeof(s) - 1 \
    }

/* With their lengths: most elements are none of these, and the words begin alike. */
static const struct {
    const char *word;
    size_t len;
} types[ELEMENT__MAX] = {
    [ELEMENT_LLM] = WORD("AgentLLM"),
    [ELEMENT_TOOL] = WORD("AgentTool"),
    [ELEMENT_SKILL] = WORD("AgentSkill"),
    [ELEMENT_WORKSPACE] = WORD("AgentWorkspace"),
    [ELEMENT_INTENT] = WORD("AgentIntent"),
    [ELEMENT_GUI] = WORD("AgentGUI"),
    [ELEMENT_RAG] = WORD("AgentRagElement"),
    [ELEMENT_STATE] = WORD("AgentState"),
    [ELEMENT_REASONING_STATE] = WORD("AgentReasoningState"),
    [ELEMENT_INITIAL] = WORD("StateInitialNode"),
    [ELEMENT_COMMENT] = WORD("Comments"),
};

static enum element_type type_of(const cJSON *node)
{
    const cJSON *type = json_get(node, "type");
    size_t len = cJSON_IsString(type) ? strlen(type->valuestring) : 0, i;

    for (i = 1; i < ELEMENT__MAX; i++)
        if (types[i].len == len && memcmp(types[i].word, type->valuestring, len) == 0)
            return (enum element_type)i;
    return ELEMENT_OTHER;
}

/* ---- paths
 * ----------------------------------------------------------------------------------------------------
 */

static bool is_plain_key(const char *s)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || (s[n] >= '0' && s[n] <= '9') ||
           s[n] == '_' || s[n] == '-')
        n++;
    return n && !s[n] && n <= SHOWN_MAX;
}

static void add(struct path_text *out, size_t *len, const char *s)
{
    *len = str_append(out->text, sizeof(out->text), *len, s);
}

const char *document_path(struct path_text *out, const char *map, const char *id, const char *member)
{
    bool plain = is_plain_key(id);
    size_t len = 0;

    add(out, &len, map);
    add(out, &len, plain ? "." : "[\"");
    add(out, &len, plain ? id : SHOWN(id));
    add(out, &len, plain ? "" : "\"]");
    add(out, &len, member ? "." : "");
    add(out, &len, member ? member : "");
    return out->text;
}

const char *document_member(struct path_text *out, const char *where, const char *member)
{
    if (!where)
        return NULL;
    snprintf(out->text, sizeof(out->text), "%.350s.%s", where, member);
    return out->text;
}

/* ---- merging
 * --------------------------------------------------------------------------------------------------
 */

/* There is room, by make_room(). */
static int add_element(struct document *d, const cJSON *node, const char *map)
{
    struct element e = { .id = node->string, .node = node, .map = map, .type = type_of(node), .state = MAP_NONE };
    size_t at;
    int added = map_put(&d->ids, e.id, strlen(e.id), d->len, &at);

    if (added < 0)
        return -1;
    if (!added) {
        d->elements[at] = e; /* the later map wins, at the place the id had */
        return 0;
    }
    d->elements[d->len++] = e;
    return 0;
}

/* A map that may be missing, or something else that is empty. 0 and *ret (NULL: nothing in it), or -1 with a finding.
 */
static int map_at(const cJSON *parent, const char *key, const char *path, const cJSON **ret, struct findings *f)
{
    const cJSON *node = json_get(parent, key);

    *ret = NULL;
    if (value_is_empty(node))
        return 0;
    if (!cJSON_IsObject(node))
        return finding_add(f, FINDING_ERROR, 0, path, "%s must be an object", path);
    *ret = node;
    return 0;
}

/* The same for a map of elements or relationships, which are counted before any work is done for them. */
static int parts_at(const cJSON *parent, const char *key, const char *path, const cJSON **ret, size_t *count,
                    struct findings *f)
{
    size_t n = 0;
    const cJSON *c;

    if (map_at(parent, key, path, ret, f) < 0)
        return -1;
    for (c = *ret ? (*ret)->child : NULL; c; c = c->next)
        if (++n > DOCUMENT_PARTS_MAX)
            return finding_add(f, FINDING_ERROR, 0, path, "%s has more than %d members, as many are possible", path,
                               DOCUMENT_PARTS_MAX);
    *count += n;
    return 0;
}

static int merge(struct document *d, const cJSON *map, const char *path, struct findings *f, struct err *err)
{
    const cJSON *c;

    for (c = map ? map->child : NULL; c; c = c->next) {
        if (!cJSON_IsObject(c)) {
            struct path_text where;

            document_path(&where, path, c->string, NULL);
            return finding_add(f, FINDING_ERROR, 0, where.text, "Element \"%s\" must be an object (%s)",
                               SHOWN(c->string), where.text);
        }
        if (add_element(d, c, path) < 0)
            return err_nomem(err);
    }
    return 0;
}

static int check_ends(const cJSON *relationships, struct findings *f)
{
    static const char *const ends[] = { "source", "target" };
    const cJSON *c, *end;
    struct path_text where;
    size_t i;

    for (c = relationships ? relationships->child : NULL; c; c = c->next) {
        if (!cJSON_IsObject(c)) {
            document_path(&where, "model.relationships", c->string, NULL);
            return finding_add(f, FINDING_ERROR, 0, where.text, "Relationship \"%s\" must be an object (%s)",
                               SHOWN(c->string), where.text);
        }
        for (i = 0; i < ARRAY_LEN(ends); i++) {
            end = json_get(c, ends[i]);
            if (!end || cJSON_IsObject(end))
                continue;
            document_path(&where, "model.relationships", c->string, ends[i]);
            return finding_add(f, FINDING_ERROR, 0, where.text, "Relationship \"%s\": %s must be an object (%s)",
                               SHOWN(c->string), ends[i], where.text);
        }
    }
    return 0;
}

struct maps {
    const cJSON *model, *config, *elements, *agent_components, *components, *relationships;
    size_t elements_len, relationships_len; /* of all three maps of elements */
};

static int find_maps(const cJSON *request, struct maps *m, struct findings *f)
{
    if (!cJSON_IsObject(request))
        return finding_add(f, FINDING_ERROR, 0, "", "The request must be an object");
    if (map_at(request, "model", "model", &m->model, f) < 0 || map_at(request, "config", "config", &m->config, f) < 0 ||
        parts_at(m->model, "elements", "model.elements", &m->elements, &m->elements_len, f) < 0 ||
        parts_at(request, "agentComponents", "agentComponents", &m->agent_components, &m->elements_len, f) < 0 ||
        parts_at(m->model, "components", "model.components", &m->components, &m->elements_len, f) < 0)
        return -1;
    return parts_at(m->model, "relationships", "model.relationships", &m->relationships, &m->relationships_len, f);
}

static int make_room(struct document *d, size_t n)
{
    map_init(&d->ids);
    d->elements = mem_zalloc(n, sizeof(*d->elements));
    return d->elements ? map_reserve(&d->ids, n) : -1;
}

static int merge_all(struct document *d, const struct maps *m, struct findings *f, struct err *err)
{
    if (make_room(d, m->elements_len) < 0)
        return err_nomem(err);
    if (merge(d, m->elements, "model.elements", f, err) < 0 ||
        merge(d, m->agent_components, "agentComponents", f, err) < 0 ||
        merge(d, m->components, "model.components", f, err) < 0)
        return -1;
    return check_ends(d->relationships, f);
}

int document_read(const cJSON *request, struct document *ret, struct findings *f, struct err *err)
{
    struct document d = { 0 };
    struct maps m = { 0 };

    if (find_maps(request, &m, f) < 0)
        return -1;
    d.model = m.model;
    d.config = m.config;
    d.relationships = m.relationships;
    if (merge_all(&d, &m, f, err) < 0) {
        document_release(&d);
        return -1;
    }
    *ret = d;
    return 0;
}

void document_release(struct document *d)
{
    size_t i;

    if (!d)
        return;
    for (i = 0; i < d->len; i++)
        mem_free(d->elements[i].code_function);
    mem_free(d->elements);
    map_release(&d->ids);
    *d = (struct document){ 0 };
}

struct element *document_find(const struct document *d, const cJSON *id)
{
    size_t at;

    if (!cJSON_IsString(id))
        return NULL;
    at = map_get(&d->ids, id->valuestring, strlen(id->valuestring));
    return at == MAP_NONE ? NULL : &d->elements[at];
}

struct element *document_end(const struct document *d, const cJSON *relationship, const char *end)
{
    return document_find(d, json_get(json_get(relationship, end), "element"));
}

/* ---- the restriction switch
 * ----------------------------------------------------------------------------------- */

static bool says(const cJSON *node, const char *key, const char *word)
{
    const cJSON *v = json_get(node, key);

    return cJSON_IsString(v) && strcmp(v->valuestring, word) == 0;
}

static bool is_custom_code(const cJSON *node)
{
    return says(node, "actionType", "CustomCodeAction") || says(node, "replyType", "code");
}

static bool map_has_custom_code(const cJSON *map)
{
    const cJSON *c;

    for (c = cJSON_IsObject(map) ? map->child : NULL; c; c = c->next)
        if (is_custom_code(c))
            return true;
    return false;
}

bool document_uses_custom_code(const struct document *d)
{
    size_t i;

    for (i = 0; i < d->len; i++)
        if (is_custom_code(d->elements[i].node))
            return true;
    return false;
}

bool diagram_uses_custom_code(const cJSON *request)
{
    const cJSON *model = json_get(request, "model");
    struct findings f;
    struct document d;
    bool uses = map_has_custom_code(json_get(model, "elements")) ||
                map_has_custom_code(json_get(model, "components")) ||
                map_has_custom_code(json_get(request, "agentComponents"));

    if (!uses)
        return false;
    findings_init(&f);
    if (document_read(request, &d, &f, NULL) == 0) { /* some may be hidden by other elements of their ids */
        uses = document_uses_custom_code(&d);
        document_release(&d);
    } /* else misshapen (refused later anyway) or short of memory: any counts */
    findings_release(&f);
    return uses;
}
