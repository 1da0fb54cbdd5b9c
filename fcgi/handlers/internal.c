/* The drop-in surface: programs that another backend generated (http-api contract, section 2). */
#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "fcgi/supervisor.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"

#define ENTRIES_MAX 2000 /* support files, and workspaces */
#define VARIABLES_MAX 64

static const struct field_rule rules[] = {
    { "session_id", FIELD_STRING, true, false },
    { "agent_code", FIELD_STRING, true, false },
    { "config_yaml", FIELD_STRING, true, false },
    { "env_vars", FIELD_STRING_MAP, false, false },
    { "event_list", FIELD_STRING_LIST, false, false },
    { "support_files", FIELD_STRING_MAP, false, false },
    { "workspace_paths", FIELD_STRING_LIST, false, false },
};

static int count(const cJSON *list, size_t max, const char *what, struct err *err)
{
    const cJSON *c;
    size_t n = 0;

    cJSON_ArrayForEach(c, list) n++;
    return n > max ? err_set(err, ERR_BAD_REQUEST, 0, "There are more than %zu %s", max, what) : 0;
}

/* Two names for one path: the holder would append, and a program file must not be written by another name. */
static int add_support_file(struct bundle *b, const cJSON *file, struct err *err)
{
    auto_free char *path = NULL;

    if (path_normalise(file->string, &path, err) < 0)
        return -1;
    if (bundle_find(b, path))
        return err_set(err, ERR_BAD_REQUEST, 0, "The file \"%.200s\" is given twice", path);
    return bundle_add(b, path, file->valuestring, strlen(file->valuestring), err);
}

static int add_workspace(struct bundle *b, const cJSON *workspace, struct err *err)
{
    auto_free char *path = NULL;

    if (path_normalise(workspace->valuestring, &path, err) < 0)
        return -1;
    return str_list_add(&b->directories, path) < 0 ? err_nomem(err) : 0;
}

static int make_bundle(const cJSON *body, const struct generate_options *o, struct bundle *b, struct err *err)
{
    const char *code = body_text(body, "agent_code"), *yaml = body_text(body, "config_yaml");
    char *config = NULL;
    const cJSON *c;
    int r;

    if (count(json_get(body, "support_files"), ENTRIES_MAX, "support files", err) < 0 ||
        count(json_get(body, "workspace_paths"), ENTRIES_MAX, "workspaces", err) < 0)
        return -1;
    if (config_yaml_override(yaml, strlen(yaml), o, &config, err) < 0)
        return -1;
    r = bundle_add(b, "agent.py", code, strlen(code), err);
    if (r == 0)
        r = bundle_add(b, "config.yaml", config, strlen(config), err);
    mem_wipe(config, strlen(config));
    mem_free(config);
    cJSON_ArrayForEach(c, json_get(body, "support_files")) r = r < 0 ? r : add_support_file(b, c, err);
    cJSON_ArrayForEach(c, json_get(body, "workspace_paths")) r = r < 0 ? r : add_workspace(b, c, err);
    return r;
}

static int collect_env(const cJSON *vars, struct env_pair env[VARIABLES_MAX], size_t *ret_len, struct err *err)
{
    const cJSON *c;

    *ret_len = 0;
    if (count(vars, VARIABLES_MAX, "variables", err) < 0)
        return -1;
    cJSON_ArrayForEach(c, vars)
    {
        if (strlen(c->string) > HOLD_TEXT_MAX || strlen(c->valuestring) > HOLD_TEXT_MAX)
            return err_set(err, ERR_BAD_REQUEST, 0, "The variable \"%.64s\" is longer than %d bytes", c->string,
                           HOLD_TEXT_MAX);
        env[(*ret_len)++] = (struct env_pair){ c->string, c->valuestring };
    }
    return 0;
}

static void answer_started(struct reply *rp, const struct id *id, uint32_t port)
{
    char text[ID_TEXT_LEN + 1];

    id_format(id, text);
    buf_add_fmt(&rp->body, "{\"session_id\":\"%s\",\"port\":%u}", text, port);
    reply_json(rp, 200);
}

static int start(struct worker *w, const cJSON *body, struct request *rq, struct bundle *b, struct id *ret_id,
                 uint32_t *ret_port, struct err *err)
{
    const cJSON *vars = json_get(body, "env_vars");
    const struct credentials credentials = {
        .openai_api_key = body_text(vars, "OPENAI_API_KEY"),
        .huggingface_token = body_text(vars, "HUGGINGFACEHUB_API_TOKEN"),
        .replicate_api_key = body_text(vars, "REPLICATE_API_TOKEN"),
    };
    const struct generate_options o = {
        .session = true,
        .host = "127.0.0.1",
        .port = start_port(w->config),
        .credentials = &credentials,
    };
    struct env_pair env[VARIABLES_MAX];
    struct start s = { .actor = ACTOR_INTERNAL, .internal = true, .options = &o, .env = env, .rq = rq };

    if (id_parse(body_text(body, "session_id"), &s.id) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "session_id is no UUID");
    if (collect_env(vars, env, &s.env_len, err) < 0 || make_bundle(body, &o, b, err) < 0)
        return -1;
    if (start_session(w, &s, b, ret_port, err) < 0) {
        if (err->kind == ERR_CONFLICT) /* the id is in use: 400 on this surface */
            err->kind = ERR_BAD_REQUEST;
        return -1;
    }
    *ret_id = s.id;
    return 0;
}

void handle_internal_create(struct worker *w, struct request *rq, struct reply *rp)
{
    struct bundle b = { 0 };
    bool nul = false;
    cJSON *body = body_parse(rq, rp, rules, ARRAY_LEN(rules), &nul);
    uint32_t port = 0;
    struct err err;
    struct id id;

    if (!body)
        return;
    if (nul)
        reply_detail(rp, 400, "A text of the request contains the character U+0000");
    else if (start(w, body, rq, &b, &id, &port, &err) < 0)
        reply_err(rp, &err);
    else
        answer_started(rp, &id, port);
    bundle_wipe_config(&b);
    bundle_release(&b);
    body_free(body, "env_vars");
}

void handle_internal_files(struct worker *w, struct request *rq, struct reply *rp)
{
    struct err err;
    struct id id;

    if (request_session_id(rq, 0, &id, &err) < 0)
        reply_err(rp, &err);
    else
        files_list(w, &id, ACTOR_INTERNAL, rp);
}

void handle_internal_end(struct worker *w, struct request *rq, struct reply *rp)
{
    struct err err;
    struct id id;

    if (request_session_id(rq, 0, &id, &err) < 0 ||
        (supervisor_end(w->supervisor_socket, &id, ACTOR_INTERNAL, &err) < 0 && err.kind != ERR_NOT_FOUND)) {
        reply_err(rp, &err);
        return;
    }
    buf_add_str(&rp->body, "{\"ok\":true}");
    reply_json(rp, 200);
}
