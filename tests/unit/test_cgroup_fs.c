#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/cgroup_fs.h"
#include "shared/base/mem.h"

static void a_hybrid_machine_has_a_mount_per_controller_and_version_2(void **state)
{
    static const char text[] =
        "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684092k\n"
        "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
        "39 31 0:36 / /sys/fs/cgroup/my\\040pids rw,relatime - cgroup cgroup rw,pids\n"
        "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    struct cgroup_mounts m;

    (void)state;
    cgroup_mounts_parse(&m, text);
    assert_int_equal(m.n, 4);
    assert_string_equal(m.v[0].path, "/sys/fs/cgroup/cpu,cpuacct");
    assert_int_equal(m.v[0].version, 1);
    assert_int_equal(m.v[0].controllers, CGROUP_CPU);
    assert_int_equal(m.v[1].controllers, CGROUP_MEMORY);
    assert_string_equal(m.v[2].path, "/sys/fs/cgroup/my pids");
    assert_int_equal(m.v[3].version, 2);
    assert_string_equal(m.v[3].path, "/sys/fs/cgroup/unified");
}

static void a_second_mount_of_a_controller_adds_nothing(void **state)
{
    static const char text[] = "1 2 0:1 / /a rw - cgroup cgroup rw,memory,pids\n"
                               "1 2 0:1 / /b rw - cgroup cgroup rw,memory\n"
                               "1 2 0:1 / /c rw - cgroup cgroup rw,memory,freezer\n"
                               "1 2 0:1 / /u1 rw - cgroup2 cgroup2 rw\n"
                               "1 2 0:1 / /u2 rw - cgroup2 cgroup2 rw";
    struct cgroup_mounts m;

    (void)state;
    cgroup_mounts_parse(&m, text);
    assert_int_equal(m.n, 3);
    assert_string_equal(m.v[0].path, "/a");
    assert_int_equal(m.v[0].controllers, CGROUP_MEMORY | CGROUP_PIDS);
    assert_string_equal(m.v[1].path, "/c");
    assert_int_equal(m.v[1].controllers, CGROUP_FREEZER);
    assert_string_equal(m.v[2].path, "/u1");
}

static void rubbish_is_passed_over(void **state)
{
    static const char *const rows[] = {
        "",
        "\n\n",
        "cgroup2",
        " - ",
        " - cgroup2",
        "1 2 3 4 - cgroup2 cgroup2 rw",
        "1 2 0:1 / /x rw - cgroup cgroup",
        "1 2 0:1 / /x rw - cgroup cgroup rw,blkio\n",
        "- - - - - - - - -",
    };
    struct cgroup_mounts m;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        cgroup_mounts_parse(&m, rows[i]);
        assert_int_equal(m.n, 0);
    }
}

static void a_path_that_does_not_fit_is_no_mount(void **state)
{
    char text[CGROUP_PATH_MAX + 200];
    struct cgroup_mounts m;

    (void)state;
    memcpy(text, "1 2 0:1 / /", 11);
    memset(text + 11, 'x', CGROUP_PATH_MAX);
    memcpy(text + 11 + CGROUP_PATH_MAX, " rw - cgroup2 cgroup2 rw", 25);
    cgroup_mounts_parse(&m, text);
    assert_int_equal(m.n, 0);
}

static void controllers_are_whole_words(void **state)
{
    (void)state;
    assert_int_equal(cgroup_controllers_parse("cpuset cpu io memory hugetlb pids\n"),
                     CGROUP_CPU | CGROUP_MEMORY | CGROUP_PIDS);
    assert_int_equal(cgroup_controllers_parse("rw,cpuacct,cpuset"), 0);
    assert_int_equal(cgroup_controllers_parse(""), 0);
}

static void the_own_group_is_the_one_of_version_2(void **state)
{
    char out[64], small[4];

    (void)state;
    assert_int_equal(cgroup_own_group("4:memory:/x\n0::/system.slice/a.service\n", out, sizeof(out)), 0);
    assert_string_equal(out, "/system.slice/a.service");
    assert_int_equal(cgroup_own_group("0::/\n", out, sizeof(out)), 0);
    assert_string_equal(out, "/");
    assert_int_equal(cgroup_own_group("4:memory:/x\n", out, sizeof(out)), -1);
    assert_int_equal(cgroup_own_group("0::", out, sizeof(out)), -1);
    assert_int_equal(cgroup_own_group("", out, sizeof(out)), -1);
    assert_int_equal(cgroup_own_group("0::/long\n", small, sizeof(small)), -1);
}

static void counters_are_found_by_their_whole_name(void **state)
{
    static const char events[] = "low 0\nhigh 0\nmax 31\noom 4\noom_kill 2\noom_group_kill 0\n";

    (void)state;
    assert_int_equal(cgroup_counter(events, "oom_kill"), 2);
    assert_int_equal(cgroup_counter(events, "oom"), 4);
    assert_int_equal(cgroup_counter(events, "kill"), -1);
    assert_int_equal(cgroup_counter("oom_kill_disable 0\nunder_oom 0\noom_kill 7", "oom_kill"), 7);
    assert_int_equal(cgroup_counter("oom_kill", "oom_kill"), -1);
    assert_int_equal(cgroup_counter("oom_kill x\n", "oom_kill"), -1);
    assert_int_equal(cgroup_counter("oom_kill 99999999999999999999999999\n", "oom_kill"), -1);
    assert_int_equal(cgroup_counter("", "oom_kill"), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hybrid_machine_has_a_mount_per_controller_and_version_2),
        cmocka_unit_test(a_second_mount_of_a_controller_adds_nothing),
        cmocka_unit_test(rubbish_is_passed_over),
        cmocka_unit_test(a_path_that_does_not_fit_is_no_mount),
        cmocka_unit_test(controllers_are_whole_words),
        cmocka_unit_test(the_own_group_is_the_one_of_version_2),
        cmocka_unit_test(counters_are_found_by_their_whole_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
