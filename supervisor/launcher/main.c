#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/launcher/limits.h"
#include "supervisor/launcher/run.h"

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { "self-test", no_argument, NULL, 't' },
        { NULL, 0, NULL, 0 },
    };
    const char *config = NULL;
    bool self_test = false;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'c') {
            config = optarg;
        } else if (c == 't') {
            self_test = true;
        } else {
            (void)fprintf(stderr, "usage: agentsim-launcher [--config FILE] [--self-test]\n");
            return 2;
        }
    }
    return self_test ? limits_self_test(config) : launcher_run(config);
}
