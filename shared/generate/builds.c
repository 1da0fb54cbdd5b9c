#include "shared/generate/builds.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/map.h"
#include "shared/diagram/read.h"
#include "shared/diagram/text.h"
#include "shared/generate/stems.h"
#include "shared/json/json.h"

#define TARGETS "config.languages.target"
#define BASE_FOLDER "default" /* of a download by languages */
#define PLACE_MAX 100         /* bytes of a path in config, with an index */

struct builds {
    const cJSON *request, *config;
    struct python_parser *parser;
    const struct generate_options *options;
    struct compiled *all;
    struct stems folders; /* taken in the root */
    size_t count, bytes;
    struct err *err;
};

/* One build. Paths: where its model and config stand in the request, NULL as always. */
struct build {
    const char *folder; /* NULL: the root */
    const char *title;  /* in front of findings, NULL for none */
    const char *model_path, *config_path;
};

/* ---- requests of the builds; members are borrowed from the request
 * ------------------------------------------------------------------------------------------------- */

/* The members of an object (NULL: none) but one. NULL: no memory. */
static cJSON *object_without(const cJSON *object, const char *key)
{
    cJSON *made = cJSON_CreateObject(), *c;
    bool good = made;

    for (c = object ? object->child : NULL; c && good; c = c->next)
        if (strcmp(c->string, key) != 0)
            good = cJSON_AddItemReferenceToObject(made, c->string, c);
    if (good)
        return made;
    cJSON_Delete(made);
    return NULL;
}

/* Settings that a model is read by. A build has the request's when its own config says nothing of them. */
static bool add_reading_settings(const struct builds *b, cJSON *config)
{
    static const char *const keys[] = { "language", "source_language", "default_llm_name" };
    cJSON *setting;
    size_t i;

    for (i = 0; i < ARRAY_LEN(keys); i++) {
        setting = cJSON_GetObjectItemCaseSensitive(b->config, keys[i]);
        if (setting && !json_get(config, keys[i]) && !cJSON_AddItemReferenceToObject(config, keys[i], setting))
            return false;
    }
    return true;
}

/* Config of one entry of a list; given may be NULL. NULL: no memory. */
static cJSON *entry_config(const struct builds *b, const cJSON *given)
{
    cJSON *config = object_without(cJSON_IsObject(given) ? given : NULL, "configurations");

    if (config && add_reading_settings(b, config))
        return config;
    cJSON_Delete(config);
    return NULL;
}

/* The request with another model (NULL: its own) and config. Takes config; NULL is no memory, as the result is. */
static cJSON *request_with(const struct builds *b, cJSON *model, cJSON *config)
{
    cJSON *made = config ? cJSON_CreateObject() : NULL, *c;
    bool good = made;

    for (c = b->request->child; c && good; c = c->next)
        if (strcmp(c->string, "config") != 0 && !(model && strcmp(c->string, "model") == 0))
            good = cJSON_AddItemReferenceToObject(made, c->string, c);
    if (good && model)
        good = cJSON_AddItemReferenceToObject(made, "model", model);
    if (good && cJSON_AddItemToObject(made, "config", config))
        return made;
    cJSON_Delete(config);
    cJSON_Delete(made);
    return NULL;
}

/* ---- one build
 * ------------------------------------------------------------------------------------------------- */

static bool refused(const struct builds *b)
{
    return b->all->findings.errors > 0;
}

/* Moves the files of one build below its folder. */
static int take_files(struct builds *b, const char *folder, struct bundle *from)
{
    size_t i;

    for (i = 0; i < from->files_len; i++) {
        const struct bundle_file *file = &from->files[i];
        auto_buf struct buf path;

        buf_init(&path, SIZE_MAX / 2);
        b->bytes += file->size;
        if (b->bytes > BUILDS_BYTES) {
            finding_add(&b->all->findings, FINDING_ERROR, 0, "config", "The programs of this download exceed %u MiB",
                        BUILDS_BYTES >> 20);
            return 0;
        }
        if (folder)
            buf_add_fmt(&path, "%s/", folder);
        if (buf_add_str(&path, file->path) < 0)
            return err_nomem(b->err);
        if (bundle_add(&b->all->bundle, path.data, file->content, file->size, b->err) < 0)
            return -1;
    }
    return 0;
}

