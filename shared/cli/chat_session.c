#include "shared/cli/chat_session.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/http.h"
#include "shared/json/json.h"

#define UPLOAD_MAX ((size_t)11 << 20) /* as base64 in a frame below 16 MiB */

static int make_url(struct buf *url, const struct chat_session *s, const char *path, struct err *err)
{
    size_t len = strlen(s->base);

    while (len && s->base[len - 1] == '/')
        len--;
    buf_init(url, 4096);
    if (buf_add_fmt(url, "%.*s/besser_api/simulation/sessions%s", (int)len, s->base, path) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "the address of the service is too long");
    return 0;
}

static int take_id(struct chat_session *s, const struct buf *answer, struct err *err)
{
    cJSON *body = answer->len ? cJSON_ParseWithLength(answer->data, answer->len) : NULL;
    const char *text = cJSON_GetStringValue(json_get(body, "sessionId"));
    struct id id;
    int r = text ? id_parse(text, &id) : -1;

    cJSON_Delete(body);
    if (r < 0)
        return err_set(err, ERR_UPSTREAM, 0, "the service answered without a session id");
    id_format(&id, s->id);
    return 0;
}

const char *chat_sign_in(const char *option)
{
    return option ? option : getenv("AGENTSIM_GITHUB_SESSION");
}

#define TOO_OFTEN "Too many requests" /* how supervisor/quota.c begins */

/* What the person at this terminal can do about a refusal; "" where the sentence says it all. */
static const char *cure(long status, const char *said)
{
    switch (status) {
    case 401:
        return "; --github-session, or AGENTSIM_GITHUB_SESSION in the environment, takes the id of a sign-in";
    case 429: /* the rate says itself when to try again, and no session less would help */
        if (strncmp(said, TOO_OFTEN, strlen(TOO_OFTEN)) == 0)
            return "; AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS of the service allows more";
        return "; agentsim sessions lists what runs, agentsim kill ends it";
    default:
        return "";
    }
}

static int unreachable(struct err *err)
{
    struct err cause = *err;

    return err_set(err, cause.kind, 0,
                   "%s; is the service running there? make up starts it, --url names another address", cause.msg);
}

int chat_session_start(struct chat_session *s, const cJSON *request, struct err *err)
{
    char *body = cJSON_PrintUnformatted(request);
    auto_buf struct buf url, answer;
    struct http_request r = { .method = "POST", .body = body, .session = s->sign_in };
    char said[400];
    long status = 0;
    int done;

    buf_init(&answer, HTTP_ANSWER_MAX);
    done = make_url(&url, s, "", err);
    r.url = url.data;
    if (done == 0 && !body)
        done = err_nomem(err);
    if (done == 0)
        done = http_ask(&r, &status, &answer, err);
    cJSON_free(body);
    if (done < 0)
        return err->kind == ERR_UNAVAILABLE ? unreachable(err) : -1;
    if (status == 200)
        return take_id(s, &answer, err);
    http_error_text(status, &answer, said, sizeof(said));
    return err_set(err, status == 429 ? ERR_LIMIT : ERR_BAD_REQUEST, 0, "%s%s", said, cure(status, said));
}

int chat_session_end(const struct chat_session *s, struct err *err)
{
    struct http_request r = { .method = "DELETE", .session = s->sign_in };
    auto_buf struct buf url, answer;
    char path[ID_TEXT_LEN + 2];
    long status = 0;

    buf_init(&answer, HTTP_ANSWER_MAX);
    (void)snprintf(path, sizeof(path), "/%s", s->id);
    if (make_url(&url, s, path, err) < 0)
        return -1;
    r.url = url.data;
    return http_ask(&r, &status, &answer, err);
}

int chat_session_state(const struct chat_session *s, char *out, size_t size, bool *ret_ended, struct err *err)
{
    struct http_request r = { .method = "GET", .session = s->sign_in };
    auto_buf struct buf url, answer;
    char path[ID_TEXT_LEN + 2];
    const char *state;
    long status = 0;
    cJSON *body;

    buf_init(&answer, HTTP_ANSWER_MAX);
    (void)snprintf(path, sizeof(path), "/%s", s->id);
    if (make_url(&url, s, path, err) < 0)
        return -1;
    r.url = url.data;
    if (http_ask(&r, &status, &answer, err) < 0)
        return -1;
    body = answer.len ? cJSON_ParseWithLength(answer.data, answer.len) : NULL;
    state = cJSON_GetStringValue(json_get(body, "state"));
    (void)snprintf(out, size, "%s", state ? state : "");
    *ret_ended = status != 200 || cJSON_IsObject(json_get(body, "exit"));
    cJSON_Delete(body);
    return 0;
}

int chat_add_credentials(cJSON *request, struct err *err)
{
    static const struct {
        const char *variable, *key;
    } rows[] = {
        { "OPENAI_API_KEY", "openAiApiKey" },
        { "HUGGINGFACEHUB_API_TOKEN", "huggingFaceToken" },
        { "REPLICATE_API_TOKEN", "replicateApiKey" },
    };
    cJSON *credentials = cJSON_GetObjectItemCaseSensitive(request, "credentials");
    size_t i;

    if (!credentials)
        credentials = cJSON_AddObjectToObject(request, "credentials");
    for (i = 0; credentials && i < ARRAY_LEN(rows); i++) {
        const char *value = getenv(rows[i].variable);

        if (value && *value && !json_get(credentials, rows[i].key) &&
            !cJSON_AddStringToObject(credentials, rows[i].key, value))
            return err_nomem(err);
    }
    return credentials ? 0 : err_nomem(err);
}

