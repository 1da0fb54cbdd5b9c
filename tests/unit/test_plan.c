#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/sandbox/bwrap_argv.h"
#include "supervisor/sandbox/plan.h"
#include "tests/support/oom.h"

static struct config config;

static char bin_link[] = "usr/bin", python[] = "/opt/x/runtime/bin/python", runtime[] = "/opt/x/runtime";
static char real_runtime[] = "/opt/x/runtimes/1", nltk[] = "/opt/nltk_data", zone[] = "/usr/share/zoneinfo/UTC";
static char pid1[] = "/opt/x/bin/agentsim-pid1";

static const struct sandbox_facts facts = {
    .tops = { { "/bin", true, bin_link }, { "/sbin", false, NULL }, { "/lib64", true, NULL } },
    .python = python,
    .dirs = { runtime, real_runtime },
    .n_dirs = 2,
    .nltk_data = nltk,
    .bind_nltk = true,
    .localtime = zone,
    .pid1 = pid1,
    .telltales = { "/proc/kcore", "/proc/keys" },
    .n_telltales = 2,
};
static const char *const program[] = { "agent.py", NULL };
static const struct sandbox_site site = { .slot = 3, .uid = 20003, .work = "/state/slots/3/work", .program = program };

static int load(void **state)
{
    (void)state;
    return config_load_env(&config, NULL);
}

static int unload(void **state)
{
    (void)state;
    config_release(&config);
    return 0;
}

static void make(struct sandbox_plan *p)
{
    struct err err = { 0 };

    assert_int_equal(sandbox_plan_make(p, &config, &facts, &site, &err), 0);
}

static const struct sandbox_mount *mount_at(const struct sandbox_plan *p, const char *target, enum mount_kind kind)
{
    size_t i;

    for (i = 0; i < p->n_mounts; i++)
        if (!strcmp(p->mounts[i].target, target) && p->mounts[i].kind == kind)
            return &p->mounts[i];
    return NULL;
}

static void only_the_work_directory_can_be_written(void **state)
{
    struct sandbox_plan p;
    size_t i, writable = 0;

    (void)state;
    make(&p);
    for (i = 0; i < p.n_mounts; i++)
        if (p.mounts[i].kind == MOUNT_RW) {
            writable++;
            assert_string_equal(p.mounts[i].source, "/state/slots/3/work");
            assert_string_equal(p.mounts[i].target, "/work");
        }
    assert_int_equal(writable, 1);
    assert_int_equal(p.mounts[p.n_mounts - 1].kind, MOUNT_SEAL);
    assert_string_equal(p.mounts[p.n_mounts - 1].target, "/");
    sandbox_plan_release(&p);
}

static void memory_of_temporary_files_is_limited(void **state)
{
    struct sandbox_plan p;
    size_t i;

    (void)state;
    make(&p);
    for (i = 0; i < p.n_mounts; i++)
        assert_true(p.mounts[i].kind != MOUNT_TMPFS || (p.mounts[i].size && p.mounts[i].size <= (size_t)64 << 20));
    assert_non_null(mount_at(&p, "/dev", MOUNT_SEAL));
    assert_non_null(mount_at(&p, "/dev/shm", MOUNT_TMPFS));
    sandbox_plan_release(&p);
}

static void what_tells_about_others_is_covered(void **state)
{
    struct sandbox_plan p;

    (void)state;
    make(&p);
    assert_string_equal(mount_at(&p, "/proc/kcore", MOUNT_RO)->source, "/dev/null");
    assert_string_equal(mount_at(&p, "/proc/keys", MOUNT_RO)->source, "/dev/null");
    assert_true(mount_at(&p, "/proc/keys", MOUNT_RO) > mount_at(&p, "/proc", MOUNT_PROC));
    sandbox_plan_release(&p);
}

static void the_system_and_the_runtime_are_there_read_only(void **state)
{
    struct sandbox_plan p;

    (void)state;
    make(&p);
    assert_non_null(mount_at(&p, "/usr", MOUNT_RO));
    assert_string_equal(mount_at(&p, "/bin", MOUNT_LINK)->source, "usr/bin");
    assert_non_null(mount_at(&p, "/lib64", MOUNT_RO));
    assert_null(mount_at(&p, "/sbin", MOUNT_RO));
    assert_non_null(mount_at(&p, "/opt/x/runtime", MOUNT_RO));
    assert_non_null(mount_at(&p, "/opt/x/runtimes/1", MOUNT_RO));
    assert_non_null(mount_at(&p, "/opt/nltk_data", MOUNT_RO));
    assert_string_equal(mount_at(&p, SANDBOX_PID1, MOUNT_RO)->source, pid1);
    assert_string_equal(mount_at(&p, "/etc/localtime", MOUNT_LINK)->source, zone);
    assert_non_null(strstr(mount_at(&p, "/etc/hosts", MOUNT_FILE)->source, "127.0.0.1\tlocalhost"));
    assert_non_null(strstr(mount_at(&p, "/etc/passwd", MOUNT_FILE)->source, "agent:x:20003:20003:"));
    assert_null(mount_at(&p, "/etc/resolv.conf", MOUNT_RO_TRY));
    sandbox_plan_release(&p);
}

