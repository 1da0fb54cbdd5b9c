/* The request's config as far as it changes a program (sections 6.1, 6.2). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

/* Which section moves which keys to the top; a section's value replaces a flat one. */
static const struct {
    const char *section, *key;
} sections[] = {
    { "presentation", "agentLanguage" },
    { "presentation", "agentStyle" },
    { "presentation", "languageComplexity" },
    { "presentation", "sentenceLength" },
    { "modality", "inputModalities" },
    { "modality", "outputModalities" },
    { "system", "agentPlatform" },
    { "system", "agentPlatformUseStreamlit" },
    { "system", "intentRecognitionTechnology" },
    { "system", "llm" },
    { "content", "adaptContentToUserProfile" },
}; /* the others of 6.1 change no program */

/* The section in which the key stands; NULL: it stands, if it does, in config itself. */
static const char *section_with(const cJSON *config, const char *key)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(sections); i++)
        if (strcmp(sections[i].key, key) == 0 && json_get(json_get(config, sections[i].section), key))
            return sections[i].section;
    return NULL;
}

static const cJSON *setting(const cJSON *config, const char *key)
{
    const char *section = section_with(config, key);

    return json_get(section ? json_get(config, section) : config, key);
}

static bool is_word(const cJSON *v, const char *word)
{
    return cJSON_IsString(v) && strcmp(v->valuestring, word) == 0;
}

static enum platform platform_of(const cJSON *config)
{
    const cJSON *v = setting(config, "agentPlatform");

    if (is_word(v, "streamlit"))
        return PLATFORM_STREAMLIT;
    if (is_word(v, "telegram"))
        return PLATFORM_TELEGRAM;
    if (!is_word(v, "websocket"))
        return PLATFORM_DEFAULT;
    return cJSON_IsTrue(setting(config, "agentPlatformUseStreamlit")) ? PLATFORM_STREAMLIT : PLATFORM_WEBSOCKET;
}

static bool has_speech(const cJSON *modalities)
{
    const cJSON *c;

    for (c = cJSON_IsArray(modalities) ? modalities->child : NULL; c; c = c->next)
        if (cJSON_IsString(c) && strcasecmp(c->valuestring, "speech") == 0)
            return true;
    return false;
}

static bool modality(struct reader *r, const cJSON *config, const char *key)
{
    const cJSON *v = setting(config, key);
    char path[64];

    (void)snprintf(path, sizeof(path), "config.%s", key);
    if (!value_is_empty(v) && !cJSON_IsArray(v))
        finding_add(r->f, FINDING_WARNING, 0, path, "%s is no list, as [\"speech\"] is one, and is left out", key);
    return has_speech(v);
}

static int copy_text(struct reader *r, const cJSON *v, char **slot)
{
    if (!cJSON_IsString(v) || !*v->valuestring)
        return 0;
    *slot = mem_strdup(v->valuestring);
    return *slot ? 0 : reader_nomem(r);
}

/* The same, of a number as well. */
static int copy_name(struct reader *r, const cJSON *v, char **slot)
{
    if (!cJSON_IsNumber(v) || value_is_empty(v))
        return copy_text(r, v, slot);
    *slot = value_text(v);
    return *slot ? 0 : reader_nomem(r);
}

static int copy_lower(struct reader *r, const cJSON *v, char **slot)
{
    if (!cJSON_IsString(v) || !*v->valuestring)
        return 0;
    *slot = text_lower(v->valuestring);
    return *slot ? 0 : reader_nomem(r);
}

/* One more key that asks for other texts than those drawn. */
static void texts_stay(struct buf *keys, const char *key)
{
    buf_add_fmt(keys, "%s%s", keys->len ? ", " : "", key);
}

/* A build without a translator leaves texts alone (6.3), but says so. */
static void warn_translation(struct reader *r, const char *language, struct buf *keys)
{
    static const char *const known[] = { "english", "french", "german", "spanish", "luxembourgish", "portuguese" };
    size_t i;

    for (i = 0; language && i < ARRAY_LEN(known); i++) {
        if (strcmp(language, known[i]) != 0)
            continue;
        finding_add(r->f, FINDING_WARNING, 0, "config.language",
                    "Texts are not translated to \"%s\": this build has no translator and "
                    "leaves them as drawn",
                    language);
        texts_stay(keys, "language");
    }
}

