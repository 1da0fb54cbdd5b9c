#include "shared/buml/export.h"

#include <string.h>

#include "shared/buml/write.h"
#include "shared/diagram/check.h"
#include "shared/diagram/read.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define AGENT_TYPE "AgentDiagram"

/* Old documents have no type. */
static int check_type(const cJSON *request, struct err *err)
{
    const cJSON *type = json_get(json_get(request, "model"), "type");

    if (!cJSON_IsString(type) || strcmp(type->valuestring, AGENT_TYPE) == 0)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, 0,
                   "Diagrams of type \"%s\" are not exported here; those of type \"" AGENT_TYPE "\" are",
                   SHOWN(type->valuestring));
}

int buml_judge_conditions(struct model *m, struct python_parser *parser, struct err *err)
{
    struct findings verdict; /* not ours to give */
    int rc;

    findings_init(&verdict);
    rc = parser ? diagram_check_program(m, false, parser, &verdict, err) : 0;
    findings_release(&verdict);
    if (rc < 0 && err->kind == ERR_BAD_REQUEST) { /* code that is too much for the parser stays a literal */
        err_clear(err);
        rc = 0;
    }
    return rc;
}

int buml_export_model(const cJSON *request, struct python_parser *parser, struct model *ret, struct findings *f,
                      struct err *err)
{
    struct model m;

    err_clear(err);
    model_init(&m);
    if (check_type(request, err) < 0 || diagram_read(request, parser, &m, f, err) < 0)
        return -1;
    if (buml_judge_conditions(&m, parser, err) < 0) {
        model_release(&m);
        return -1;
    }
    *ret = m;
    return 0;
}

int buml_export(const cJSON *request, struct python_parser *parser, struct buf *out, struct findings *f,
                struct err *err)
{
    struct model m;
    int rc;

    if (buml_export_model(request, parser, &m, f, err) < 0)
        return -1;
    rc = buml_write(&m, out, err);
    model_release(&m);
    return rc;
}
