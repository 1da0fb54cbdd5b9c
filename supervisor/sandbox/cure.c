#include "supervisor/sandbox/cure.h"

#include <stddef.h>
#include <string.h>

#include "shared/base/mem.h"

/* First match wins, so the special ones come first. Second words NULL: the first are enough. */
static const struct {
    const char *words, *and_words, *advice;
} rows[] = {
    { "Resource temporarily unavailable", NULL,
      "the session's user may have too few processes: raise AGENT_SIMULATOR_RLIMIT_NPROC, or the limit that the "
      "service "
      "was started with (ulimit -u)" },
    { "Cannot allocate memory", NULL, "raise AGENT_SIMULATOR_RLIMIT_AS_GB, or give the machine more memory" },
    { "Too many open files", NULL, "raise AGENT_SIMULATOR_RLIMIT_NOFILE" },
    { "File size limit exceeded", NULL, "raise AGENT_SIMULATOR_RLIMIT_FSIZE_MB" },
    { "max_user_namespaces", NULL, "raise the limit: sysctl user.max_user_namespaces=15000" },
    { "No space left", "namespace", "raise the limit: sysctl user.max_user_namespaces=15000" },
    { "does not allow non-privileged user namespaces", NULL,
      "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1; in a container also a "
      "seccomp profile "
      "that permits them (docker run --security-opt seccomp=...)" },
    { "uid map", NULL,
      "AppArmor holds user namespaces back (Ubuntu): sysctl "
      "kernel.apparmor_restrict_unprivileged_userns=0, "
      "or install an AppArmor profile for bwrap" },
    { "RTM_NEWADDR", NULL,
      "AppArmor holds user namespaces back (Ubuntu): sysctl "
      "kernel.apparmor_restrict_unprivileged_userns=0, "
      "or install an AppArmor profile for bwrap" },
    { "reating new namespace failed", NULL,
      "the container's seccomp profile forbids namespaces: docker run --security-opt seccomp=..." },
    { "mount proc", NULL,
      "parts of /proc are hidden in this container: docker run --security-opt "
      "systempaths=unconfined" },
    { "make / slave", NULL,
      "the container's AppArmor profile forbids mounts: docker run --security-opt "
      "apparmor=unconfined" },
    { "execute the sandbox program", "No such file", "install bubblewrap (package bubblewrap)" },
    { "Unknown option", NULL, "bubblewrap is too old: version 0.8 or newer is needed" },
    { "join the sandbox's network", NULL,
      "the container's seccomp profile forbids setns: docker run --security-opt seccomp=..." },
    { "interpreter", NULL, "install the runtime (make up does), or set AGENT_SIMULATOR_PYTHON" },
    { "agentsim-pid1", NULL, "install the programs again (make install)" },
    { "chdir", NULL, "every directory above the state directory must be passable (o+x)" },
};

const char *cure_find(const char *reason)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (strstr(reason, rows[i].words) && (!rows[i].and_words || strstr(reason, rows[i].and_words)))
            return rows[i].advice;
    return NULL;
}
