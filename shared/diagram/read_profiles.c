/* Profiles of a download (6.6): a conversation of its own for every kind of user. */
#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/read.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define MAPPING "config.personalizationMapping"

struct mapping {
    const cJSON *request;
    struct reader r; /* without a document: for what the readers of settings need */
    struct map names, slugs;
};

/* Path of entry i, or of a member. */
struct entry_path {
    char text[120];
};
#define ENTRY_PATH(i, member) entry_path(&(struct entry_path){ .text = "" }, (i), (member))

static const char *entry_path(struct entry_path *out, size_t i, const char *member)
{
    snprintf(out->text, sizeof(out->text), MAPPING "[%zu]%s%s", i, member ? "." : "", member ? member : "");
    return out->text;
}

void profile_findings(struct findings *f, struct findings *part, const char *name, size_t i)
{
    char title[SHOWN_MAX + 160];

    snprintf(title, sizeof(title), "Profile \"%s\" (%s)", SHOWN(name), ENTRY_PATH(i, "agent_model"));
    findings_adopt(f, part, title, ENTRY_PATH(i, "agent_model"), NULL);
}

/* ---- the members of an entry
 * ------------------------------------------------------------------------------------------------- */

static int read_name(struct mapping *m, const cJSON *entry, size_t i, struct profile *p)
{
    const cJSON *name = json_get(entry, "name");
    char made[40];
    int added;

    if (name && !cJSON_IsNull(name) && !cJSON_IsString(name))
        return finding_add(m->r.f, FINDING_ERROR, 0, ENTRY_PATH(i, "name"), "%s must be a text", ENTRY_PATH(i, "name"));
    snprintf(made, sizeof(made), "variant_%zu", i + 1);
    p->name = mem_strdup(cJSON_IsString(name) && *name->valuestring ? name->valuestring : made);
    if (!p->name || reader_charge(&m->r, strlen(p->name)) < 0)
        return p->name ? -1 : reader_nomem(&m->r);
    added = map_put(&m->names, p->name, strlen(p->name), i, NULL);
    if (added == 0)
        finding_add(m->r.f, FINDING_WARNING, 0, ENTRY_PATH(i, "name"),
                    "Two profiles are named \"%s\"; the program can only tell the first", SHOWN(p->name));
    return added < 0 ? reader_nomem(&m->r) : 0;
}

/* Names of states are made with it, so it is short and no other profile has it. */
static int make_slug(struct mapping *m, struct profile *p)
{
    size_t len = strlen(p->name), n = 2, i;
    auto_buf struct buf slug;
    int added;

    buf_init(&slug, 2 * PROFILE_SLUG_MAX);
    if (len > PROFILE_SLUG_MAX)
        len = utf8_floor(p->name, PROFILE_SLUG_MAX);
    buf_add(&slug, p->name, len);
    for (i = 0; i < slug.len; i++)
        if (slug.data[i] == ' ' || slug.data[i] == '-')
            slug.data[i] = '_';
    while (!buf_failed(&slug) && (added = map_put(&m->slugs, slug.data, slug.len, 0, NULL)) <= 0) {
        if (added < 0)
            return reader_nomem(&m->r);
        slug.len = len;
        buf_add_fmt(&slug, "_%zu", n++);
    }
    p->slug = buf_steal(&slug, NULL);
    return p->slug ? 0 : reader_nomem(&m->r);
}

/* An object that reaches the program or its files. */
static int check_object(struct mapping *m, const cJSON *v, size_t i, const char *member)
{
    const char *key = member, *path = ENTRY_PATH(i, member);

    if (!cJSON_IsObject(v))
        return finding_add(m->r.f, FINDING_ERROR, 0, path, "%s must be an object", path);
    if (!value_is_finite(v, &key))
        return finding_add(m->r.f, FINDING_ERROR, 0, path, "%s: \"%s\" has a number that is not finite", path,
                           SHOWN(key));
    if (!value_fits_depth(v, VALUE_DEPTH_MAX - 1))
        return finding_add(m->r.f, FINDING_ERROR, 0, path, "%s is nested too deeply", path);
    return 0;
}

/* ---- its agent
 * ------------------------------------------------------------------------------------------------- */