static void each_egress_has_its_network_and_port(void **state)
{
    static const struct {
        int egress, sandbox;
        bool private_network;
        uint16_t port;
        uint16_t proxy_port;
    } rows[] = {
        { EGRESS_NONE, SANDBOX_AUTO, true, 8765, 0 },     { EGRESS_PUBLIC, SANDBOX_AUTO, true, 8765, 3128 },
        { EGRESS_ALLOW, SANDBOX_AUTO, true, 8765, 3128 }, { EGRESS_HOST, SANDBOX_AUTO, false, 7703, 0 },
        { EGRESS_NONE, SANDBOX_OFF, false, 7703, 0 },     { EGRESS_PUBLIC, SANDBOX_OFF, false, 7703, 0 },
    };
    int egress = config.egress, sandbox = config.sandbox;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct sandbox_plan p;

        config.egress = rows[i].egress;
        config.sandbox = rows[i].sandbox;
        make(&p);
        assert_int_equal(p.private_network, rows[i].private_network);
        assert_int_equal(p.port, rows[i].port);
        assert_int_equal(p.proxy_port, rows[i].proxy_port);
        if (p.sandboxed)
            assert_int_equal(mount_at(&p, "/etc/resolv.conf", MOUNT_RO_TRY) != NULL, !p.private_network);
        sandbox_plan_release(&p);
    }
    config.egress = egress;
    config.sandbox = sandbox;
}

static void without_a_sandbox_the_program_runs_where_it_is(void **state)
{
    struct sandbox_plan p;
    struct strv command = { 0 };

    (void)state;
    config.sandbox = SANDBOX_OFF;
    make(&p);
    config.sandbox = SANDBOX_AUTO;
    assert_int_equal(p.n_mounts, 0);
    assert_int_equal(p.seccomp.len, 0);
    assert_string_equal(p.work_inside, "/state/slots/3/work");
    bwrap_argv_command(&command, &p, "/usr/bin/bwrap");
    assert_string_equal(command.v[0], pid1);
    assert_string_equal(command.v[1], "10");
    assert_string_equal(command.v[2], "0");
    assert_string_equal(command.v[3], "0");
    assert_string_equal(command.v[4], python);
    assert_string_equal(command.v[5], "agent.py");
    assert_null(command.v[6]);
    strv_release(&command);
    sandbox_plan_release(&p);
}

static void one_that_waits_is_told_where_and_nothing_else_differs(void **state)
{
    struct sandbox_site other = site;
    struct sandbox_plan p, waits;
    struct strv command = { 0 };
    size_t i;

    (void)state;
    make(&p);
    other.waits = true;
    assert_int_equal(sandbox_plan_make(&waits, &config, &facts, &other, NULL), 0);
    bwrap_argv_command(&command, &waits, "/usr/bin/bwrap");
    assert_string_equal(command.v[7], "9");
    assert_string_equal(command.v[8], python);
    assert_string_equal(command.v[9], "agent.py");
    assert_int_equal(waits.env.n, p.env.n + 1);
    assert_string_equal(waits.env.v[p.env.n], "AGENTSIM_WAIT=9");
    for (i = 0; i < p.env.n; i++)
        assert_string_equal(waits.env.v[i], p.env.v[i]);
    assert_int_equal(waits.n_mounts, p.n_mounts);
    assert_int_equal(waits.seccomp.len, p.seccomp.len);
    assert_memory_equal(&waits.limits, &p.limits, sizeof(p.limits));
    strv_release(&command);
    sandbox_plan_release(&waits);
    sandbox_plan_release(&p);
}

/* Options are NUL-separated: the n-th one that equals text, or NULL. */
static const char *option(const struct buf *b, const char *text)
{
    const char *p;

    for (p = b->data; p < b->data + b->len; p += strlen(p) + 1)
        if (!strcmp(p, text))
            return p;
    return NULL;
}

