#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/sandbox/cure.h"

static void known_failures_have_advice(void **state)
{
    static const struct {
        const char *reason, *word;
    } rows[] = {
        { "bwrap: setting up uid map: Permission denied", "apparmor_restrict" },
        { "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor_restrict" },
        { "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
          "namespaces.",
          "unprivileged_userns_clone" },
        { "bwrap: Creating new namespace failed: Operation not permitted", "seccomp" },
        { "bwrap: Creating new namespace failed, likely because user.max_user_namespaces is exceeded",
          "max_user_namespaces" },
        { "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths" },
        { "bwrap: Failed to make / slave: Permission denied", "apparmor=unconfined" },
        { "execute the sandbox program: No such file or directory", "install bubblewrap" },
        { "bwrap: Unknown option --disable-userns", "0.8" },
        { "join the sandbox's network: Operation not permitted", "setns" },
        { "the agents' interpreter /x: No such file or directory", "make up" },
        { "/x/agentsim-pid1: No such file or directory", "make install" },
        { "bwrap: Creating new namespace failed: Resource temporarily unavailable", "AGENT_SIMULATOR_RLIMIT_NPROC" },
        { "start the interpreter inside the sandbox: Resource temporarily unavailable",
          "AGENT_SIMULATOR_RLIMIT_NPROC" },
        { "start the interpreter inside the sandbox: Cannot allocate memory", "AGENT_SIMULATOR_RLIMIT_AS_GB" },
        { "bwrap: Can't chdir to /work: Permission denied", "o+x" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_non_null(cure_find(rows[i].reason));
        assert_non_null(strstr(cure_find(rows[i].reason), rows[i].word));
    }
    assert_null(cure_find("something else"));
    assert_null(cure_find(""));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_failures_have_advice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