/* The request as if the profile's model were drawn in it. Members are borrowed; cJSON_Delete(). NULL: no memory. */
static cJSON *request_of(const struct mapping *m, cJSON *agent_model)
{
    cJSON *made = cJSON_CreateObject(), *config = cJSON_CreateObject(), *c;
    cJSON *title = cJSON_GetObjectItemCaseSensitive(m->request, "title");
    const cJSON *given = json_get(m->request, "config");
    bool good = made && config;

    for (c = given ? given->child : NULL; c && good; c = c->next)
        if (strcmp(c->string, "personalizationMapping") != 0)
            good = cJSON_AddItemReferenceToObject(config, c->string, c);
    good = good && (!title || cJSON_AddItemReferenceToObject(made, "title", title)) &&
           cJSON_AddItemReferenceToObject(made, "model", agent_model);
    if (good && cJSON_AddItemToObject(made, "config", config))
        return made;
    cJSON_Delete(config);
    cJSON_Delete(made);
    return NULL;
}

static int read_agent(struct mapping *m, cJSON *agent_model, size_t i, struct profile *p)
{
    struct findings part;
    cJSON *request;
    int rc;

    if (!agent_model || cJSON_IsNull(agent_model))
        return 0;
    if (!cJSON_IsObject(agent_model))
        return finding_add(m->r.f, FINDING_ERROR, 0, ENTRY_PATH(i, "agent_model"), "%s must be an object",
                           ENTRY_PATH(i, "agent_model"));
    p->agent = mem_zalloc(1, sizeof(*p->agent));
    request = request_of(m, agent_model);
    if (!p->agent || !request) {
        cJSON_Delete(request);
        return reader_nomem(&m->r);
    }
    model_init(p->agent);
    findings_init(&part);
    rc = reader_read(request, m->r.parser, &m->r.used, p->agent, &part, m->r.err);
    cJSON_Delete(request);
    profile_findings(m->r.f, &part, p->name, i);
    return rc;
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------- */

static int read_entry(struct mapping *m, const cJSON *entry, size_t i)
{
    const cJSON *configuration, *user_profile;
    struct profile *p;

    if (i >= PROFILES_MAX)
        return finding_add(m->r.f, FINDING_ERROR, 0, MAPPING, MAPPING " has more than %d entries", PROFILES_MAX);
    if (!cJSON_IsObject(entry))
        return finding_add(m->r.f, FINDING_ERROR, 0, ENTRY_PATH(i, NULL), "%s must be an object", ENTRY_PATH(i, NULL));
    user_profile = json_get(entry, "user_profile");
    configuration = json_get(entry, "configuration");
    if (!user_profile || cJSON_IsNull(user_profile))
        return finding_add(m->r.f, FINDING_ERROR, 0, ENTRY_PATH(i, "user_profile"), "%s has no user_profile",
                           ENTRY_PATH(i, NULL));
    if (check_object(m, user_profile, i, "user_profile") < 0)
        return -1;
    if (configuration && !cJSON_IsNull(configuration) && check_object(m, configuration, i, "configuration") < 0)
        return -1;
    p = model_add_profile(m->r.m);
    if (!p)
        return reader_nomem(&m->r);
    read_profile_settings(configuration, p);
    if (read_name(m, entry, i, p) < 0 || make_slug(m, p) < 0)
        return -1;
    return read_agent(m, cJSON_GetObjectItemCaseSensitive(entry, "agent_model"), i, p);
}

static int read_mapping(struct mapping *m)
{
    const cJSON *mapping = json_get(json_get(m->request, "config"), "personalizationMapping"), *c;
    size_t i = 0;

    if (value_is_empty(mapping))
        return 0;
    if (!cJSON_IsArray(mapping))
        return finding_add(m->r.f, FINDING_ERROR, 0, MAPPING, MAPPING " must be an array");
    for (c = mapping->child; c; c = c->next)
        if (read_entry(m, c, i++) < 0)
            return -1;
    return 0;
}

int diagram_read_profiles(const cJSON *request, struct python_parser *parser, struct model *m, struct findings *f,
                          struct err *err)
{
    struct mapping mapping = { .request = request, .r = { .m = m, .parser = parser, .f = f, .err = err } };
    int rc;

    map_init(&mapping.names);
    map_init(&mapping.slugs);
    rc = read_mapping(&mapping);
    map_release(&mapping.names);
    map_release(&mapping.slugs);
    return rc;
}
