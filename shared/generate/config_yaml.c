#include "shared/generate/config_yaml.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/provider.h"

#define CONFIG_MAX (64u << 20)
#define OLLAMA_URL "http://localhost:11434"

#define KEY "YOUR-API-KEY"
#define LINK "websocket.streamlit."
#define CHAT LINK "chat."
#define TOKEN "YOUR-PERSONAL-TOKEN"
#define HOOK "YOUR-WEBHOOK-TOKEN"

/* Path below the root, value as YAML reads it. Order is the order in the file. */
static const struct config_row {
    const char *path, *value;
} rows[] = {
    { "agent.check_transitions_delay", "5" },
    { "nlp.language", "en" },
    { "nlp.region", "US" },
    { "nlp.timezone", "Europe/Madrid" },
    { "nlp.pre_processing", "True" },
    { "nlp.intent_threshold", "0.4" },
    { "nlp.openai.api_key", KEY },
    { "nlp.huggingface.token", "YOUR-TOKEN" },
    { "nlp.replicate.api_key", KEY },
    { "nlp.mistral.api_key", KEY },
    { "nlp.deepseek.api_key", KEY },
    { "nlp.google.api_key", KEY },
    { "nlp.meta.api_key", KEY },
    { "nlp.anthropic.api_key", KEY },
    { "nlp.qwen.api_key", KEY },
    { "nlp.xai.api_key", KEY },
    { "nlp.groq.api_key", KEY },
    { "nlp.together.api_key", KEY },
    { "nlp.openrouter.api_key", KEY },
    { "platforms.websocket.host", "localhost" },
    { "platforms.websocket.port", "8765" },
    { "platforms." LINK "host", "localhost" },
    { "platforms." LINK "port", "5000" },
    { "platforms." CHAT "size", "16" },
    { "platforms." CHAT "font", "sans" },
    { "platforms." CHAT "line_spacing", "1.5" },
    { "platforms." CHAT "alignment", "left" },
    { "platforms." CHAT "color", "inherit" },
    { "platforms." CHAT "contrast", "medium" },
    { "platforms.telegram.token", "YOUR-BOT-TOKEN" },
    { "platforms.github.personal_token", TOKEN },
    { "platforms.github.webhook_token", HOOK },
    { "platforms.github.webhook_port", "8901" },
    { "platforms.gitlab.personal_token", TOKEN },
    { "platforms.gitlab.webhook_token", HOOK },
    { "platforms.gitlab.webhook_port", "8901" },
    { "platforms.a2a.port", "8000" },
};

static const struct config_row db_rows[] = {
    { "dialect", "postgresql" },    { "host", "YOUR-DB-HOST" },         { "port", "5432" },
    { "database", "YOUR-DB-NAME" }, { "username", "YOUR-DB-USERNAME" }, { "password", "YOUR-DB-PASSWORD" },
};

/* The node at a dotted path of ours, made on the way. */
static struct ytree *at_path(struct ytree *root, const char *path, struct err *err)
{
    char key[64];

    while (*path) {
        size_t len = strcspn(path, ".");

        memcpy(key, path, len);
        key[len] = '\0';
        root = ytree_add(root, key, err);
        if (!root)
            return NULL;
        path += len + (path[len] == '.');
    }
    return root;
}

static int set_path(struct ytree *root, const char *path, const char *value, bool plain, struct err *err)
{
    struct ytree *node = at_path(root, path, err);

    return node ? ytree_make_scalar(node, value, plain, err) : -1;
}

static int add_db_fields(struct ytree *at, struct err *err)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(db_rows); i++)
        if (set_path(at, db_rows[i].path, db_rows[i].value, true, err) < 0)
            return -1;
    return 0;
}

static int add_databases(struct ytree *root, bool session, struct err *err)
{
    static const char *const own[] = { "db.monitoring", "db.streamlit" };
    static const char *const sql[] = { "db1", "db2" };
    struct ytree *node, *list;
    size_t i;

    for (i = 0; i < ARRAY_LEN(own); i++) {
        node = at_path(root, own[i], err);
        if (!node || set_path(node, "enabled", session ? "False" : "True", true, err) < 0 ||
            add_db_fields(node, err) < 0)
            return -1;
    }
    list = at_path(root, "db.sql", err);
    for (i = 0; list && i < ARRAY_LEN(sql); i++) {
        node = ytree_append(list, err);
        node = node ? ytree_add(node, sql[i], err) : NULL;
        if (!node || add_db_fields(node, err) < 0)
            return -1;
    }
    return list ? 0 : -1;
}

/* base_url of the first Ollama LLM; NULL: the diagram has none. */
static const char *ollama_url(const struct model *m)
{
    size_t i;

    for (i = 0; i < m->llms_len; i++) {
        const struct value *url;

        if (!str_eq(m->llms[i].provider->name, "ollama"))
            continue;
        url = value_get(&m->llms[i].parameters, "base_url");
        return url && url->kind == VALUE_STRING && url->string && *url->string ? url->string : OLLAMA_URL;
    }
    return NULL;
}

