#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/export.h"
#include "shared/cli/compile_command.h"
#include "shared/python/parser.h"

enum { OUTPUT };

static const struct cli_option options[] = {
    [OUTPUT] = { "output", 'o', "FILE", "where the text goes, instead of standard output" },
    { 0 },
};

static int export(const cJSON *request, const char *program, struct buf *out, struct findings *f, struct err *err)
{
    struct python_parser *parser;
    int rc;

    if (python_parser_new(program, &parser, err) < 0)
        return -1;
    rc = buml_export(request, parser, out, f, err);
    python_parser_free(parser);
    return rc;
}

static int export_file(const struct cli_input *in, const cJSON *request, const char *program)
{
    struct findings f;
    struct err err = { 0 };
    auto_buf struct buf text;
    int status = CLI_OK;

    buf_init(&text, SIZE_MAX / 2);
    findings_init(&f);
    if (export(request, program, &text, &f, &err) < 0) {
        if (f.errors)
            cli_print_findings(&f, stderr);
        status = f.errors ? CLI_NO
                          : cli_fail(err.kind == ERR_BAD_REQUEST ? CLI_NO : CLI_FAILED, "%s: %s", in->args[0], err.msg);
    } else {
        cli_print_findings(&f, stderr);
        status = cli_write_result(in->values[OUTPUT], &text);
    }
    findings_release(&f);
    return status;
}

static int run(const struct cli_input *in)
{
    auto_free char *program = cli_program_path("agentsim-pyparse");
    cJSON *request;
    int status;

    if (!program)
        return cli_fail(CLI_FAILED, "out of memory");
    request = cli_read_request(in->args[0], false, &status);
    if (!request)
        return status;
    status = export_file(in, request, program);
    cJSON_Delete(request);
    return status;
}

const struct cli_command cli_export = {
    .name = "export",
    .arguments = "DIAGRAM.json",
    .summary = "Write a diagram as B-UML Python",
    .details =
        "\nThe text rebuilds the model with BESSER's metamodel, and `agentsim import` reads it back. A diagram that\n"
        "cannot be read writes nothing, prints its findings and exits with 1. \"-\" reads standard input.",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
