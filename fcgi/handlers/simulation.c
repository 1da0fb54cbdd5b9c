#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/supervisor.h"
#include "shared/base/mem.h"
#include "shared/diagram/read.h"
#include "shared/ipc/hold.h"

#define TEXT_MAX 60000 /* of all findings together in one detail */

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },           { "model", FIELD_OBJECT, true, false },
    { "config", FIELD_OBJECT, false, true },          { "configYaml", FIELD_STRING, false, true },
    { "credentials", FIELD_STRING_MAP, false, true },
};

int simulation_open(struct worker *w, const struct request *rq, struct reply *rp, struct simulation *ret)
{
    struct simulation s = { 0 };
    const cJSON *keys;
    struct err err;

    s.body = body_parse(rq, rp, rules, ARRAY_LEN(rules), &s.nul);
    if (!s.body)
        return -1;
    if (access_actor(w->config, w->supervisor_socket, rq, s.actor, &err) < 0 ||
        supervisor_admit(w->supervisor_socket, s.actor, RPC_ADMIT_RATE, &err) < 0) {
        simulation_release(&s);
        reply_err(rp, &err);
        return -1;
    }
    keys = json_get(s.body, "credentials");
    s.credentials = (struct credentials){
        .openai_api_key = body_text(keys, "openAiApiKey"),
        .huggingface_token = body_text(keys, "huggingFaceToken"),
        .replicate_api_key = body_text(keys, "replicateApiKey"),
    };
    *ret = s;
    return 0;
}

void simulation_release(struct simulation *s)
{
    body_free(s->body, "credentials");
    *s = (struct simulation){ 0 };
}

int simulation_allowed(const struct worker *w, const struct simulation *s, struct err *err)
{
    if (w->config->restrict_custom_code && diagram_uses_custom_code(s->body))
        return err_set(err, ERR_FORBIDDEN, 0,
                       "This service does not run agents whose states hold custom Python code (custom code actions)");
    return 0;
}

static int check_credentials(const struct credentials *c, struct err *err)
{
    const char *const values[] = { c->openai_api_key, c->huggingface_token, c->replicate_api_key };
    size_t i;

    for (i = 0; i < ARRAY_LEN(values); i++)
        if (values[i] && strlen(values[i]) > HOLD_TEXT_MAX)
            return err_set(err, ERR_BAD_REQUEST, 0, "A credential is longer than %d bytes", HOLD_TEXT_MAX);
    return 0;
}

int simulation_compile(struct worker *w, const struct simulation *s, bool verdict, struct compiled *ret,
                       struct err *err)
{
    struct generate_options o = {
        .session = true,
        .host = "127.0.0.1",
        .port = start_port(w->config),
        .credentials = &s->credentials,
        .verdict = verdict,
    };

    if (s->nul)
        return err_set(err, ERR_BAD_REQUEST, 0, "A text of the diagram contains the character U+0000");
    if (check_credentials(&s->credentials, err) < 0)
        return -1;
    return compile_diagram(s->body, w->parser, &o, ret, err);
}

int session_identify(struct worker *w, const struct request *rq, struct reply *rp, struct id *ret_id,
                     char ret_actor[RPC_ACTOR_MAX + 1])
{
    struct err err;

    if (access_actor(w->config, w->supervisor_socket, rq, ret_actor, &err) == 0 &&
        request_session_id(rq, 0, ret_id, &err) == 0)
        return 0;
    reply_err(rp, &err);
    return -1;
}

void session_error(struct reply *rp, const struct err *err)
{
    if (err->kind == ERR_NOT_FOUND)
        reply_detail(rp, 404, "There is no such session");
    else
        reply_err(rp, err);
}

static void findings_text(const struct findings *f, struct buf *out)
{
    size_t i, left = f->errors;

    for (i = 0; i < f->len; i++) {
        const char *message = f->items[i].message;

        if (f->items[i].severity != FINDING_ERROR || !message)
            continue;
        if (out->len + strlen(message) > TEXT_MAX) {
            buf_add_fmt(out, "; and %zu more", left);
            return;
        }
        buf_add_fmt(out, "%s%s", out->len ? "; " : "", message);
        left--;
    }
    if (!out->len)
        buf_add_str(out, "The diagram is refused");
}

void findings_refuse(struct reply *rp, const struct findings *f)
{
    auto_buf struct buf text;

    buf_init(&text, 1u << 20);
    findings_text(f, &text);
    reply_detail(rp, 400, "%s", text.data ? text.data : "The diagram is refused");
}

void findings_json(const struct findings *f, enum finding_class which, struct buf *out)
{
    bool first = true;
    size_t i;

    buf_add_char(out, '[');
    for (i = 0; i < f->len; i++) {
        const char *message = f->items[i].message;

        if (f->items[i].severity != which || !message)
            continue;
        if (!first)
            buf_add_char(out, ',');
        first = false;
        buf_add_json_str(out, message, strlen(message));
    }
    buf_add_char(out, ']');
}

void str_list_json(const struct str_list *l, struct buf *out)
{
    size_t i;

    buf_add_char(out, '[');
    for (i = 0; i < l->len; i++) {
        if (i)
            buf_add_char(out, ',');
        buf_add_json_str(out, l->items[i], strlen(l->items[i]));
    }
    buf_add_char(out, ']');
}
