/* Limits as the two versions of the kernel's interface want them; groups in a made-up tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/ipc/launch.h"
#include "supervisor/launcher/cgroup.h"
#include "supervisor/launcher/limits.h"
#include "tests/support/oom.h"

#define ALL (CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU)

static const struct config all_set = { .memory_mb = 512, .cpu_cores = 1.5, .rlimit_nproc = 64, .session_uid_base = 7 };
static const struct config none_set = { .rlimit_nproc = 64 };

static void check_limits(const struct cgroup_backend *b, const struct config *c, unsigned controllers,
                         const char *const *rows)
{
    struct cgroup_limit limits[CGROUP_LIMITS_MAX];
    size_t i, n = b->limits(limits, c, c->memory_mb, controllers);

    for (i = 0; i < n; i++) {
        char text[128];

        assert_non_null(rows[i]);
        (void)snprintf(text, sizeof(text), "%s=%s", limits[i].file, limits[i].value);
        assert_string_equal(text, rows[i]);
        assert_true(controllers & limits[i].controller);
    }
    assert_null(rows[n]);
}

static void version_1_is_told_bytes_and_microseconds(void **state)
{
    static const char *const rows[] = { "memory.limit_in_bytes=536870912",
                                        "memory.memsw.limit_in_bytes=536870912",
                                        "memory.kmem.tcp.limit_in_bytes=67108864",
                                        "pids.max=64",
                                        "cpu.cfs_period_us=100000",
                                        "cpu.cfs_quota_us=150000",
                                        NULL };

    (void)state;
    check_limits(&cgroup_v1, &all_set, ALL, rows);
}

static void version_2_is_told_the_same_in_its_own_words(void **state)
{
    static const char *const rows[] = { "memory.max=536870912", "memory.swap.max=0", "pids.max=64",
                                        "cpu.max=150000 100000", NULL };

    (void)state;
    check_limits(&cgroup_v2, &all_set, ALL, rows);
}

static void only_what_is_set_is_limited_but_processes_always(void **state)
{
    static const char *const pids[] = { "pids.max=64", NULL }, *const nothing[] = { NULL };

    (void)state;
    check_limits(&cgroup_v1, &none_set, ALL | CGROUP_FREEZER, pids);
    check_limits(&cgroup_v2, &none_set, ALL | CGROUP_FREEZER, pids);
    check_limits(&cgroup_v1, &all_set, CGROUP_FREEZER, nothing);
    check_limits(&cgroup_v2, &all_set, CGROUP_FREEZER, nothing);
}

static void a_share_is_never_less_than_the_kernel_takes(void **state)
{
    static const struct config tiny = { .cpu_cores = 0.001 };
    static const char *const v1[] = { "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=1000", NULL };
    static const char *const v2[] = { "cpu.max=1000 100000", NULL };

    (void)state;
    check_limits(&cgroup_v1, &tiny, CGROUP_CPU, v1);
    check_limits(&cgroup_v2, &tiny, CGROUP_CPU, v2);
}

static void swap_and_sockets_may_be_missing_and_nothing_else(void **state)
{
    static const struct cgroup_backend *const both[] = { &cgroup_v1, &cgroup_v2 };
    struct cgroup_limit limits[CGROUP_LIMITS_MAX];
    size_t i, k, n;

    (void)state;
    for (k = 0; k < ARRAY_LEN(both); k++) {
        n = both[k]->limits(limits, &all_set, all_set.memory_mb, ALL);
        for (i = 0; i < n; i++)
            assert_int_equal(limits[i].optional,
                             strcmp(limits[i].file, both[k]->swap) == 0 || strstr(limits[i].file, "kmem.tcp") != NULL);
    }
}

/* ---- an ordinary directory has no control files: everything fails, and nothing may stay ------------ */

static void write_file(const char *dir, const char *name)
{
    char path[600];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    (void)fclose(f);
}

static void make_false(struct cgroups *g, const struct cgroup_backend *b, const char *root)
{
    *g = (struct cgroups){ .n = 1, .config = &all_set };
    g->trees[0].backend = b;
    g->trees[0].controllers = ALL;
    (void)snprintf(g->trees[0].root, sizeof(g->trees[0].root), "%s", root);
    (void)snprintf(g->trees[0].dir, sizeof(g->trees[0].dir), "%s/agentsim/7", root);
}