/* Nor is there a model that rewrites replies while a program is made (ADR 26). */
static void warn_rewriting(struct reader *r, const cJSON *config, struct buf *keys)
{
    static const char *const wishes[] = { "agentLanguage", "agentStyle", "languageComplexity", "sentenceLength" };
    char where[64];
    size_t i;

    for (i = 0; i < ARRAY_LEN(wishes); i++) {
        const char *section = section_with(config, wishes[i]);
        const cJSON *v = setting(config, wishes[i]);

        if (!cJSON_IsString(v) || !*v->valuestring || is_word(v, "original") || is_word(v, "none"))
            continue;
        snprintf(where, sizeof(where), "config.%s%s%s", section ? section : "", section ? "." : "", wishes[i]);
        finding_add(r->f, FINDING_WARNING, 0, where,
                    "Replies are not rewritten for %s \"%s\": no language model is asked while a program is made, "
                    "they stay as drawn",
                    wishes[i], v->valuestring);
        texts_stay(keys, wishes[i]);
    }
    if (!cJSON_IsObject(json_get(config, "userProfileModel")))
        return;
    finding_add(r->f, FINDING_WARNING, 0, "config.userProfileModel",
                "Replies are not rewritten for the profile of a user: no language model is asked while a program is "
                "made, they stay as drawn");
    texts_stay(keys, "userProfileModel");
}

/* What asks for other texts is named by warnings, and by what comes with a download. */
static int warn_texts(struct reader *r, const cJSON *config, struct settings *s)
{
    auto_buf struct buf keys;

    buf_init(&keys, 200);
    warn_translation(r, s->language, &keys);
    warn_rewriting(r, config, &keys);
    if (!keys.len && !buf_failed(&keys))
        return 0;
    s->texts_stay = buf_steal(&keys, NULL);
    return s->texts_stay ? 0 : reader_nomem(r);
}

/* A key of the top that stands in a section: nobody reads it there. */
static void warn_place(struct reader *r, const cJSON *config)
{
    if (json_get(json_get(config, "system"), "default_llm_name") && !json_get(config, "default_llm_name"))
        finding_add(r->f, FINDING_WARNING, 0, "config.system.default_llm_name",
                    "The default LLM is not read here: default_llm_name belongs into config itself");
}

void read_profile_settings(const cJSON *configuration, struct profile *ret)
{
    ret->adapts_content = value_truth(setting(configuration, "adaptContentToUserProfile"), false);
    ret->speaks = has_speech(setting(configuration, "outputModalities"));
}

/* Agent models of the entries are read by themselves; copies of them would only cost memory. */
static int copy_mapping(struct reader *r, const cJSON *mapping)
{
    static const char *const members[] = { "name", "user_profile", "configuration" };
    cJSON *slim = cJSON_CreateArray();
    bool made = slim;
    const cJSON *c;
    size_t i;
    int result;

    for (c = mapping->child; c && made; c = c->next) {
        cJSON *entry = cJSON_CreateObject();

        made = entry && cJSON_AddItemToArray(slim, entry);
        if (!made)
            cJSON_Delete(entry);
        for (i = 0; i < ARRAY_LEN(members) && made; i++) {
            cJSON *member = cJSON_IsObject(c) ? cJSON_GetObjectItemCaseSensitive(c, members[i]) : NULL;

            made = !member || cJSON_AddItemReferenceToObject(entry, members[i], member);
        }
    }
    result = made ? json_to_value(slim, &r->m->settings.personalization) : -1;
    cJSON_Delete(slim);
    return result < 0 ? reader_nomem(r) : 0;
}

int read_settings(struct reader *r, const cJSON *request)
{
    const cJSON *config = json_get(request, "config"), *llm = setting(config, "llm");
    const cJSON *mapping = json_get(config, "personalizationMapping");
    const cJSON *default_llm = json_get(config, "default_llm_name");
    const cJSON *imported = json_get(json_get(request, "model"), "config"); /* diagrams from B-UML say it inside */
    struct settings *s = &r->m->settings;

    s->platform = platform_of(config);
    s->classical_intents = is_word(setting(config, "intentRecognitionTechnology"), "classical");
    if (copy_text(r, default_llm ? default_llm : json_get(imported, "default_llm_name"), &s->default_llm_name) < 0 ||
        copy_lower(r, json_get(config, "language"), &s->language) < 0 ||
        copy_lower(r, json_get(config, "source_language"), &s->source_language) < 0 ||
        copy_name(r, json_get(llm, "name"), &s->classifier_llm_name) < 0 ||
        copy_name(r, json_get(llm, "model"), &s->classifier_llm_model) < 0)
        return -1;
    s->speech_input = modality(r, config, "inputModalities");
    s->speech_output = modality(r, config, "outputModalities");
    if (warn_texts(r, config, s) < 0)
        return -1;
    warn_place(r, config);
    if (!cJSON_IsArray(mapping))
        return 0;
    return copy_mapping(r, mapping);
}
