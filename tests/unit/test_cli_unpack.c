#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/cli/unpack.h"
#include "shared/diagram/check.h"
#include "tests/support/oom.h"
#include "tests/support/run_program.h"

struct place {
    char dir[64], out[96];
    struct bundle b;
};

static int setup(void **state)
{
    struct place *p = mem_zalloc(1, sizeof(*p));

    memcpy(p->dir, "/tmp/agentsim-unpack-XXXXXX", sizeof("/tmp/agentsim-unpack-XXXXXX"));
    if (!mkdtemp(p->dir))
        return -1;
    (void)snprintf(p->out, sizeof(p->out), "%s/out", p->dir);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    char rm[] = "/bin/rm", force[] = "-rf";
    char *argv[] = { rm, force, p->dir, NULL };
    auto_buf struct buf out;

    buf_init(&out, 1000);
    run_program(argv, "", 0, &out);
    bundle_release(&p->b);
    mem_free(p);
    return 0;
}

static void assert_file(const struct place *p, const char *name, const char *content, size_t len)
{
    auto_buf struct buf got;
    char path[256];

    buf_init(&got, 1000);
    (void)snprintf(path, sizeof(path), "%s/%s", p->out, name);
    assert_int_equal(io_read_file(path, &got, NULL), 0);
    assert_int_equal(got.len, len);
    assert_memory_equal(got.data, content, len);
}

static void files_and_folders_appear(void **state)
{
    struct place *p = *state;
    struct stat st;
    char path[256];

    bundle_add(&p->b, "agent.py", "x = 1\n", 6, NULL);
    bundle_add(&p->b, "skills/a/b.md", "a\0b", 3, NULL);
    str_list_add(&p->b.directories, "data/deep/er");
    assert_int_equal(cli_unpack(&p->b, p->out, NULL), 0);
    assert_file(p, "agent.py", "x = 1\n", 6);
    assert_file(p, "skills/a/b.md", "a\0b", 3);
    (void)snprintf(path, sizeof(path), "%s/data/deep/er", p->out);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(cli_unpack(&p->b, p->out, NULL), 0);
}

static void older_and_longer_files_are_replaced(void **state)
{
    struct place *p = *state;
    char path[256];

    assert_int_equal(mkdir(p->out, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/agent.py", p->out);
    assert_int_equal(io_write_file(path, "something longer", 16, 0644, NULL), 0);
    bundle_add(&p->b, "agent.py", "x", 1, NULL);
    assert_int_equal(cli_unpack(&p->b, p->out, NULL), 0);
    assert_file(p, "agent.py", "x", 1);
}

static void unsafe_paths_are_refused(void **state)
{
    static const char *const rows[] = { "../x", "/etc/x", "a/../../x", "a//b", "./a", "" };
    struct place *p = *state;
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *path = mem_strdup(rows[i]), *content = mem_strdup("x");
        struct bundle_file file = { .path = path, .content = content, .size = 1 };
        struct bundle b = { .files = &file, .files_len = 1 }; /* as bundle_add() would never make it */

        assert_int_equal(cli_unpack(&b, p->out, NULL), -1);
    }
}

static void links_are_never_followed(void **state)
{
    struct place *p = *state;
    char path[256], outside[256];
    struct stat st;

    assert_int_equal(mkdir(p->out, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/skills", p->out);
    assert_int_equal(symlink(p->dir, path), 0);
    (void)snprintf(path, sizeof(path), "%s/agent.py", p->out);
    (void)snprintf(outside, sizeof(outside), "%s/target", p->dir);
    assert_int_equal(symlink(outside, path), 0);
    bundle_add(&p->b, "skills/x.md", "x", 1, NULL);
    assert_int_equal(cli_unpack(&p->b, p->out, NULL), -1);
    bundle_release(&p->b);
    bundle_add(&p->b, "agent.py", "x", 1, NULL);
    assert_int_equal(cli_unpack(&p->b, p->out, NULL), -1);
    assert_int_equal(lstat(outside, &st), -1);
}

static void a_parent_that_does_not_exist_is_said(void **state)
{
    struct place *p = *state;
    struct err err = { 0 };

    bundle_add(&p->b, "agent.py", "x", 1, NULL);
    assert_int_equal(cli_unpack(&p->b, "/nowhere/at/all", &err), -1);
    assert_non_null(strstr(err.msg, "/nowhere/at/all"));
}

static void short_memory_stops_it(void **state)
{
    struct place *p = *state;

    bundle_add(&p->b, "a/b/c.py", "x", 1, NULL);
    str_list_add(&p->b.directories, "d/e");
    OOM_SWEEP({
        int r = cli_unpack(&p->b, p->out, NULL);

        assert_int_equal(r < 0, oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_and_folders_appear, setup, teardown),
        cmocka_unit_test_setup_teardown(older_and_longer_files_are_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(unsafe_paths_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(links_are_never_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_parent_that_does_not_exist_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(short_memory_stops_it, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
