#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "shared/base/mem.h"
#include "shared/diagram/check.h"
#include "shared/diagram/read.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define AGENT_TYPE "AgentDiagram"

static void answer_invalid(struct reply *rp, const char *sentence)
{
    buf_add_str(&rp->body, "{\"valid\":false,\"agentCode\":\"\",\"eventList\":[],\"errors\":[");
    buf_add_json_str(&rp->body, sentence, strlen(sentence));
    buf_add_str(&rp->body, "]}");
    reply_json(rp, 200);
}

static void answer_compiled(struct reply *rp, const struct compiled *c)
{
    const struct bundle_file *program = bundle_find(&c->bundle, "agent.py");
    struct buf *b = &rp->body;

    if (c->findings.errors) {
        buf_add_str(b, "{\"valid\":false,\"agentCode\":\"\",\"eventList\":[],\"errors\":");
        findings_json(&c->findings, FINDING_ERROR, b);
    } else {
        buf_reserve(b, program ? program->size + program->size / 8 : 0); /* its quotes and line ends are escaped */
        buf_add_str(b, "{\"valid\":true,\"agentCode\":");
        buf_add_json_str(b, program ? program->content : "", program ? program->size : 0);
        buf_add_str(b, ",\"eventList\":");
        str_list_json(&c->events, b);
        buf_add_str(b, ",\"errors\":[]");
    }
    buf_add_char(b, '}');
    reply_json(rp, 200);
}

void handle_validate(struct worker *w, struct request *rq, struct reply *rp)
{
    struct compiled compiled;
    struct simulation s;
    struct err err;

    if (simulation_open(w, rq, rp, &s) < 0)
        return;
    if (simulation_allowed(w, &s, &err) == 0 && simulation_compile(w, &s, true, &compiled, &err) == 0) {
        answer_compiled(rp, &compiled);
        compiled_release(&compiled);
    } else if (err.kind == ERR_BAD_REQUEST || err.kind == ERR_FORBIDDEN) {
        answer_invalid(rp, err.msg); /* what refuses a session is a verdict here */
    } else {
        reply_err(rp, &err);
    }
    simulation_release(&s);
}

static const struct field_rule diagram_rules[] = {
    { "title", FIELD_STRING, true, false },
    { "model", FIELD_OBJECT, true, false },
    { "config", FIELD_OBJECT, false, true },
};

static void answer_verdict(struct reply *rp, const struct findings *f)
{
    buf_add_fmt(&rp->body, "{\"isValid\":%s,\"errors\":", f->errors ? "false" : "true");
    findings_json(f, FINDING_ERROR, &rp->body);
    buf_add_str(&rp->body, ",\"warnings\":");
    findings_json(f, FINDING_WARNING, &rp->body);
    buf_add_fmt(&rp->body, ",\"message\":\"%s\"}", f->errors ? "The diagram breaks rules" : "The diagram is valid");
    reply_json(rp, 200);
}

/* Old documents have no type. Others than ours would be read as an agent without states. */
static int check_type(const cJSON *body, struct err *err)
{
    const cJSON *type = json_get(json_get(body, "model"), "type");

    if (!cJSON_IsString(type) || strcmp(type->valuestring, AGENT_TYPE) == 0)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, 0,
                   "Diagrams of type \"%s\" are not checked here; those of type \"" AGENT_TYPE "\" are",
                   SHOWN(type->valuestring));
}

/* Reading and the rules of the model; what only a session needs is no error here, but what will not work there is told.
 */
static int judge(struct worker *w, const cJSON *body, struct findings *f, struct err *err)
{
    struct model m;
    int r;

    model_init(&m);
    err_clear(err);
    r = check_type(body, err);
    if (r == 0)
        r = diagram_read(body, w->parser, &m, f, err);
    if (r == 0)
        r = diagram_check(&m, f, err);
    else if (f->errors)
        r = 0;
    if (r == 0)
        err_clear(err); /* a finding says it */
    if (r == 0 && !f->errors)
        diagram_warn(&m, true, f);
    model_release(&m);
    return r;
}

void handle_validate_diagram(struct worker *w, struct request *rq, struct reply *rp)
{
    struct findings f;
    struct err err;
    bool nul = false;
    cJSON *body = body_parse(rq, rp, diagram_rules, ARRAY_LEN(diagram_rules), &nul);

    if (!body)
        return;
    findings_init(&f);
    if (nul)
        finding_add(&f, FINDING_ERROR, 0, "", "A text of the diagram contains the character U+0000");
    if (!nul && judge(w, body, &f, &err) < 0 && err.kind == ERR_BAD_REQUEST)
        finding_add(&f, FINDING_ERROR, 0, "", "%s", err.msg);
    else if (!nul && err.kind)
        reply_err(rp, &err);
    if (!rp->status)
        answer_verdict(rp, &f);
    findings_release(&f);
    body_free(body, "credentials");
}
