#include <stdio.h>
#include <string.h>

#include "fcgi/worker.h"

int main(int argc, char **argv)
{
    if (argc == 1)
        return worker_run(NULL);
    if (argc == 3 && strcmp(argv[1], "--config") == 0)
        return worker_run(argv[2]);
    fputs("usage: agentsim-fcgi [--config FILE]\n", stderr);
    return 2;
}
