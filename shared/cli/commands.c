#include "shared/cli/cli.h"

#include <string.h>

#include "shared/base/mem.h"

static const struct cli_command *const commands[] = {
    &cli_generate, &cli_validate, &cli_inspect, &cli_export,   &cli_import, &cli_chat,  &cli_test,
    &cli_doctor,   &cli_config,   &cli_status,  &cli_sessions, &cli_kill,   &cli_drain, &cli_reload,
};

static const struct cli_command *find(const char *name)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void print_usage(FILE *out)
{
    size_t i;

    fprintf(out, "agentsim " AGENTSIM_VERSION ": conversational agents from diagrams, tested in sandboxes\n\n"
                 "usage: agentsim COMMAND [OPTION...] [ARGUMENT...]\n\n");
    for (i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n  agentsim COMMAND --help   what a command takes\n"
                 "  agentsim --version        the version\n\n"
                 "Exit status, of every command:\n"
                 "  0  fine\n"
                 "  1  the answer is no: findings, a bad setting, a refused session, a conversation that went\n"
                 "     otherwise, no sandbox, a service that does not run\n"
                 "  2  wrong use, or a file that cannot be read: diagram, scenario, settings\n"
                 "  3  this machine failed: no memory, a result that cannot be written\n");
}

static bool is_word(const char *given, const char *word, const char *dashed, const char *letter)
{
    return strcmp(given, word) == 0 || strcmp(given, dashed) == 0 || strcmp(given, letter) == 0;
}

static bool wants_help(int argc, char **argv)
{
    int i;

    for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run(const struct cli_command *c, int argc, char **argv)
{
    struct cli_input in;
    struct err err = { 0 };

    if (wants_help(argc, argv)) {
        cli_print_help(c, stdout);
        return CLI_OK;
    }
    if (cli_parse(c, argc, argv, &in, &err) < 0)
        return cli_fail(CLI_USAGE, "%s: %s (agentsim %s --help)", c->name, err.msg, c->name);
    return c->run(&in);
}

/* `agentsim help`, `agentsim help COMMAND` */
static int help(int argc, char **argv)
{
    const struct cli_command *c = argc > 0 ? find(argv[0]) : NULL;

    if (argc > 0 && !c)
        return cli_fail(CLI_USAGE, "no command is called %s (agentsim --help)", argv[0]);
    if (c)
        cli_print_help(c, stdout);
    else
        print_usage(stdout);
    return CLI_OK;
}

int cli_main(int argc, char **argv)
{
    const struct cli_command *c;
    int status;

    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    c = find(argv[1]);
    if (c) {
        status = run(c, argc - 2, argv + 2);
    } else if (is_word(argv[1], "help", "--help", "-h")) {
        status = help(argc - 2, argv + 2);
    } else if (is_word(argv[1], "version", "--version", "-V")) {
        puts("agentsim " AGENTSIM_VERSION);
        status = CLI_OK;
    } else {
        return cli_fail(CLI_USAGE, "no command is called %s (agentsim --help)", argv[1]);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) /* a full disk must not look like success */
        return cli_fail(CLI_FAILED, "cannot write the result");
    return status;
}