static char *printed(cJSON *object, bool ok)
{
    char *text = ok ? cJSON_PrintUnformatted(object) : NULL, *copy = mem_strdup(text);

    cJSON_free(text);
    cJSON_Delete(object);
    return copy;
}

char *chat_auth_frame(const struct chat_session *s, long long received)
{
    static const char *const features[] = { "exit" };
    cJSON *o = cJSON_CreateObject(), *list = cJSON_CreateStringArray(features, 1);
    bool ok = o && cJSON_AddStringToObject(o, "type", "auth") &&
              cJSON_AddStringToObject(o, "githubSession", s->sign_in ? s->sign_in : "");

    if (!ok || !cJSON_AddItemToObject(o, "features", list)) {
        cJSON_Delete(list);
        ok = false;
    }
    ok = ok && (received < 0 || cJSON_AddNumberToObject(o, "received", (double)received));
    return printed(o, ok);
}

static char *action_frame(const char *action, const char *message)
{
    cJSON *o = cJSON_CreateObject();

    return printed(o,
                   o && cJSON_AddStringToObject(o, "action", action) && cJSON_AddStringToObject(o, "message", message));
}

/* /var NAME=VALUE: numbers and true/false keep their type, all else is text. */
static int variable_frame(const char *line, char **ret, struct err *err)
{
    const char *equals = strchr(line, '=');
    auto_free char *name = equals ? mem_dup(line, (size_t)(equals - line)) : NULL;
    struct json_error fault;
    cJSON *o, *m, *value;
    bool ok;

    if (!equals || equals == line)
        return err_set(err, ERR_BAD_REQUEST, 0, "/var NAME=VALUE");
    value = json_parse(equals + 1, strlen(equals + 1), &fault);
    if (!cJSON_IsNumber(value) && !cJSON_IsBool(value)) {
        cJSON_Delete(value);
        value = cJSON_CreateString(equals + 1);
    }
    o = cJSON_CreateObject();
    ok = name && o && cJSON_AddStringToObject(o, "action", "user_set_variable");
    m = ok ? cJSON_AddObjectToObject(o, "message") : NULL;
    ok = m && cJSON_AddItemToObject(m, name, value);
    if (!ok)
        cJSON_Delete(value);
    *ret = printed(o, ok);
    return *ret ? 0 : err_nomem(err);
}

static const char *media_type(const char *path)
{
    static const struct {
        const char *end, *type;
    } rows[] = {
        { ".txt", "text/plain" },
        { ".md", "text/markdown" },
        { ".csv", "text/csv" },
        { ".html", "text/html" },
        { ".json", "application/json" },
        { ".pdf", "application/pdf" },
        { ".png", "image/png" },
        { ".jpg", "image/jpeg" },
        { ".jpeg", "image/jpeg" },
        { ".gif", "image/gif" },
        { ".xml", "application/xml" },
        { ".zip", "application/zip" },
        { ".mp3", "audio/mpeg" },
        { ".wav", "audio/wav" },
        { ".mp4", "video/mp4" },
        { ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
        { ".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
    };
    size_t i, len = strlen(path);

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        size_t n = strlen(rows[i].end);

        if (len > n && strcasecmp(path + len - n, rows[i].end) == 0)
            return rows[i].type;
    }
    return "application/octet-stream";
}

/* The message of a file is JSON text of its own. */
static int file_frame(const char *path, char **ret, struct err *err)
{
    const char *slash = strrchr(path, '/');
    auto_buf struct buf content, base64;
    auto_free char *inner = NULL;
    cJSON *o;

    buf_init(&content, UPLOAD_MAX);
    buf_init(&base64, 2 * UPLOAD_MAX);
    if (io_read_file(path, &content, err) < 0)
        return -1;
    if (!content.len)
        return err_set(err, ERR_BAD_REQUEST, 0, "%s is empty", path);
    if (buf_reserve(&base64, (content.len + 2) / 3 * 4 + 1) < 0)
        return err_nomem(err);
    EVP_EncodeBlock((unsigned char *)base64.data, (const unsigned char *)content.data, (int)content.len);
    o = cJSON_CreateObject();
    inner = printed(o, o && cJSON_AddStringToObject(o, "name", slash ? slash + 1 : path) &&
                           cJSON_AddStringToObject(o, "type", media_type(path)) &&
                           cJSON_AddStringToObject(o, "base64", base64.data));
    *ret = inner ? action_frame("user_file", inner) : NULL;
    return *ret ? 0 : err_nomem(err);
}

int chat_user_frame(const char *line, char **ret, struct err *err)
{
    if (str_starts(line, "/var "))
        return variable_frame(line + 5, ret, err);
    if (str_starts(line, "/file "))
        return file_frame(line + 6, ret, err);
    if (line[0] == '/' && line[1] != '/')
        return err_set(err, ERR_BAD_REQUEST, 0, "%s: no such command (/help)", line);
    *ret = action_frame("user_message", line[0] == '/' ? line + 1 : line);
    return *ret ? 0 : err_nomem(err);
}
