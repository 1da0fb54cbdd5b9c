/* Diagrams as B-UML Python. */
#include "fcgi/handlers/handlers.h"
#include "shared/base/mem.h"
#include "shared/buml/export.h"

#define FILE_NAME "agent_buml.py"

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },
    { "model", FIELD_OBJECT, true, false },
    { "config", FIELD_OBJECT, false, true },
};

static void export(struct worker *w, const cJSON *body, struct reply *rp)
{
    struct findings f;
    struct err err;

    findings_init(&f);
    if (buml_export(body, w->parser, &rp->body, &f, &err) == 0) {
        reply_attachment(rp, FILE_NAME);
        rp->status = 200;
        rp->content_type = "text/plain";
    } else if (f.errors) {
        findings_refuse(rp, &f);
    } else {
        reply_err(rp, &err);
    }
    findings_release(&f);
}

void handle_export_buml(struct worker *w, struct request *rq, struct reply *rp)
{
    bool nul = false;
    cJSON *body = body_parse(rq, rp, rules, ARRAY_LEN(rules), &nul);

    if (!body)
        return;
    if (nul)
        reply_detail(rp, 400, "A text of the diagram contains the character U+0000");
    else
        export(w, body, rp);
    body_free(body, "credentials");
}
