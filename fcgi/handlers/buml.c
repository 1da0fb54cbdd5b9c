/* Diagrams and projects as B-UML Python. */
#include "fcgi/handlers/handlers.h"
#include "shared/base/mem.h"
#include "shared/buml/export.h"
#include "shared/buml/project_write.h"

#define FILE_NAME "agent_buml.py"
#define PROJECT_NAME "project.py"

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },
    { "model", FIELD_OBJECT, true, false },
    { "config", FIELD_OBJECT, false, true },
};

static const struct field_rule project_rules[] = {
    { "id", FIELD_STRING, true, false },
    { "type", FIELD_STRING, true, false },
    { "name", FIELD_STRING, true, false },
    { "description", FIELD_STRING, false, true },
    { "owner", FIELD_STRING, false, true },
    { "createdAt", FIELD_STRING, true, false },
    { "currentDiagramType", FIELD_STRING, false, true },
    { "diagrams", FIELD_OBJECT, true, false },
    { "settings", FIELD_OBJECT, false, true },
};

typedef int writer(const cJSON *body, struct python_parser *parser, struct buf *out, struct findings *f,
                   struct err *err);

static void export(struct worker *w, const cJSON *body, writer *write, const char *name, struct reply *rp)
{
    struct findings f;
    struct err err;

    findings_init(&f);
    if (write(body, w->parser, &rp->body, &f, &err) == 0) {
        reply_attachment(rp, name);
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
        export(w, body, buml_export, FILE_NAME, rp);
    body_free(body, "credentials");
}

/* What is no diagram would be left out without a word. */
static int check_diagrams(const cJSON *body, struct reply *rp)
{
    auto_buf struct buf list;

    buf_init(&list, 1u << 20);
    if (json_check_lists(body, "diagrams", rules, ARRAY_LEN(rules), &list) == 0)
        return 0;
    reply_schema(rp, &list);
    return -1;
}

void handle_export_project(struct worker *w, struct request *rq, struct reply *rp)
{
    bool nul = false;
    cJSON *body = body_parse(rq, rp, project_rules, ARRAY_LEN(project_rules), &nul);

    if (!body)
        return;
    if (check_diagrams(body, rp) < 0)
        ; /* answered */
    else if (nul)
        reply_detail(rp, 400, "A text of the project contains the character U+0000");
    else
        export(w, body, buml_write_project, PROJECT_NAME, rp);
    body_free(body, "credentials");
}
