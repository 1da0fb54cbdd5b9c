/* GitHub sign-in (http-api contract, section 5). A browser leaves with a state that is good once and for itself only: a
 * cookie holds the other half, so what another browser began leads nowhere in it. A client that brings no cookie at all
 * is judged by its state alone, as clients of the reference expect. */
#include <string.h>

#include "fcgi/github.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/query.h"
#include "fcgi/supervisor.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

#define LOCATION_MAX 12000
#define COOKIE "agentsim_signin"
#define COOKIE_SECURE "__Host-" COOKIE /* browsers take it from TLS pages of this very host only */
#define COOKIE_SECONDS "600"
#define INVALID_STATE "invalid_state"
#define API_ERROR "github_api_error"

/* ---- the browser's half ---- */

static bool behind_tls(const struct config *c, const struct request *rq)
{
    return str_starts(c->github_redirect_uri, "https://") || strcmp(request_param(rq, "HTTPS"), "on") == 0;
}

static const char *cookie_name(const struct config *c, const struct request *rq)
{
    return behind_tls(c, rq) ? COOKIE_SECURE : COOKIE;
}

/* 0, or -1: the browser has none, or none that we made. */
static int get_cookie(const struct config *c, const struct request *rq, char out[SIGNIN_TEXT_LEN + 1])
{
    const char *p = request_param(rq, "HTTP_COOKIE"), *name = cookie_name(c, rq);
    size_t len = strlen(name);

    while (*p) {
        size_t part = strcspn(p, ";");

        if (part == len + 1 + SIGNIN_TEXT_LEN && strncmp(p, name, len) == 0 && p[len] == '=') {
            memcpy(out, p + len + 1, SIGNIN_TEXT_LEN);
            out[SIGNIN_TEXT_LEN] = '\0';
            return signin_secret_valid(out) ? 0 : -1;
        }
        p += part + (p[part] == ';');
        p += strspn(p, " \t");
    }
    return -1;
}

static void set_cookie(const struct config *c, const struct request *rq, struct reply *rp, const char *value)
{
    auto_buf struct buf b;

    buf_init(&b, 512);
    /* Lax: it has to come along when GitHub sends the browser back. */
    buf_add_fmt(&b, "%s=%s; Path=/; Max-Age=" COOKIE_SECONDS "; HttpOnly; SameSite=Lax%s", cookie_name(c, rq), value,
                behind_tls(c, rq) ? "; Secure" : "");
    if (b.data)
        reply_header(rp, "Set-Cookie", b.data);
}

/* ---- answers ---- */

static void not_stored(struct reply *rp)
{
    reply_header(rp, "Cache-Control", "no-store");
}

static bool configured(const struct config *c, struct reply *rp)
{
    if (*c->github_client_id)
        return true;
    reply_detail(rp, 500, "The sign-in with GitHub is not configured: GITHUB_CLIENT_ID is not set");
    return false;
}

static void redirect(struct reply *rp, int status, const struct buf *location)
{
    if (buf_failed(location)) {
        reply_detail(rp, 500, "The address to go to is too long");
        return;
    }
    reply_header(rp, "Location", location->data);
    reply_detail(rp, status, "The browser is sent on");
}

/* DEPLOYMENT_URL, which may have a query and a fragment of its own, with one or two values more. */
static void send_back(const struct config *c, struct reply *rp, const char *name, const char *value, const char *login)
{
    const char *base = *c->deployment_url ? c->deployment_url : "/";
    size_t len = strcspn(base, "#");
    auto_buf struct buf b;

    buf_init(&b, LOCATION_MAX);
    buf_add(&b, base, len);
    if (!memchr(base, '?', len))
        buf_add_char(&b, '?');
    query_add(&b, name, value);
    if (login)
        query_add(&b, "username", login);
    buf_add_str(&b, base + len);
    redirect(rp, 302, &b);
    if (b.data)
        mem_wipe(b.data, b.cap);
}

static void fail(const struct config *c, struct reply *rp, const char *word)
{
    send_back(c, rp, "error", word, NULL);
}

/* ---- requests ---- */

/* A value that has to be there. */
struct wanted {
    const char *name;
    char *value; /* NULL: it is not */
};

/* True when all are there; else rp says which are not, in the order of the rows. */
static bool all_there(struct reply *rp, const struct wanted *w, size_t len)
{
    auto_buf struct buf list;
    size_t i;

    buf_init(&list, 4096);
    for (i = 0; i < len; i++)
        if (!w[i].value)
            buf_add_fmt(&list,
                        "%s{\"type\":\"missing\",\"loc\":[\"query\",\"%s\"],\"msg\":\"The value is required\","
                        "\"input\":null}",
                        list.len ? "," : "[", w[i].name);
    if (!list.len)
        return true;
    buf_add_char(&list, ']');
    reply_schema(rp, &list);
    return false;
}

