#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "fcgi/prefer.h"
#include "fcgi/supervisor.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"

static const char *given(const char *s)
{
    return s && *s ? s : NULL;
}

static size_t credentials_env(const struct credentials *c, struct env_pair env[3])
{
    const struct env_pair all[3] = {
        { "OPENAI_API_KEY", given(c->openai_api_key) },
        { "HUGGINGFACEHUB_API_TOKEN", given(c->huggingface_token) },
        { "REPLICATE_API_TOKEN", given(c->replicate_api_key) },
    };
    size_t i, n = 0;

    for (i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].value)
            env[n++] = all[i];
    return n;
}

/* Of a start that failed behind us, a client of this surface learns 502 where the other one has 500. */
static void blame_upstream(struct err *err)
{
    if (err->kind == ERR_INTERNAL || err->kind == ERR_CONFLICT || err->kind == ERR_TOO_LARGE)
        err_set(err, ERR_UPSTREAM, 0, "The agent simulator could not start the session");
}

static int start(struct worker *w, const struct simulation *s, struct compiled *c, struct request *rq,
                 struct place_queue *full, struct id *ret_id, struct err *err)
{
    const struct generate_options o = {
        .session = true,
        .host = "127.0.0.1",
        .port = start_port(w->config),
        .credentials = &s->credentials,
    };
    struct env_pair env[3];
    struct start what = { .actor = s->actor, .options = &o, .env = env, .rq = rq, .full = full };
    uint32_t port;

    if (!*w->config->api_token)
        return err_set(err, ERR_UNAVAILABLE, 0, "AGENT_SIMULATOR_API_TOKEN is not set, so no session is started");
    what.env_len = credentials_env(&s->credentials, env);
    id_new(&what.id);
    what.wait_s = prefer_wait(request_param(rq, "HTTP_PREFER"));
    if (start_session(w, &what, &c->bundle, &port, err) < 0) {
        blame_upstream(err);
        return -1;
    }
    *ret_id = what.id;
    return 0;
}

static void answer_started(struct reply *rp, const struct id *id, const struct str_list *events)
{
    char text[ID_TEXT_LEN + 1];

    id_format(id, text);
    buf_add_fmt(&rp->body, "{\"sessionId\":\"%s\",\"eventList\":", text);
    str_list_json(events, &rp->body);
    buf_add_char(&rp->body, '}');
    reply_json(rp, 200);
}

/* Every place is taken: where the client stands, or stood in vain. */
static void answer_full(struct reply *rp, const struct place_queue *q, const struct err *err)
{
    reply_err(rp, err);
    if (!rp->body.len)
        return;
    rp->body.len--; /* the closing brace */
    buf_add_fmt(&rp->body, ",\"position\":%u,\"waiting\":%u}", q->position, q->waiting);
}

static void compile_and_start(struct worker *w, struct request *rq, const struct simulation *s, struct reply *rp)
{
    struct place_queue full = { 0, 0 };
    struct compiled compiled;
    struct err err;
    struct id id;

    if (simulation_compile(w, s, false, &compiled, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    if (compiled.findings.errors)
        findings_refuse(rp, &compiled.findings);
    else if (start(w, s, &compiled, rq, &full, &id, &err) == 0)
        answer_started(rp, &id, &compiled.events);
    else if (full.position)
        answer_full(rp, &full, &err);
    else
        reply_err(rp, &err);
    bundle_wipe_config(&compiled.bundle);
    compiled_release(&compiled);
}

static void answer_preference(const struct request *rq, struct reply *rp)
{
    unsigned seconds = prefer_wait(request_param(rq, "HTTP_PREFER"));
    char text[32];

    if (!seconds)
        return;
    (void)snprintf(text, sizeof(text), "wait=%u", seconds);
    reply_header(rp, "Preference-Applied", text);
}

void handle_session_create(struct worker *w, struct request *rq, struct reply *rp)
{
    struct simulation s;
    struct err err;

    answer_preference(rq, rp);
    if (simulation_open(w, rq, rp, &s) < 0)
        return;
    if (simulation_allowed(w, &s, &err) < 0 || supervisor_admit(w->supervisor_socket, s.actor, RPC_ADMIT_CAP, &err) < 0)
        reply_err(rp, &err);
    else
        compile_and_start(w, rq, &s, rp);
    simulation_release(&s);
}

static void add_time(struct buf *b, const char *key, uint64_t wall_ms)
{
    char text[TIME_TEXT_LEN + 1];

    if (wall_ms) {
        time_format_utc((int64_t)wall_ms, text);
        buf_add_fmt(b, ",\"%s\":\"%s\"", key, text);
    } else {
        buf_add_fmt(b, ",\"%s\":null", key);
    }
}

static void add_lower(struct buf *b, const char *s)
{
    buf_add_char(b, '"');
    for (; isalpha((unsigned char)*s) || *s == '_' || *s == '-'; s++)
        buf_add_char(b, (char)tolower((unsigned char)*s));
    buf_add_char(b, '"');
}

void handle_session_show(struct worker *w, struct request *rq, struct reply *rp)
{
    auto_buf struct buf answer;
    char actor[RPC_ACTOR_MAX + 1], text[ID_TEXT_LEN + 1];
    struct rpc_session s;
    struct err err;
    struct id id;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (session_identify(w, rq, rp, &id, actor) < 0)
        return;
    if (supervisor_info(w->supervisor_socket, &id, actor, &answer, &s, &err) < 0) {
        session_error(rp, &err);
        return;
    }
    id_format(&s.id, text);
    buf_add_fmt(&rp->body, "{\"sessionId\":\"%s\",\"state\":", text);
    add_lower(&rp->body, s.state);
    add_time(&rp->body, "startedAt", s.started_wall_ms);
    add_time(&rp->body, "expiresAt", s.expires_wall_ms);
    buf_add_fmt(&rp->body, ",\"attached\":%s,\"framesSent\":%llu,\"exit\":", s.attached ? "true" : "false",
                (unsigned long long)s.frames);
    if (*s.exit_reason) {
        buf_add_str(&rp->body, "{\"reason\":");
        add_lower(&rp->body, s.exit_reason);
        buf_add_fmt(&rp->body, ",\"code\":%d}}", (int)s.exit_code);
    } else {
        buf_add_str(&rp->body, "null}");
    }
    reply_json(rp, 200);
}

void handle_session_end(struct worker *w, struct request *rq, struct reply *rp)
{
    char actor[RPC_ACTOR_MAX + 1];
    struct err err;
    struct id id;

    if (session_identify(w, rq, rp, &id, actor) < 0)
        return;
    if (supervisor_end(w->supervisor_socket, &id, actor, &err) < 0) {
        session_error(rp, &err);
        return;
    }
    buf_add_str(&rp->body, "{\"ok\":true}");
    reply_json(rp, 200);
}
