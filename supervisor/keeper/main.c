#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "supervisor/keeper/keeper.h"

static const char usage[] =
    "usage: agentsim-keeper [--config FILE]\n"
    "Starts and watches the processes of agentsim: launcher, supervisor, FastCGI workers, nginx.\n"
    "SIGTERM ends them all, SIGHUP puts changed settings in force, SIGUSR2 replaces nginx by the one that is\n"
    "installed now. Settings: agentsim config.\n";

static void warn_of(void *arg, const char *name, const char *meant)
{
    (void)arg;
    log_warn("%s in the environment is no setting and has no effect%s%s", name, meant ? "; meant may be " : "",
             meant ? meant : "");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    struct keeper_options o = { 0 };
    enum log_level level = LOG_INFO;
    struct config config;
    struct err err = { 0 };
    int c, r;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'c') {
            o.config_file = optarg;
        } else {
            (void)fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    log_setup("agentsim-keeper", false, LOG_INFO);
    if (config_load(&config, o.config_file, &err) < 0) {
        log_error("%s", err.msg);
        return 1;
    }
    (void)log_level_parse(config.log_level, &level);
    log_setup("agentsim-keeper", strcmp(config.log, "json") == 0, level);
    config_unknown_env(environ, warn_of, NULL);
    r = keeper_run(&config, &o, &err);
    if (r < 0)
        log_error("%s", err.msg);
    config_release(&config);
    return r < 0;
}
