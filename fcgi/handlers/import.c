/* POST get-json-model and get-project-json-model: a Python file of the editor's, as JSON (http-api contract 1; B-UML
 * contract 8, 11 and 12). */
#include <string.h>
#include <strings.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/multipart.h"
#include "shared/base/mem.h"
#include "shared/buml/import.h"
#include "shared/json/json.h"
#include "shared/buml/read.h"

#define FIELD "buml_file"

typedef int importer(const struct buml_upload *, struct python_parser *, cJSON **, struct findings *, struct err *);

static void answer_missing(struct reply *rp)
{
    auto_buf struct buf list;

    buf_init(&list, 1000);
    buf_add_str(&list, "[{\"type\":\"missing\",\"loc\":[\"body\",\"" FIELD "\"],\"msg\":\"Field required\","
                       "\"input\":null}]");
    reply_schema(rp, &list);
}

static bool is_python(const char *filename)
{
    const char *dot = strrchr(filename, '.');

    return dot && strcasecmp(dot, ".py") == 0;
}

static void answer_file(struct worker *w, const struct buml_upload *upload, importer *import, struct reply *rp)
{
    struct findings f;
    struct err err = { 0 };
    cJSON *made = NULL;

    findings_init(&f);
    if (import(upload, w->parser, &made, &f, &err) < 0) {
        reply_err(rp, &err);
    } else {
        json_write(made, 0, &rp->body);
        reply_json(rp, 200);
    }
    cJSON_Delete(made);
    findings_release(&f);
}

static void answer_upload(struct worker *w, const struct request *rq, importer *import, struct reply *rp)
{
    struct multipart_file file = { 0 };
    struct err err = { 0 };
    int rc = multipart_find(request_param(rq, "CONTENT_TYPE"), rq->body.data ? rq->body.data : "", rq->body.len, FIELD,
                            &file, &err);

    if (rc < 0)
        reply_err(rp, &err);
    else if (rc == 0 || !file.filename)
        answer_missing(rp);
    else if (!is_python(file.filename))
        reply_detail(rp, 415, "Only files whose name ends with .py can be imported");
    else if (file.len > BUML_UPLOAD_MAX)
        reply_detail(rp, 413, "The file is larger than %u MiB", BUML_UPLOAD_MAX >> 20);
    else
        answer_file(w, &(struct buml_upload){ file.filename, file.data, file.len }, import, rp);
    mem_free(file.filename);
}

void handle_import(struct worker *w, struct request *rq, struct reply *rp)
{
    answer_upload(w, rq, buml_import_diagram, rp);
}

void handle_import_project(struct worker *w, struct request *rq, struct reply *rp)
{
    answer_upload(w, rq, buml_import_project, rp);
}
