#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "shared/base/str.h"
#include "supervisor/holder/run.h"

static int usage(void)
{
    (void)fprintf(stderr, "usage: agentsim-holder --slot N --session UUID --dir DIR   (started by agentsim-launcher)\n"
                          "       agentsim-holder --self-test\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "slot", required_argument, NULL, 's' },
        { "session", required_argument, NULL, 'i' },
        { "dir", required_argument, NULL, 'd' },
        { "self-test", no_argument, NULL, 't' },
        { NULL, 0, NULL, 0 },
    };
    struct holder_args args = { 0 };
    bool self_test = false, have_slot = false;
    int64_t slot;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 's':
            have_slot = str_to_int(optarg, 0, 1 << 20, &slot) == 0;
            args.slot = have_slot ? (uint32_t)slot : 0;
            break;
        case 'i':
            args.session = optarg;
            break;
        case 'd':
            args.dir = optarg;
            break;
        case 't':
            self_test = true;
            break;
        default:
            return usage();
        }
    }
    if (self_test)
        return holder_self_test();
    return have_slot && args.session && args.dir ? holder_run(&args) : usage();
}
