#include "fcgi/github.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "fcgi/query.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/json/json.h"

#define CONNECT_MS 3000L
#define ANSWER_MAX (256u << 10)
#define ADDRESS_MAX 8192
#define TOKEN_MAX 1024
#define API_ERROR "github_api_error"
#define NO_TOKEN "no_access_token"

static void set_word(char word[GITHUB_WORD_MAX + 1], const char *text)
{
    snprintf(word, GITHUB_WORD_MAX + 1, "%s", text);
}

void github_word(const char *said, char word[GITHUB_WORD_MAX + 1])
{
    size_t len = strlen(said);

    if (len && len <= GITHUB_WORD_MAX && strspn(said, "abcdefghijklmnopqrstuvwxyz0123456789_") == len)
        set_word(word, said);
    else
        set_word(word, API_ERROR);
}

static void add_base(struct buf *out, const char *base, const char *path)
{
    size_t len = strlen(base);

    while (len && base[len - 1] == '/')
        len--;
    buf_add(out, base, len);
    buf_add_str(out, path);
}

/* The name is all that is asked for. */
void github_authorize_url(const struct config *c, const char *state, struct buf *out)
{
    add_base(out, c->github_url, "/login/oauth/authorize?");
    query_add(out, "client_id", c->github_client_id);
    if (*c->github_redirect_uri)
        query_add(out, "redirect_uri", c->github_redirect_uri);
    query_add(out, "scope", "read:user");
    query_add(out, "state", state);
}

/* ---- one request ---- */

struct ask {
    const char *url, *accept;
    const struct buf *form; /* NULL: GET */
    const char *token;      /* NULL: none */
};

static size_t take(char *data, size_t size, size_t n, void *user)
{
    return buf_add(user, data, size * n) < 0 ? 0 : size * n;
}

static void set_up(CURL *curl, const struct ask *a, long ms, char *detail, struct buf *answer)
{
    curl_easy_setopt(curl, CURLOPT_URL, a->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms < CONNECT_MS ? ms : CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ms);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)ANSWER_MAX);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "agentsim/" AGENTSIM_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (a->form) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, a->form->data); /* not copied, so it can be wiped */
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)a->form->len);
    }
    if (a->token) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, a->token);
    }
}

/* The answer as an object with status 200, or -1 (ERR_UPSTREAM). */
static int perform(const struct ask *a, int64_t deadline, struct buf *answer, struct err *err)
{
    struct curl_slist *headers = curl_slist_append(NULL, a->accept);
    CURL *curl = headers ? curl_easy_init() : NULL;
    int64_t left = deadline - time_mono_ms();
    char detail[CURL_ERROR_SIZE] = "";
    CURLcode code;
    long status = 0;

    if (!curl) {
        curl_slist_free_all(headers);
        return err_nomem(err);
    }
    set_up(curl, a, left > 1 ? (long)left : 1, detail, answer);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    if (code != CURLE_OK)
        return err_set(err, ERR_UPSTREAM, 0, "GitHub: %s", *detail ? detail : curl_easy_strerror(code));
    if (status != 200)
        return err_set(err, ERR_UPSTREAM, 0, "GitHub answered %ld", status);
    return 0;
}

static int ask(const struct ask *a, int64_t deadline, cJSON **ret, struct err *err)
{
    struct json_error fault;
    struct buf answer;
    cJSON *object = NULL;
    int r;

    buf_init(&answer, ANSWER_MAX);
    r = perform(a, deadline, &answer, err);
    if (r == 0)
        object = json_parse(answer.data ? answer.data : "", answer.len, &fault);
    if (answer.data)
        mem_wipe(answer.data, answer.cap);
    buf_release(&answer);
    if (r < 0)
        return -1;
    if (!cJSON_IsObject(object)) {
        cJSON_Delete(object);
        return err_set(err, ERR_UPSTREAM, 0, "GitHub answered something that is no JSON object");
    }
    *ret = object;
    return 0;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *node = json_get(object, key);

    return cJSON_IsString(node) ? node->valuestring : NULL;
}

/* ---- the two questions ---- */