/* The default tree: db.monitoring and db.streamlit are off in sessions [D2]. */
static int default_tree(const struct model *m, bool session, struct ytree *ret, struct err *err)
{
    struct ytree root = { .kind = YTREE_MAPPING };
    const char *url = ollama_url(m);
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (set_path(&root, rows[i].path, rows[i].value, true, err) < 0)
            goto fail;
    if ((url && set_path(&root, "nlp.ollama.base_url", url, false, err) < 0) || add_databases(&root, session, err) < 0)
        goto fail;
    *ret = root;
    return 0;
fail:
    ytree_release(&root);
    return -1;
}

static int default_text(const struct model *m, const struct generate_options *o, char **ret, struct err *err)
{
    struct ytree root = { 0 };
    int result;

    if (default_tree(m, o->session, &root, err) < 0)
        return -1;
    result = config_override_tree(&root, o, err);
    if (result == 0 && o->db1)
        result = config_db1_tree(&root, o->db1, err);
    if (result == 0)
        result = ytree_write(&root, ret, err);
    ytree_release(&root);
    return result;
}

int generate_config_yaml(const struct model *m, const struct generate_options *o, char **ret, struct err *err)
{
    auto_free char *repaired = NULL;

    if (!m->config_yaml)
        return default_text(m, o, ret, err);
    if (config_yaml_repair(m->config_yaml, &repaired, err) < 0)
        return -1;
    if (o->db1) {
        char *owned = NULL;

        if (config_yaml_set_db1(repaired, o->db1, &owned, err) < 0)
            return -1;
        mem_free(repaired);
        repaired = owned;
    }
    if (config_overrides_any(o))
        return config_yaml_override(repaired, strlen(repaired), o, ret, err);
    *ret = steal_ptr(repaired);
    return 0;
}

/* ---- SQLite entries with a `database`
 * --------------------------------------------------------------------------- */

const char *config_line_read(const char *text, struct config_line *ret)
{
    size_t all = strcspn(text, "\r\n");

    ret->start = text;
    ret->len = all;
    ret->indent = strspn(text, " \t");
    ret->blank = ret->indent == all;
    text += all;
    if (*text == '\r')
        text++;
    if (*text == '\n')
        text++;
    return text;
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           (unsigned char)c >= 0x80;
}

bool config_line_opens(const struct config_line *l)
{
    const char *s = l->start + l->indent, *end = l->start + l->len;

    if (l->blank || *s != '-')
        return false;
    for (s++; s < end && (*s == ' ' || *s == '\t'); s++)
        ;
    if (s == end || !word_char(*s) || (s[-1] != ' ' && s[-1] != '\t'))
        return false;
    while (s < end && word_char(*s))
        s++;
    for (; s < end && (*s == ' ' || *s == '\t'); s++)
        ;
    if (s == end || *s != ':')
        return false;
    for (s++; s < end && (*s == ' ' || *s == '\t'); s++)
        ;
    return s == end;
}

/* Value behind "key:" on this line, or NULL. */
static const char *value_of(const struct config_line *l, const char *key)
{
    const char *s = l->start + l->indent, *end = l->start + l->len;
    size_t len = strlen(key);

    if ((size_t)(end - s) < len || memcmp(s, key, len) != 0)
        return NULL;
    for (s += len; s < end && (*s == ' ' || *s == '\t'); s++)
        ;
    if (s == end || *s != ':')
        return NULL;
    for (s++; s < end && (*s == ' ' || *s == '\t'); s++)
        ;
    return s;
}

/* Where the block behind an opening line has the word `database` that has to become `file`; NULL:
 * nowhere. */
static const char *wrong_key(const char *text, size_t indent)
{
    const char *found = NULL;
    bool sqlite = false, has_file = false;
    struct config_line l;

    while (*text) {
        const char *value;

        text = config_line_read(text, &l);
        if (l.blank)
            continue;
        if (l.indent <= indent)
            break;
        value = value_of(&l, "dialect");
        if (value)
            sqlite = sqlite || strncmp(value + (*value == '"' || *value == '\''), "sqlite", 6) == 0;
        has_file = has_file || value_of(&l, "file");
        if (!found && value_of(&l, "database"))
            found = l.start + l.indent;
    }
    return sqlite && !has_file ? found : NULL;
}

int config_yaml_repair(const char *text, char **ret, struct err *err)
{
    static const char old[] = "database";
    const char *done = text, *next = text;
    auto_buf struct buf out;
    char *stolen;

    buf_init(&out, CONFIG_MAX);
    while (*next) {
        struct config_line l;
        const char *key;

        next = config_line_read(next, &l);
        key = config_line_opens(&l) ? wrong_key(next, l.indent) : NULL;
        if (!key || key < done)
            continue;
        buf_add(&out, done, (size_t)(key - done));
        buf_add_str(&out, "file");
        done = key + sizeof(old) - 1;
    }
    buf_add_str(&out, done);
    stolen = buf_steal(&out, NULL);
    if (!stolen)
        return err_nomem(err);
    *ret = stolen;
    return 0;
}
