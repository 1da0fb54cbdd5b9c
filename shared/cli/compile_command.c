#include "shared/cli/compile_command.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/python/parser.h"

static int compile_with(const cJSON *request, const char *program, const struct generate_options *o,
                        struct compiled *ret, struct err *err)
{
    struct python_parser *parser;
    int r;

    if (python_parser_new(program, &parser, err) < 0)
        return -1;
    r = compile_diagram(request, parser, o, ret, err);
    python_parser_free(parser);
    return r;
}

int cli_compile(const char *path, const struct generate_options *o, struct compiled *ret)
{
    auto_free char *program = cli_program_path("agentsim-pyparse");
    struct err err = { 0 };
    int status, r;
    cJSON *request;

    if (!program)
        return cli_fail(CLI_FAILED, "out of memory");
    request = cli_read_request(path, false, &status);
    if (!request)
        return status;
    r = compile_with(request, program, o, ret, &err);
    cJSON_Delete(request);
    if (r == 0)
        return CLI_OK;
    /* A limit that the diagram itself hits is its author's to mend. */
    return cli_fail(err.kind == ERR_BAD_REQUEST ? CLI_NO : CLI_FAILED, "%s: %s", path, err.msg);
}

static const char *const severity_names[] = { [FINDING_ERROR] = "error", [FINDING_WARNING] = "warning" };

void cli_print_findings(const struct findings *f, FILE *out)
{
    size_t i;

    for (i = 0; i < f->len; i++) {
        const struct finding *at = &f->items[i];
        auto_buf struct buf line;

        buf_init(&line, 1u << 20);
        buf_add_str(&line, severity_names[at->severity]);
        if (*at->where) {
            buf_add_char(&line, ' ');
            cli_add_plain(&line, at->where, strlen(at->where), false);
        }
        buf_add_str(&line, ": ");
        cli_add_plain(&line, at->message, strlen(at->message), false);
        if (at->rule)
            buf_add_fmt(&line, " (rule %d)", at->rule);
        fprintf(out, "%s\n", line.data ? line.data : "");
    }
    if (f->truncated)
        fprintf(out, "error: there are more findings than are shown\n");
}

int cli_write_result(const char *path, const struct buf *text)
{
    struct err err = { 0 };

    if (!path || strcmp(path, "-") == 0)
        fwrite(text->data, 1, text->len, stdout); /* main looks whether all of it arrived */
    else if (io_write_file(path, text->data, text->len, 0666, &err) < 0)
        return cli_fail(CLI_FAILED, "%s", err.msg);
    return CLI_OK;
}