/* It goes into a header. */
static bool token_valid(const char *token)
{
    size_t i;

    for (i = 0; token[i]; i++)
        if (token[i] <= ' ' || token[i] == 0x7f || i >= TOKEN_MAX)
            return false;
    return i > 0;
}

static int token_from(const cJSON *answer, char token[TOKEN_MAX + 1], char word[GITHUB_WORD_MAX + 1], struct err *err)
{
    const char *text = text_of(answer, "access_token"), *said = text_of(answer, "error");

    if (json_get(answer, "error")) {
        github_word(said ? said : "", word);
        return err_set(err, ERR_UPSTREAM, 0, "GitHub refused the code: %s", word);
    }
    if (!text || !token_valid(text)) {
        set_word(word, NO_TOKEN);
        return err_set(err, ERR_UPSTREAM, 0, "GitHub gave no token");
    }
    snprintf(token, TOKEN_MAX + 1, "%s", text);
    return 0;
}

static void wipe_text(const cJSON *object, const char *key)
{
    const cJSON *node = json_get(object, key);

    if (cJSON_IsString(node))
        mem_wipe(node->valuestring, strlen(node->valuestring));
}

static int ask_token(const struct config *c, const char *code, int64_t deadline, char token[TOKEN_MAX + 1],
                     char word[GITHUB_WORD_MAX + 1], struct err *err)
{
    auto_buf struct buf url;
    struct buf form;
    cJSON *answer = NULL;
    int r;

    buf_init(&url, ADDRESS_MAX);
    buf_init(&form, ADDRESS_MAX);
    add_base(&url, c->github_url, "/login/oauth/access_token");
    query_add(&form, "client_id", c->github_client_id);
    query_add(&form, "client_secret", c->github_client_secret);
    query_add(&form, "code", code);
    if (*c->github_redirect_uri)
        query_add(&form, "redirect_uri", c->github_redirect_uri);
    if (buf_failed(&url) || buf_failed(&form))
        r = err_nomem(err);
    else
        r = ask(&(struct ask){ .url = url.data, .accept = "Accept: application/json", .form = &form }, deadline,
                &answer, err);
    if (form.data)
        mem_wipe(form.data, form.cap);
    buf_release(&form);
    if (r == 0) {
        r = token_from(answer, token, word, err);
        wipe_text(answer, "access_token");
    }
    cJSON_Delete(answer);
    return r;
}

static int user_from(const cJSON *answer, struct github_user *ret, struct err *err)
{
    const char *login = text_of(answer, "login"), *avatar = text_of(answer, "avatar_url");

    if (!login || !signin_login_valid(login))
        return err_set(err, ERR_UPSTREAM, 0, "GitHub told no name of the user");
    snprintf(ret->login, sizeof(ret->login), "%s", login);
    snprintf(ret->avatar, sizeof(ret->avatar), "%s", avatar && signin_avatar_valid(avatar) ? avatar : "");
    return 0;
}

static int ask_user(const struct config *c, const char *token, int64_t deadline, struct github_user *ret,
                    struct err *err)
{
    auto_buf struct buf url;
    cJSON *answer = NULL;
    int r;

    buf_init(&url, ADDRESS_MAX);
    add_base(&url, c->github_api_url, "/user");
    if (buf_failed(&url))
        return err_nomem(err);
    if (ask(&(struct ask){ .url = url.data, .accept = "Accept: application/vnd.github+json", .token = token }, deadline,
            &answer, err) < 0)
        return -1;
    r = user_from(answer, ret, err);
    cJSON_Delete(answer);
    return r;
}

int github_sign_in(const struct config *c, const char *code, struct github_user *ret, char word[GITHUB_WORD_MAX + 1],
                   struct err *err)
{
    int64_t deadline = time_mono_ms() + GITHUB_TOTAL_MS;
    char token[TOKEN_MAX + 1];
    int r;

    set_word(word, API_ERROR);
    r = ask_token(c, code, deadline, token, word, err);
    if (r == 0)
        r = ask_user(c, token, deadline, ret, err);
    mem_wipe(token, sizeof(token));
    return r;
}
