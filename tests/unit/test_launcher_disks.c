#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/disks.h"
#include "tests/support/oom.h"

static void options_bound_bytes_and_files(void **state)
{
    static const struct {
        int64_t size_mb;
        const char *options;
    } rows[] = {
        { 1, "size=1m,nr_inodes=1024,mode=0711" },
        { 100, "size=100m,nr_inodes=6400,mode=0711" },
        { 1048576, "size=1048576m,nr_inodes=67108864,mode=0711" },
    };
    char out[96];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        disks_options(rows[i].size_mb, out, sizeof(out));
        assert_string_equal(out, rows[i].options);
    }
}

static void what_cannot_be_mounted_leaves_nothing_behind(void **state)
{
    struct disks d;
    struct err err = { 0 };
    char path[5000];

    (void)state;
    assert_int_equal(disks_mount(&d, "/nonexistent/agentsim", 3, 1, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_null(d.dirs);
    assert_null(d.path);
    disks_release(&d);
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(disks_mount(&d, path, 3, 1, &err), -1);
    OOM_SWEEP({
        assert_int_equal(disks_mount(&d, "/nonexistent/agentsim", 3, 1, &err), -1);
        assert_null(d.dirs);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_bound_bytes_and_files),
        cmocka_unit_test(what_cannot_be_mounted_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