static int take_build(struct builds *b, const struct build *build, struct compiled *c)
{
    findings_adopt(&b->all->findings, &c->findings, build->title, build->model_path, build->config_path);
    if (refused(b))
        return 0;
    if (b->count++ == 0) {
        b->all->model = c->model;
        model_init(&c->model);
        b->all->events = c->events;
        c->events = (struct str_list){ 0 };
    }
    return take_files(b, build->folder, &c->bundle);
}

/* Compiles one and adds it. Takes request; NULL is no memory. 0 also when it is refused. */
static int add_build(struct builds *b, const struct build *build, cJSON *request)
{
    struct compiled c = { 0 };
    int result;

    if (!request)
        return err_nomem(b->err);
    result = compile_build(request, b->parser, b->options, &c, b->err);
    cJSON_Delete(request);
    if (result == 0)
        result = take_build(b, build, &c);
    compiled_release(&c);
    return result;
}

static bool has_room(struct builds *b, const char *where)
{
    if (b->count < BUILDS_MAX)
        return true;
    finding_add(&b->all->findings, FINDING_ERROR, 0, where, "%s: a download has at most %d programs", where,
                BUILDS_MAX);
    return false;
}

/* ---- languages
 * ------------------------------------------------------------------------------------------------- */

static size_t word_length(const char *s, bool digits)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || (digits && s[n] >= '0' && s[n] <= '9'))
        n++;
    return n;
}

/* fr, french, pt-BR, zh_Hant: letters, then up to four subtags. It becomes the name of a folder. */
static bool is_language(const char *s)
{
    size_t n = word_length(s, false), tags = 0;

    if (n < 2 || n > 32)
        return false;
    for (s += n; *s == '-' || *s == '_'; s += n + 1, tags++) {
        n = word_length(s + 1, true);
        if (n < 1 || n > 8)
            return false;
    }
    return !*s && tags <= 4;
}

static int check_target(struct builds *b, const cJSON *target, size_t i, struct map *seen)
{
    struct findings *f = &b->all->findings;
    const char *name = cJSON_IsString(target) ? target->valuestring : "";
    char where[PLACE_MAX];
    int added;

    snprintf(where, sizeof(where), TARGETS "[%zu]", i);
    if (!is_language(name))
        return finding_add(f, FINDING_ERROR, 0, where,
                           "%s: \"%s\" is no language; write a name or code such as french, fr or pt-BR", where,
                           SHOWN(name));
    added = map_put_folded(seen, name, i, NULL);
    if (added == 0)
        return finding_add(f, FINDING_ERROR, 0, where, "%s: \"%s\" is there already%s", where, SHOWN(name),
                           word_length(name, false) == sizeof(BASE_FOLDER) - 1 ? " (default is the agent as drawn)"
                                                                               : "");
    return added < 0 ? err_nomem(b->err) : 0;
}

/* -1: a finding says what is wrong, or err. */
static int check_targets(struct builds *b, const cJSON *targets)
{
    const cJSON *c;
    struct map seen;
    size_t i = 0;
    int result;

    if (!targets || cJSON_IsNull(targets))
        return 0;
    if (!cJSON_IsArray(targets))
        return finding_add(&b->all->findings, FINDING_ERROR, 0, TARGETS, TARGETS " must be an array of languages");
    map_init(&seen);
    result = map_put_folded(&seen, BASE_FOLDER, 0, NULL) < 0 ? err_nomem(b->err) : 0;
    for (c = targets->child; c && result == 0; c = c->next)
        result = check_target(b, c, i++, &seen);
    map_release(&seen);
    return result;
}

