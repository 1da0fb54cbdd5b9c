#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/import.h"
#include "shared/buml/read.h"
#include "shared/cli/compile_command.h"
#include "shared/json/json.h"
#include "shared/python/parser.h"

enum { OUTPUT, PROJECT, QUIET };

static const struct cli_option options[] = {
    [OUTPUT] = { "output", 'o', "FILE", "where the JSON goes, instead of standard output" },
    [PROJECT] = { "project", 'p', NULL, "make a project of all agents in the file, instead of one diagram" },
    [QUIET] = { "quiet", 'q', NULL, "do not print what could not be imported" },
    { 0 },
};

static int write_json(const struct cli_input *in, const cJSON *made)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    json_write(made, 2, &text);
    if (buf_add_char(&text, '\n') < 0)
        return cli_fail(CLI_FAILED, "out of memory");
    return cli_write_result(in->values[OUTPUT], &text);
}

static int import(const struct cli_input *in, const struct buf *text, struct python_parser *parser)
{
    const char *path = in->args[0];
    const struct buml_upload upload = { strcmp(path, "-") == 0 ? NULL : path, text->data ? text->data : "", text->len };
    struct findings f;
    struct err err = { 0 };
    cJSON *made = NULL;
    int rc, status;

    findings_init(&f);
    rc = in->values[PROJECT] ? buml_import_project(&upload, parser, &made, &f, &err)
                             : buml_import_diagram(&upload, parser, &made, &f, &err);
    if (!in->values[QUIET])
        cli_print_findings(&f, stderr);
    if (rc == 0)
        status = write_json(in, made);
    else
        status = cli_fail(err.kind == ERR_BAD_REQUEST || err.kind == ERR_TOO_LARGE ? CLI_NO : CLI_FAILED, "%s: %s",
                          path, err.msg);
    cJSON_Delete(made);
    findings_release(&f);
    return status;
}

static int run(const struct cli_input *in)
{
    auto_free char *program = cli_program_path("agentsim-pyparse");
    struct python_parser *parser = NULL;
    struct err err = { 0 };
    auto_buf struct buf text;
    int status;

    buf_init(&text, 2 * BUML_UPLOAD_MAX);
    if (cli_read_file(in->args[0], &text, &err) < 0)
        return cli_fail(CLI_USAGE, "%s", err.msg);
    if (!program || python_parser_new(program, &parser, &err) < 0)
        return cli_fail(CLI_FAILED, "%s", program ? err.msg : "out of memory");
    status = import(in, &text, parser);
    python_parser_free(parser);
    return status;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "FILE.py",
    .summary = "Make a diagram of a B-UML Python file",
    .details = "\nNothing of the file is executed. What a diagram has no place for is said on standard error with its\n"
               "line, and left out. \"-\" reads standard input.",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
