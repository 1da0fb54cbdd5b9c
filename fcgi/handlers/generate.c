#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/zip.h"
#include "shared/base/mem.h"

#define GENERATOR "agent"
#define ARCHIVE "agent_output.zip"
#define ARCHIVE_TIME 315532800 /* 1980-01-01, the first day a ZIP can name: equal diagrams give equal bytes */

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },      { "model", FIELD_OBJECT, true, false },
    { "generator", FIELD_STRING, false, true },  { "config", FIELD_OBJECT, false, true },
    { "configYaml", FIELD_STRING, false, true },
};

static int to_body(void *port, const void *data, size_t len)
{
    struct reply *rp = port;

    return buf_add(&rp->body, data, len);
}

static int pack(struct zip *z, const struct bundle *b, struct err *err)
{
    size_t i;

    for (i = 0; i < b->directories.len; i++)
        if (zip_directory(z, b->directories.items[i], err) < 0)
            return -1;
    for (i = 0; i < b->files_len; i++)
        if (zip_file(z, b->files[i].path, b->files[i].size, err) < 0 ||
            zip_data(z, b->files[i].content, b->files[i].size, err) < 0)
            return -1;
    return zip_close(z, err);
}

static void answer_archive(struct reply *rp, const struct bundle *b)
{
    struct zip *z = NULL;
    struct err err;

    if (zip_new(to_body, rp, ARCHIVE_TIME, &z, &err) < 0 || pack(z, b, &err) < 0) {
        zip_free(z);
        reply_err(rp, &err);
        return;
    }
    zip_free(z);
    reply_attachment(rp, ARCHIVE);
    rp->status = 200;
    rp->content_type = "application/zip";
}

static void compile(struct worker *w, const cJSON *body, struct reply *rp)
{
    const struct generate_options o = { .session = false };
    struct compiled compiled;
    struct err err;

    if (compile_diagram(body, w->parser, &o, &compiled, &err) < 0) {
        reply_err(rp, &err);
        return;
    }
    if (compiled.findings.errors)
        findings_refuse(rp, &compiled.findings);
    else
        answer_archive(rp, &compiled.bundle);
    compiled_release(&compiled);
}

void handle_generate(struct worker *w, struct request *rq, struct reply *rp)
{
    bool nul = false;
    cJSON *body = body_parse(rq, rp, rules, ARRAY_LEN(rules), &nul);
    const char *generator = body_text(body, "generator");

    if (!body)
        return;
    if (!generator || strcmp(generator, GENERATOR) != 0)
        reply_detail(rp, 400, "The generator \"%.100s\" is not offered here; \"" GENERATOR "\" is",
                     generator ? generator : "");
    else if (nul)
        reply_detail(rp, 400, "A text of the diagram contains the character U+0000");
    else
        compile(w, body, rp);
    body_free(body, "credentials");
}