/* Config of one language; NULL: of the agent as drawn. NULL: no memory. */
static cJSON *language_config(const struct builds *b, const char *language)
{
    const cJSON *source = json_get(json_get(b->config, "languages"), "source");
    cJSON *config = object_without(b->config, "languages");
    bool good = config;

    if (good && language) {
        cJSON_DeleteItemFromObjectCaseSensitive(config, "language");
        good = cJSON_AddStringToObject(config, "language", language);
    }
    if (good && language && cJSON_IsString(source) && *source->valuestring) {
        cJSON_DeleteItemFromObjectCaseSensitive(config, "source_language");
        good = cJSON_AddStringToObject(config, "source_language", source->valuestring);
    }
    if (good)
        return config;
    cJSON_Delete(config);
    return NULL;
}

static int build_languages(struct builds *b)
{
    const cJSON *targets = json_get(json_get(b->config, "languages"), "target"), *c;
    const struct build base = { .folder = BASE_FOLDER };

    if (check_targets(b, targets) < 0)
        return refused(b) ? 0 : -1;
    if (add_build(b, &base, request_with(b, NULL, language_config(b, NULL))) < 0)
        return -1;
    for (c = cJSON_IsArray(targets) ? targets->child : NULL; c && !refused(b) && has_room(b, TARGETS); c = c->next) {
        char title[PLACE_MAX];
        const struct build one = { .folder = c->valuestring, .title = title };

        snprintf(title, sizeof(title), "Language %s", c->valuestring);
        if (add_build(b, &one, request_with(b, NULL, language_config(b, c->valuestring))) < 0)
            return -1;
    }
    return 0;
}

/* ---- variations and configurations
 * ------------------------------------------------------------------------------------------------- */

/* How the entries of one list become builds. */
struct list {
    const char *key, *path;
    const char *word, *title;   /* word_1 is the folder of an entry without name */
    const char *model, *config; /* members of an entry; model NULL: the agent's */
};
static const struct list variations = {
    "variations", "config.variations", "variation", "Variation", "model", "config"
};
static const struct list configurations = {
    "configurations", "config.configurations", "configuration", "Configuration", NULL, "configuration"
};

/* What the base has in the root, no entry's folder may be called. */
static int reserve_root(struct builds *b)
{
    static const char *const later[] = { "agent_model.py", "application.log", "personalized_agent_model.json",
                                         "personalized_agent_model.py", "vector_store" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(later); i++)
        if (stems_reserve(&b->folders, later[i]) < 0)
            return err_nomem(b->err);
    for (i = 0; i < b->all->bundle.files_len; i++) {
        const char *path = b->all->bundle.files[i].path;
        auto_free char *first = mem_dup(path, strcspn(path, "/"));

        if (!first || stems_reserve(&b->folders, first) < 0)
            return err_nomem(b->err);
    }
    return 0;
}

/* Folder of an entry; the caller frees. NULL: a finding, or err. */
static char *entry_folder(struct builds *b, const struct list *list, const cJSON *entry, size_t i, const char *path)
{
    const cJSON *name = json_get(entry, "name");
    struct str_list made = { 0 };
    char word[PLACE_MAX], *folder = NULL;
    auto_free char *trimmed = NULL;

    if (name && !cJSON_IsNull(name) && !cJSON_IsString(name)) {
        finding_add(&b->all->findings, FINDING_ERROR, 0, path, "%s.name must be a text", path);
        return NULL;
    }
    snprintf(word, sizeof(word), "%s_%zu", list->word, i + 1);
    trimmed = text_trim(cJSON_IsString(name) && !text_is_blank(name->valuestring) ? name->valuestring : word);
    if (!trimmed || stems_add(&b->folders, trimmed, false, &made) < 0)
        err_nomem(b->err);
    else
        folder = steal_ptr(made.items[0]);
    str_list_release(&made);
    return folder;
}

static int add_entry(struct builds *b, const struct list *list, const cJSON *entry, size_t i)
{
    char path[PLACE_MAX], model_path[2 * PLACE_MAX], config_path[2 * PLACE_MAX], title[2 * PLACE_MAX];
    cJSON *model = list->model ? cJSON_GetObjectItemCaseSensitive(entry, list->model) : NULL;
    auto_free char *folder = NULL;
    struct build one = { .title = title, .model_path = model ? model_path : NULL, .config_path = config_path };

    snprintf(path, sizeof(path), "%s[%zu]", list->path, i);
    snprintf(title, sizeof(title), "%s %zu (%s)", list->title, i + 1, path);
    snprintf(model_path, sizeof(model_path), "%s.%s", path, list->model ? list->model : "");
    snprintf(config_path, sizeof(config_path), "%s.%s", path, list->config);
    folder = entry_folder(b, list, entry, i, path);
    if (!folder)
        return refused(b) ? 0 : -1;
    one.folder = folder;
    return add_build(b, &one, request_with(b, model, entry_config(b, json_get(entry, list->config))));
}