static const char *after(const char *p)
{
    return p + strlen(p) + 1;
}

static void bubblewrap_hears_all_of_it_and_no_secret_on_its_command_line(void **state)
{
    struct strv extra = { 0 }, command = { 0 };
    struct sandbox_site with = site;
    struct sandbox_plan p;
    auto_buf struct buf b;
    const char *at;
    size_t i;

    (void)state;
    strv_set_env(&extra, "OPENAI_API_KEY", "sk-secret");
    with.extra = &extra;
    assert_int_equal(sandbox_plan_make(&p, &config, &facts, &with, NULL), 0);
    bwrap_argv_command(&command, &p, "/usr/bin/bwrap");
    assert_string_equal(command.v[0], "/usr/bin/bwrap");
    assert_string_equal(command.v[1], "--args");
    assert_string_equal(command.v[3], "--");
    assert_string_equal(command.v[4], SANDBOX_PID1);
    assert_string_equal(command.v[6], "3128"); /* egress is public unless it is set */
    assert_string_equal(command.v[7], "0");
    for (i = 0; i < command.n; i++)
        assert_null(strstr(command.v[i], "sk-secret"));
    buf_init(&b, 1 << 20);
    bwrap_argv_options(&b, &p);
    assert_false(buf_failed(&b));
    assert_non_null(option(&b, "--disable-userns"));
    assert_non_null(option(&b, "--unshare-net"));
    assert_non_null(option(&b, "--die-with-parent"));
    assert_non_null(option(&b, "--clearenv"));
    assert_string_equal(after(option(&b, "--seccomp")), "13");
    assert_true(p.seccomp.len > 0 && p.seccomp.len % 8 == 0);
    assert_non_null(at = option(&b, "OPENAI_API_KEY"));
    assert_string_equal(after(at), "sk-secret");
    assert_non_null(at = option(&b, "--tmpfs"));
    assert_non_null(at = option(&b, "--size"));
    assert_string_equal(after(at), "67108864");
    assert_string_equal(after(after(at)), "--tmpfs");
    assert_non_null(at = option(&b, "--file"));
    assert_string_equal(after(at), "14");
    assert_string_equal(after(after(at)), "/etc/hosts");
    assert_non_null(at = option(&b, "--chdir"));
    assert_string_equal(after(at), "/work");
    strv_release(&extra);
    strv_release(&command);
    sandbox_plan_release(&p);
}

static void limits_are_the_settings(void **state)
{
    struct sandbox_plan p;

    (void)state;
    make(&p);
    assert_int_equal(p.limits.row[0].resource, RLIMIT_AS);
    assert_int_equal(p.limits.row[0].hard, (rlim_t)4 << 30);
    assert_int_equal(p.limits.row[1].soft, 120);
    assert_int_equal(p.limits.row[1].hard, 121); /* SIGXCPU first, SIGKILL a second later */
    assert_int_equal(p.limits.row[5].resource, RLIMIT_CORE);
    assert_int_equal(p.limits.row[5].hard, 0);
    sandbox_plan_release(&p);
    sandbox_plan_release(NULL);
}

static void short_memory_leaves_no_plan(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct sandbox_plan p = { .port = 1 };
        struct strv command = { 0 };
        auto_buf struct buf b;

        buf_init(&b, 1 << 20);
        if (sandbox_plan_make(&p, &config, &facts, &site, NULL) < 0) {
            assert_true(oom_hit());
            assert_int_equal(p.port, 1);
        } else {
            bwrap_argv_options(&b, &p);
            bwrap_argv_command(&command, &p, "bwrap");
            assert_int_equal(buf_failed(&b) || command.failed, oom_hit());
            sandbox_plan_release(&p);
        }
        strv_release(&command);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_work_directory_can_be_written),
        cmocka_unit_test(memory_of_temporary_files_is_limited),
        cmocka_unit_test(what_tells_about_others_is_covered),
        cmocka_unit_test(the_system_and_the_runtime_are_there_read_only),
        cmocka_unit_test(each_egress_has_its_network_and_port),
        cmocka_unit_test(without_a_sandbox_the_program_runs_where_it_is),
        cmocka_unit_test(one_that_waits_is_told_where_and_nothing_else_differs),
        cmocka_unit_test(bubblewrap_hears_all_of_it_and_no_secret_on_its_command_line),
        cmocka_unit_test(limits_are_the_settings),
        cmocka_unit_test(short_memory_leaves_no_plan),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