void handle_github_login(struct worker *w, struct request *rq, struct reply *rp)
{
    char state[SIGNIN_TEXT_LEN + 1], browser[SIGNIN_TEXT_LEN + 1], actor[RPC_ACTOR_MAX + 1];
    auto_buf struct buf location;
    struct err err;

    buf_init(&location, LOCATION_MAX);
    not_stored(rp);
    if (!configured(w->config, rp))
        return;
    actor_from_address(request_param(rq, "REMOTE_ADDR"), actor);
    /* One for all tabs of a browser, or the second one would spoil the first one's sign-in. */
    if (signin_secret_new(state, &err) < 0 ||
        (get_cookie(w->config, rq, browser) < 0 && signin_secret_new(browser, &err) < 0) ||
        supervisor_signin_begin(w->supervisor_socket, state, browser, actor, &err) < 0) {
        reply_err(rp, &err);
    } else {
        github_authorize_url(w->config, state, &location);
        set_cookie(w->config, rq, rp, browser);
        redirect(rp, 307, &location);
    }
    mem_wipe(state, sizeof(state));
    mem_wipe(browser, sizeof(browser));
}

/* The state is used up and the talk with GitHub may begin. */
static void sign_in(struct worker *w, struct reply *rp, const char *state, const char *code)
{
    char session[SIGNIN_TEXT_LEN + 1], word[GITHUB_WORD_MAX + 1];
    struct github_user user;
    struct err err;

    if (strlen(code) > GITHUB_CODE_MAX || github_sign_in(w->config, code, &user, word, &err) < 0) {
        if (strlen(code) > GITHUB_CODE_MAX)
            github_word("bad_verification_code", word);
        else
            log_warn("sign-in: %s", err.msg);
        supervisor_signin_give_up(w->supervisor_socket, state);
        fail(w->config, rp, word);
        return;
    }
    if (signin_secret_new(session, &err) < 0 ||
        supervisor_signin_make(w->supervisor_socket, state, session, user.login, user.avatar, &err) < 0) {
        log_warn("sign-in: %s", err.msg);
        fail(w->config, rp, API_ERROR);
    } else {
        send_back(w->config, rp, "github_session", session, user.login);
    }
    mem_wipe(session, sizeof(session));
}

static void come_back(struct worker *w, const struct request *rq, struct reply *rp, const char *state, const char *code,
                      const char *error)
{
    char browser[SIGNIN_TEXT_LEN + 1], word[GITHUB_WORD_MAX + 1];
    struct err err = { 0 };

    if (get_cookie(w->config, rq, browser) < 0)
        *browser = '\0';
    if (!signin_secret_valid(state) ||
        (supervisor_signin_take(w->supervisor_socket, state, browser, &err) < 0 && err.kind == ERR_AUTH)) {
        fail(w->config, rp, INVALID_STATE);
    } else if (err.kind == ERR_LIMIT) {
        log_warn("sign-in: %s", err.msg);
        fail(w->config, rp, API_ERROR);
    } else if (err.kind) {
        reply_err(rp, &err);
    } else if (error) { /* the person said no, for one */
        github_word(error, word);
        supervisor_signin_give_up(w->supervisor_socket, state);
        fail(w->config, rp, word);
    } else {
        sign_in(w, rp, state, code);
    }
    mem_wipe(browser, sizeof(browser));
}

void handle_github_callback(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_free char *code = query_value(rq->target.query, "code");
    auto_free char *state = query_value(rq->target.query, "state");
    auto_free char *error = query_value(rq->target.query, "error");
    const struct wanted wanted[] = { { "code", error ? error : code }, { "state", state } };

    not_stored(rp);
    if (configured(w->config, rp) && all_there(rp, wanted, ARRAY_LEN(wanted)))
        come_back(w, rq, rp, state, code, error);
    if (code)
        mem_wipe(code, strlen(code));
}

static void answer_status(struct reply *rp, const char *session, const struct rpc_signin *user)
{
    struct buf *b = &rp->body;

    buf_add_str(b, "{\"success\":true,\"authenticated\":true,\"session_id\":");
    buf_add_json_str(b, session, strlen(session));
    buf_add_str(b, ",\"user\":");
    buf_add_json_str(b, user->login, strlen(user->login));
    buf_add_str(b, ",\"avatar\":");
    if (*user->avatar)
        buf_add_json_str(b, user->avatar, strlen(user->avatar));
    else
        buf_add_str(b, "null");
    buf_add_str(b, ",\"username\":");
    buf_add_json_str(b, user->login, strlen(user->login));
    buf_add_str(b, ",\"error\":null}");
    reply_json(rp, 200);
}

void handle_github_status(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_free char *session = query_value(rq->target.query, "session_id");
    const struct wanted wanted[] = { { "session_id", session } };
    auto_buf struct buf answer;
    struct rpc_signin user;
    struct err err;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    not_stored(rp);
    if (!all_there(rp, wanted, ARRAY_LEN(wanted)))
        return;
    if (supervisor_signin_show(w->supervisor_socket, session, &answer, &user, &err) == 0) {
        answer_status(rp, session, &user);
    } else if (err.kind == ERR_AUTH) {
        buf_add_str(&rp->body,
                    "{\"success\":false,\"authenticated\":null,\"session_id\":null,\"user\":null,"
                    "\"avatar\":null,\"username\":null,\"error\":\"The session is unknown or has expired\"}");
        reply_json(rp, 200);
    } else {
        reply_err(rp, &err);
    }
}

void handle_github_logout(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_free char *session = query_value(rq->target.query, "session_id");
    const struct wanted wanted[] = { { "session_id", session } };
    struct err err;

    not_stored(rp);
    if (!all_there(rp, wanted, ARRAY_LEN(wanted)))
        return;
    if (supervisor_signin_end(w->supervisor_socket, session, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    buf_add_str(&rp->body, "{\"success\":true,\"message\":\"You are signed out\"}");
    reply_json(rp, 200);
}