/* Entries that say nothing are passed over, and counted. */
static bool says_something(const struct list *list, const cJSON *entry)
{
    const cJSON *model = json_get(entry, "model");

    if (!list->model)
        return cJSON_IsObject(json_get(entry, list->config));
    return cJSON_IsObject(model) || cJSON_IsArray(model) ? model->child != NULL : cJSON_IsString(model);
}

static int add_entries(struct builds *b, const struct list *list)
{
    const cJSON *entry;
    size_t i = 0;

    if (!refused(b) && reserve_root(b) < 0)
        return -1;
    for (entry = json_get(b->config, list->key)->child; entry && !refused(b); entry = entry->next, i++)
        if (says_something(list, entry) && has_room(b, list->path) && add_entry(b, list, entry, i) < 0)
            return -1;
    return 0;
}

static int build_variations(struct builds *b)
{
    const struct build base = { .model_path = "config.baseModel" };
    cJSON *model = cJSON_GetObjectItemCaseSensitive(b->config, "baseModel");

    if (add_build(b, &base, request_with(b, model, object_without(b->config, "variations"))) < 0)
        return -1;
    return add_entries(b, &variations);
}

/* The base is the agent without any configuration: that is the entries' to say. */
static int build_configurations(struct builds *b)
{
    const struct build base = { .folder = NULL };
    struct model m;
    int result;

    model_init(&m); /* no build uses the profiles of the request, but wrong ones are refused */
    result = diagram_read_profiles(b->request, b->parser, &m, &b->all->findings, b->err);
    if (result == 0)
        result = compile_check_profiles(&m, b->parser, b->options, &b->all->findings, b->err);
    model_release(&m);
    if (result < 0 || refused(b))
        return refused(b) ? 0 : -1;
    if (add_build(b, &base, request_with(b, NULL, entry_config(b, NULL))) < 0)
        return -1;
    return add_entries(b, &configurations);
}

/* ---- the whole
 * ------------------------------------------------------------------------------------------------- */

static bool asks_languages(const cJSON *config)
{
    const cJSON *languages = json_get(config, "languages");

    return cJSON_IsObject(languages) && languages->child;
}

static bool asks_variations(const cJSON *config)
{
    const cJSON *base = json_get(config, "baseModel");

    return base && !cJSON_IsNull(base) && cJSON_IsArray(json_get(config, "variations"));
}

static bool asks_configurations(const cJSON *config)
{
    const cJSON *list = json_get(config, "configurations");

    return cJSON_IsArray(list) && list->child;
}

/* The first that config asks for; none is one program. */
static const struct {
    bool (*asked)(const cJSON *config);
    int (*build)(struct builds *b);
} ways[] = {
    { asks_languages, build_languages },
    { asks_variations, build_variations },
    { asks_configurations, build_configurations },
};

int compile_builds(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                   struct compiled *ret, struct err *err)
{
    struct compiled all = { 0 };
    struct builds b = { .request = request, .parser = parser, .options = o, .all = &all, .err = err };
    size_t way;
    int result;

    b.config = json_get(request, "config");
    for (way = 0; way < ARRAY_LEN(ways) && !ways[way].asked(b.config); way++)
        ;
    if (way == ARRAY_LEN(ways))
        return compile_build(request, parser, o, ret, err);
    err_clear(err);
    findings_init(&all.findings);
    model_init(&all.model);
    stems_init(&b.folders);
    result = ways[way].build(&b);
    stems_release(&b.folders);
    if (result < 0) {
        compiled_release(&all);
        return -1;
    }
    if (all.findings.errors)
        bundle_release(&all.bundle);
    *ret = all;
    return 0;
}
