#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/launcher/run.h"

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { NULL, 0, NULL, 0 },
    };
    const char *config = NULL;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c != 'c') {
            (void)fprintf(stderr, "usage: agentsim-launcher [--config FILE]\n");
            return 2;
        }
        config = optarg;
    }
    return launcher_run(config);
}
