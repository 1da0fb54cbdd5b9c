#include "shared/base/str.h"
#include "shared/cli/compile_command.h"
#include "shared/cli/unpack.h"

enum { OUTPUT, SESSION, PORT, QUIET };

static const struct cli_option options[] = {
    [OUTPUT] = { "output", 'o', "DIR", "where the files go (needed); made if it does not exist" },
    [SESSION] = { "session", 's', NULL, "as a test session gets it, instead of a download" },
    [PORT] = { "port", 'p', "PORT", "with --session: write this port of 127.0.0.1 into config.yaml" },
    [QUIET] = { "quiet", 'q', NULL, "do not list the files" },
    { 0 },
};

static int write_program(const struct cli_input *in, const struct compiled *c)
{
    struct err err = { 0 };
    size_t i;

    if (cli_unpack(&c->bundle, in->values[OUTPUT], &err) < 0)
        return cli_fail(CLI_FAILED, "%s", err.msg);
    for (i = 0; !in->values[QUIET] && i < c->bundle.files_len; i++)
        printf("%s/%s\n", in->values[OUTPUT], c->bundle.files[i].path);
    return CLI_OK;
}

static int run(const struct cli_input *in)
{
    struct generate_options o = { .session = in->values[SESSION] };
    struct compiled c;
    int64_t port;
    int status;

    if (!in->values[OUTPUT])
        return cli_fail(CLI_USAGE, "generate: -o DIR is missing (agentsim generate --help)");
    if (in->values[PORT] && !o.session)
        return cli_fail(CLI_USAGE, "generate: --port goes with --session (agentsim generate --help)");
    if (in->values[PORT]) {
        if (str_to_int(in->values[PORT], 1, 65535, &port) < 0)
            return cli_fail(CLI_USAGE, "generate: %s is no port (1 to 65535)", in->values[PORT]);
        o.host = "127.0.0.1";
        o.port = (uint16_t)port;
    }
    status = cli_compile(in->args[0], &o, &c);
    if (status != CLI_OK)
        return status;
    cli_print_findings(&c.findings, stderr);
    status = c.findings.errors ? CLI_NO : write_program(in, &c);
    compiled_release(&c);
    return status;
}

const struct cli_command cli_generate = {
    .name = "generate",
    .arguments = "DIAGRAM.json",
    .summary = "Write the Python program of a diagram",
    .details = "\nA refused diagram writes nothing, prints its findings and exits with 1. \"-\" reads standard input.",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
