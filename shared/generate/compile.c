#include "shared/generate/compile.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/write.h"
#include "shared/diagram/check.h"
#include "shared/diagram/read.h"
#include "shared/generate/builds.h"
#include "shared/generate/personalize.h"
#include "shared/generate/program.h"
#include "shared/generate/scopes.h"
#include "shared/python/parser.h"

#define MODEL_FILE "agent_model.py"

void compiled_release(struct compiled *c)
{
    if (!c)
        return;
    bundle_release(&c->bundle);
    str_list_release(&c->events);
    findings_release(&c->findings);
    model_release(&c->model);
    *c = (struct compiled){ 0 };
}

/* A program that Python would not take must not reach a sandbox [7.9]. With code in the diagram it can be that code:
 * some of what is right alone is wrong below other statements, imports from __future__ for one. Else it is our fault.
 */
static int judge(const struct model *m, const struct bundle_file *file, const struct python_facts *facts,
                 struct findings *f, struct err *err)
{
    const char *why = facts->error ? facts->error : "";

    if (facts->valid)
        return 0;
    if (!program_has_user_code(m))
        return err_set(err, ERR_INTERNAL, 0, "%s is not valid, line %d: %s", file->path, facts->error_line, why);
    finding_add(f, FINDING_ERROR, 28, "",
                "Code of this diagram is right alone, but not in a program with other code: %s", why);
    return 0;
}

static int check_file(struct python_parser *parser, const struct model *m, const struct bundle_file *file,
                      struct findings *f, struct err *err)
{
    struct python_facts facts = { 0 };
    int result;

    if (python_check(parser, file->content, file->size, &facts, err) < 0)
        return -1;
    result = judge(m, file, &facts, f, err);
    python_facts_release(&facts);
    return result;
}

/* trusted: only the size counts. tools.py is a file of pieces, each loaded and checked alone. */
static int check_bundle(struct python_parser *parser, const struct compiled *c, bool trusted, struct findings *f,
                        struct err *err)
{
    size_t i;

    for (i = 0; i < c->bundle.files_len; i++) {
        const struct bundle_file *file = &c->bundle.files[i];

        if (strcmp(file->path, "tools.py") == 0 || !str_ends(file->path, ".py"))
            continue;
        if (file->size > PYTHON_SOURCE_MAX && strcmp(file->path, MODEL_FILE) == 0)
            continue; /* nobody runs it here */
        if (file->size > PYTHON_SOURCE_MAX)
            finding_add(f, FINDING_ERROR, 0, "",
                        "The program of this diagram is too large: %s has %zu bytes, %u are possible", file->path,
                        file->size, PYTHON_SOURCE_MAX);
        else if (!trusted && check_file(parser, &c->model, file, f, err) < 0)
            return -1;
    }
    return 0;
}

static int check_model(struct python_parser *parser, const struct generate_options *o, struct model *m,
                       struct findings *f, struct err *err)
{
    if (diagram_check(m, f, err) < 0)
        return -1;
    return f->errors ? 0 : diagram_check_program(m, o->session, parser, f, err);
}

int compile_check_profiles(struct model *m, struct python_parser *parser, const struct generate_options *o,
                           struct findings *f, struct err *err)
{
    size_t i;

    for (i = 0; i < m->profiles_len; i++) {
        struct findings part;
        int result;

        if (!m->profiles[i].agent)
            continue;
        findings_init(&part);
        result = check_model(parser, o, m->profiles[i].agent, &part, err);
        profile_findings(f, &part, m->profiles[i].name, i);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* A download has the diagram as it was drawn, too: before profiles change it. */
static int write_files(struct python_parser *parser, const struct generate_options *o, struct compiled *c,
                       bool *ret_sound, struct err *err)
{
    auto_buf struct buf drawn;

    buf_init(&drawn, SIZE_MAX / 2);
    if (!o->session && buml_write(&c->model, &drawn, err) < 0)
        return -1;
    if (personalize(&c->model, err) < 0 || scopes_decide(&c->model, parser, ret_sound, err) < 0 ||
        generate_bundle(&c->model, o, &c->bundle, err) < 0)
        return -1;
    return o->session ? 0 : bundle_add(&c->bundle, MODEL_FILE, drawn.data, drawn.len, err);
}

static int check(struct python_parser *parser, const struct generate_options *o, struct compiled *c, struct err *err)
{
    if (check_model(parser, o, &c->model, &c->findings, err) == 0 &&
        compile_check_profiles(&c->model, parser, o, &c->findings, err) == 0)
        return 0;
    if (err->kind != ERR_BAD_REQUEST || !c->findings.errors)
        return -1;
    err_clear(err); /* a finding says it */
    return 0;
}

static int build(struct python_parser *parser, const struct generate_options *o, struct compiled *c, struct err *err)
{
    bool sound = false;

    if (check(parser, o, c, err) < 0)
        return -1;
    if (diagram_event_list(&c->model, &c->events) < 0)
        return err_nomem(err);
    if (c->findings.errors)
        return 0;
    if (write_files(parser, o, c, &sound, err) < 0) {
        if (err->kind != ERR_BAD_REQUEST)
            return -1;
        finding_add(&c->findings, FINDING_ERROR, 0, "", "%s", err->msg);
        err_clear(err);
        return 0;
    }
    return check_bundle(parser, c, o->verdict && sound, &c->findings, err);
}

static int read_model(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                      struct compiled *c, struct err *err)
{
    if (diagram_read(request, parser, &c->model, &c->findings, err) < 0)
        return -1;
    return o->session ? 0 : diagram_read_profiles(request, parser, &c->model, &c->findings, err);
}

int compile_build(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                  struct compiled *ret, struct err *err)
{
    struct compiled c = { 0 };

    findings_init(&c.findings);
    model_init(&c.model);
    err_clear(err);
    if (read_model(request, parser, o, &c, err) < 0) {
        if (!c.findings.errors)
            goto fail;
        err_clear(err); /* a finding says it */
    } else if (build(parser, o, &c, err) < 0) {
        goto fail;
    }
    if (c.findings.errors)
        bundle_release(&c.bundle);
    *ret = c;
    return 0;
fail:
    compiled_release(&c);
    return -1;
}

int compile_diagram(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                    struct compiled *ret, struct err *err)
{
    return o->session ? compile_build(request, parser, o, ret, err) : compile_builds(request, parser, o, ret, err);
}