static void a_tree_that_does_not_work_is_not_used_and_says_why(void **state)
{
    static const struct cgroup_backend *const both[] = { &cgroup_v1, &cgroup_v2 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(both); i++) {
        char root[] = "/tmp/agentsim-cgroup-XXXXXX", path[64];
        struct cgroups g;

        assert_non_null(mkdtemp(root));
        make_false(&g, both[i], root);
        cgroups_set_up(&g);
        assert_int_equal(g.n, 0);
        assert_int_equal(g.errnum, ENOENT);
        assert_true(g.trouble[0]);
        (void)snprintf(path, sizeof(path), "%s/agentsim", root);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(rmdir(root), 0);
    }
}

static void a_place_that_is_not_there_is_not_used(void **state)
{
    struct cgroups g;

    (void)state;
    make_false(&g, &cgroup_v1, "/nonexistent/agentsim");
    cgroups_set_up(&g);
    assert_int_equal(g.n, 0);
    assert_int_equal(cgroups_controllers(&g), 0);
    cgroups_close(&g);
}

static void a_slot_without_trees_has_nothing_to_enter(void **state)
{
    struct cgroups g = { .config = &all_set };
    struct cgroup_way way;
    struct err err;

    (void)state;
    assert_int_equal(cgroup_make(&g, 3, 7, &way, &err), 0);
    assert_int_equal(way.n, 0);
    assert_string_equal(way.holder, "");
    assert_string_equal(way.events, "");
    assert_false(cgroup_exists(&g, 3));
    cgroup_hold(&g, 3, true);
    assert_int_equal(cgroup_remove(&g, 3), 0);
}

static void a_group_that_cannot_be_made_is_an_error_and_can_be_removed(void **state)
{
    char root[] = "/tmp/agentsim-cgroup-XXXXXX", path[64];
    struct cgroup_way way;
    struct cgroups g;
    struct err err = { 0 };

    (void)state;
    assert_non_null(mkdtemp(root));
    make_false(&g, &cgroup_v1, root);
    assert_int_equal(cgroup_v1.open(root, g.trees[0].dir, &g.trees[0].controllers), 0);
    assert_int_equal(cgroup_make(&g, 3, getuid(), &way, &err), -1);
    assert_non_null(strstr(err.msg, "slot 3"));
    assert_true(cgroup_exists(&g, 3));
    (void)snprintf(path, sizeof(path), "%s/agentsim/7/3", root);
    write_file(path, "in-the-way");
    assert_int_equal(cgroup_remove(&g, 3), -1);
    assert_int_equal(errno, ENOTEMPTY);
    (void)snprintf(path, sizeof(path), "%s/agentsim/7/3/in-the-way", root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cgroup_remove(&g, 3), 0);
    assert_int_equal(cgroup_remove(&g, 3), 0);
    assert_false(cgroup_exists(&g, 3));
    cgroups_close(&g);
    assert_int_equal(rmdir(root), 0);
}

static void looking_for_trees_survives_a_lack_of_memory(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct cgroups g;

        cgroups_find(&g, &all_set, NULL);
        assert_true(g.n <= CGROUP_MOUNTS_MAX);
    });
}

static void the_reason_is_one_bit_and_never_none(void **state)
{
    static const struct {
        int errnum;
        uint32_t bit;
    } rows[] = { { 0, LAUNCH_LIMITS_NOT_MOUNTED }, { EROFS, LAUNCH_LIMITS_READ_ONLY }, { EACCES, LAUNCH_LIMITS_DENIED },
                 { EPERM, LAUNCH_LIMITS_DENIED },  { EBUSY, LAUNCH_LIMITS_BUSY },      { EIO, LAUNCH_LIMITS_BROKEN } };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(limits_why(rows[i].errnum), rows[i].bit);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_told_bytes_and_microseconds),
        cmocka_unit_test(version_2_is_told_the_same_in_its_own_words),
        cmocka_unit_test(only_what_is_set_is_limited_but_processes_always),
        cmocka_unit_test(a_share_is_never_less_than_the_kernel_takes),
        cmocka_unit_test(swap_and_sockets_may_be_missing_and_nothing_else),
        cmocka_unit_test(a_tree_that_does_not_work_is_not_used_and_says_why),
        cmocka_unit_test(a_place_that_is_not_there_is_not_used),
        cmocka_unit_test(a_slot_without_trees_has_nothing_to_enter),
        cmocka_unit_test(a_group_that_cannot_be_made_is_an_error_and_can_be_removed),
        cmocka_unit_test(looking_for_trees_survives_a_lack_of_memory),
        cmocka_unit_test(the_reason_is_one_bit_and_never_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
