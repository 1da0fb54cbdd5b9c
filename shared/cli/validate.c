#include "shared/cli/compile_command.h"

static const struct cli_option options[] = {
    { "quiet", 'q', NULL, "say nothing, only the exit status" },
    { 0 },
};

static int run(const struct cli_input *in)
{
    struct generate_options o = { .session = true, .verdict = true, .host = "127.0.0.1", .port = 8765 };
    struct compiled c;
    int status = cli_compile(in->args[0], &o, &c);

    if (status != CLI_OK)
        return status;
    if (!in->values[0])
        cli_print_findings(&c.findings, stdout);
    status = c.findings.errors ? CLI_NO : CLI_OK;
    compiled_release(&c);
    return status;
}

const struct cli_command cli_validate = {
    .name = "validate",
    .arguments = "DIAGRAM.json",
    .summary = "Check a diagram against all rules",
    .details =
        "\nPrints one line per finding, and nothing when there is none: where in the document, what is wrong, which\n"
        "names. Exit status 0 when the diagram may run as it is (warnings do not count), 1 when it is refused.\n"
        "\"-\" reads standard input.",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
