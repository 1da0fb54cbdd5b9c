#include <stdio.h>
#include <string.h>

#include "shared/base/log.h"
#include "supervisor/supervisor.h"

static int usage(void)
{
    fprintf(stderr, "usage: agentsim-supervisor [--config FILE]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *file = NULL;
    enum log_level level = LOG_INFO;
    struct config config;
    struct err err;
    int r;

    if (argc == 3 && strcmp(argv[1], "--config") == 0)
        file = argv[2];
    else if (argc != 1)
        return usage();
    log_setup("agentsim-supervisor", false, LOG_INFO);
    if (config_load(&config, file, &err) < 0) {
        log_error("%s", err.msg);
        return 1;
    }
    log_level_parse(config.log_level, &level);
    log_setup("agentsim-supervisor", strcmp(config.log, "json") == 0, level);
    r = supervisor_run(&config, file, &err);
    if (r < 0)
        log_error("%s", err.msg);
    config_release(&config);
    return r < 0;
}
