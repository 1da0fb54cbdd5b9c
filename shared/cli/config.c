#include "shared/cli/cli.h"

enum { FILE_OPTION, MARKDOWN };

static const struct cli_option options[] = {
    [FILE_OPTION] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    [MARKDOWN] = { "markdown", 0, NULL, "the page docs/configuration.md instead" },
    { 0 },
};

static int run(const struct cli_input *in)
{
    struct config c = { 0 };
    struct err err = { 0 };

    if (in->values[MARKDOWN]) {
        config_print_markdown(stdout);
        return CLI_OK;
    }
    if (cli_load_config(&c, in->values[FILE_OPTION], &err) < 0)
        return cli_fail(CLI_NO, "%s", err.msg);
    config_print(&c, stdout);
    config_release(&c);
    return CLI_OK;
}

const struct cli_command cli_config = {
    .name = "config",
    .arguments = "",
    .summary = "Print every setting with the value in force",
    .details =
        "\nThe environment wins over the file, the file over the default. Secrets are shown as ***. A bad value is\n"
        "named and the exit status is 1, as the service would refuse to start.",
    .options = options,
    .run = run,
};
