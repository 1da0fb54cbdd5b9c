#include "supervisor/sandbox/rlimits.h"

/* Not a matter of taste, so no settings: enough for any agent, and never what whoever starts the service happens to
 * have. */
#define MEMLOCK ((rlim_t)8 << 20)
#define MSGQUEUE ((rlim_t)819200)
#define SIGPENDING ((rlim_t)1024)

void rlimits_make(struct rlimits *ret, const struct config *c)
{
    *ret = (struct rlimits){ {
        { RLIMIT_AS, (rlim_t)c->rlimit_as_gb << 30, (rlim_t)c->rlimit_as_gb << 30 },
        { RLIMIT_CPU, (rlim_t)c->rlimit_cpu_s, (rlim_t)c->rlimit_cpu_s + 1 },
        { RLIMIT_FSIZE, (rlim_t)c->rlimit_fsize_mb << 20, (rlim_t)c->rlimit_fsize_mb << 20 },
        { RLIMIT_NPROC, (rlim_t)c->rlimit_nproc, (rlim_t)c->rlimit_nproc },
        { RLIMIT_NOFILE, (rlim_t)c->rlimit_nofile, (rlim_t)c->rlimit_nofile },
        { RLIMIT_CORE, 0, 0 },
        { RLIMIT_MEMLOCK, MEMLOCK, MEMLOCK },
        { RLIMIT_MSGQUEUE, MSGQUEUE, MSGQUEUE },
        { RLIMIT_SIGPENDING, SIGPENDING, SIGPENDING },
        { RLIMIT_NICE, 0, 0 },
        { RLIMIT_RTPRIO, 0, 0 },
    } };
}

int rlimits_apply(const struct rlimits *limits)
{
    size_t i;

    for (i = 0; i < RLIMITS_N; i++) {
        struct rlimit now, want = { limits->row[i].soft, limits->row[i].hard };

        if (getrlimit((__rlimit_resource_t)limits->row[i].resource, &now) < 0)
            return -1;
        if (want.rlim_max > now.rlim_max)
            want.rlim_max = now.rlim_max;
        if (want.rlim_cur > want.rlim_max)
            want.rlim_cur = want.rlim_max;
        if (setrlimit((__rlimit_resource_t)limits->row[i].resource, &want) < 0)
            return -1;
    }
    return 0;
}
