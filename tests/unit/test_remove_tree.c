#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/remove_tree.h"

static int made(void **state)
{
    char path[] = "/tmp/agentsim-test-XXXXXX";

    if (!mkdtemp(path))
        return -1;
    *state = mem_strdup(path);
    return 0;
}

static int removed(void **state)
{
    char *path = *state;
    int r = rmdir(path); /* only an empty one goes */

    mem_free(path);
    return r;
}

static int top_of(void **state)
{
    int fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void make_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0400);

    assert_true(fd >= 0);
    close(fd);
}

static void an_empty_directory_is_fine(void **state)
{
    auto_fd int top = top_of(state);

    assert_int_equal(remove_tree(top), 0);
}

static void depth_and_number_do_not_matter(void **state)
{
    auto_fd int top = top_of(state);
    int dir = dup(top), i;
    char name[16];

    for (i = 0; i < 3000; i++) {
        int next;

        assert_int_equal(mkdirat(dir, "d0", 0700), 0); /* also the names that we use ourselves */
        make_file(dir, "d1");
        next = openat(dir, "d0", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = next;
        assert_true(dir >= 0);
    }
    for (i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        make_file(dir, name);
    }
    close(dir);
    assert_int_equal(remove_tree(top), 0);
}

static void modes_do_not_matter(void **state)
{
    auto_fd int top = top_of(state), dir = -1;

    assert_int_equal(mkdirat(top, "a", 0700), 0);
    assert_int_equal(mkdirat(top, "a/b", 0700), 0);
    assert_int_equal(mkdirat(top, "a/b/c", 0700), 0);
    dir = openat(top, "a/b/c", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_file(dir, "f");
    assert_int_equal(fchmodat(top, "a/b/c", 0, 0), 0);
    assert_int_equal(fchmodat(top, "a/b", 0500, 0), 0);
    assert_int_equal(fchmodat(top, "a", 0500, 0), 0);
    assert_int_equal(remove_tree(top), 0);
}

static void links_are_removed_not_followed(void **state)
{
    auto_fd int top = top_of(state), outside = -1;
    char path[] = "/tmp/agentsim-outside-XXXXXX";

    assert_non_null(mkdtemp(path));
    outside = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_file(outside, "precious");
    assert_int_equal(symlinkat(path, top, "out"), 0);
    assert_int_equal(symlinkat(".", top, "self"), 0);
    assert_int_equal(mkdirat(top, "d", 0700), 0);
    assert_int_equal(symlinkat(path, top, "d/out"), 0);
    assert_int_equal(mkfifoat(top, "d/fifo", 0), 0);
    assert_int_equal(remove_tree(top), 0);
    assert_int_equal(faccessat(outside, "precious", F_OK, 0), 0);
    unlinkat(outside, "precious", 0);
    rmdir(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_directory_is_fine, made, removed),
        cmocka_unit_test_setup_teardown(depth_and_number_do_not_matter, made, removed),
        cmocka_unit_test_setup_teardown(modes_do_not_matter, made, removed),
        cmocka_unit_test_setup_teardown(links_are_removed_not_followed, made, removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
