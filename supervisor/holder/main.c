#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "shared/base/str.h"
#include "supervisor/holder/run.h"

static int usage(void)
{
    (void)fprintf(stderr, "usage: agentsim-holder --slot N --session UUID --dir DIR [--enter CGROUP_PROCS]...\n"
                          "           [--memory-events FILE]   (started by agentsim-launcher)\n"
                          "       agentsim-holder --self-test[=egress]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "slot", required_argument, NULL, 's' },
        { "session", required_argument, NULL, 'i' },
        { "dir", required_argument, NULL, 'd' },
        { "enter", required_argument, NULL, 'e' },
        { "memory-events", required_argument, NULL, 'm' },
        { "self-test", optional_argument, NULL, 't' },
        { NULL, 0, NULL, 0 },
    };
    struct holder_args args = { 0 };
    bool self_test = false, egress = false, have_slot = false;
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
        case 'e':
            if (args.n_enter == HOLDER_GROUPS_MAX)
                return usage();
            args.enter[args.n_enter++] = optarg;
            break;
        case 'm':
            args.memory_events = optarg;
            break;
        case 't':
            self_test = true;
            egress = optarg && str_eq(optarg, "egress");
            break;
        default:
            return usage();
        }
    }
    if (self_test)
        return holder_self_test(egress);
    return have_slot && args.session && args.dir ? holder_run(&args) : usage();
}
