#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/cli/cli.h"
#include "shared/config/table.h"

enum { FILE_OPTION, MARKDOWN };

static const struct cli_option options[] = {
    [FILE_OPTION] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    [MARKDOWN] = { "markdown", 0, NULL, "the page docs/configuration.md instead" },
    { 0 },
};

static void complain(void *arg, const char *name, const char *meant)
{
    (void)arg;
    (void)fprintf(stderr, "agentsim: %s in the environment is no setting%s%s\n", name, meant ? "; meant may be " : "",
                  meant ? meant : "");
}

/* Who may not read the service's file is not refused, but told. */
static void tell_unread(void)
{
    if (geteuid() != 0 && access(CONFIG_DEFAULT_FILE, R_OK) < 0 && errno != ENOENT)
        (void)fprintf(stderr, "agentsim: %s: %s; these are the settings without it\n", CONFIG_DEFAULT_FILE,
                      strerror(errno));
}

static int run(const struct cli_input *in)
{
    struct config c = { 0 };
    struct err err = { 0 };
    int status;

    if (in->values[MARKDOWN]) {
        config_print_markdown(stdout);
        return CLI_OK;
    }
    status = cli_load_config(&c, in->values[FILE_OPTION], "");
    if (status != CLI_OK)
        return status;
    if (!in->values[FILE_OPTION])
        tell_unread();
    config_unknown_env(environ, complain, NULL);
    if (!in->args_len)
        config_print(&c, stdout);
    else if (config_print_value(&c, in->args[0], stdout, &err) < 0)
        status = cli_fail(CLI_USAGE, "%s (see agentsim config)", err.msg);
    config_release(&c);
    return status;
}

const struct cli_command cli_config = {
    .name = "config",
    .arguments = "[SETTING]",
    .summary = "Print the settings and where their values come from",
    .details =
        "\nThese are the values of this environment and the file, the environment first; a service that runs keeps\n"
        "those it was started with. Secrets are shown as ***, unless asked for by name: agentsim config api_token.\n"
        "A bad value is named, as the service would refuse to start: exit status 1.",
    .options = options,
    .args_max = 1,
    .run = run,
};
