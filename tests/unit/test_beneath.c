#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/seal/seccomp.h"
#include "supervisor/holder/beneath.h"

struct place {
    char path[64];
    int root;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    snprintf(p->path, sizeof(p->path), "/tmp/agentsim-beneath-XXXXXX");
    if (!mkdtemp(p->path) || (p->root = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return -1;
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const rest[] = { "a/b/c", "a/b", "a", "f", "link", "dir", "fifo" };
    struct place *p = *state;
    size_t i;
    int r;

    for (i = 0; i < ARRAY_LEN(rest); i++)
        if (unlinkat(p->root, rest[i], 0) < 0)
            unlinkat(p->root, rest[i], AT_REMOVEDIR);
    close(p->root);
    r = rmdir(p->path);
    free(p);
    return r;
}

static void put(int root, const char *path, const char *text)
{
    auto_fd int fd = beneath_append(root, path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void files_grow_chunk_by_chunk_with_their_directories(void **state)
{
    struct place *p = *state;
    struct stat st;
    auto_fd int fd = -1;

    put(p->root, "a/b/c", "one");
    put(p->root, "a/b/c", "two");
    fd = beneath_open_file(p->root, "a/b/c", getuid(), &st, NULL);
    assert_true(fd >= 0);
    assert_int_equal(st.st_size, 6);
}

static void directories_are_made_once(void **state)
{
    struct place *p = *state;

    assert_int_equal(beneath_mkdir(p->root, "a/b"), 0);
    assert_int_equal(beneath_mkdir(p->root, "a/b"), 0);
    assert_int_equal(beneath_mkdir(p->root, "a"), 0);
    put(p->root, "f", "x");
    assert_int_equal(beneath_mkdir(p->root, "f"), -1);
    assert_int_equal(beneath_mkdir(p->root, "f/x"), -1);
    assert_int_equal(beneath_append(p->root, "a"), -1);
}

static void links_lead_nowhere(void **state)
{
    struct place *p = *state;
    struct stat st;
    struct err err = { 0 };

    assert_int_equal(symlinkat("/etc/passwd", p->root, "link"), 0);
    assert_int_equal(symlinkat("/etc", p->root, "dir"), 0);
    assert_int_equal(beneath_open_file(p->root, "link", getuid(), &st, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(beneath_open_file(p->root, "dir/passwd", getuid(), &st, &err), -1);
    assert_int_equal(beneath_append(p->root, "link"), -1);
    assert_int_equal(beneath_append(p->root, "dir/x"), -1);
    assert_int_equal(beneath_mkdir(p->root, "dir"), -1);
    assert_int_equal(beneath_mkdir(p->root, "dir/x"), -1);
    assert_int_equal(beneath_open(p->root, "../etc", O_RDONLY, 0), -1);
}

static void only_regular_files_of_the_owner_are_opened(void **state)
{
    struct place *p = *state;
    struct stat st;
    struct err err = { 0 };

    assert_int_equal(mkfifoat(p->root, "fifo", 0600), 0);
    put(p->root, "f", "x");
    assert_int_equal(beneath_mkdir(p->root, "a"), 0);
    assert_int_equal(beneath_open_file(p->root, "fifo", getuid(), &st, &err), -1);
    assert_int_equal(beneath_open_file(p->root, "a", getuid(), &st, &err), -1);
    assert_int_equal(beneath_open_file(p->root, "f", getuid() + 1, &st, &err), -1);
    assert_int_equal(beneath_open_file(p->root, "nothing", getuid(), &st, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

/* As on kernels before 5.6, and in containers whose filter does not know the call. For the rest of this process. */
static void refuse_openat2(void)
{
    static const struct seccomp_rule rule = { .call = "openat2", .errnum = ENOSYS, .reason = "the test's" };
    struct sock_fprog program;
    struct buf b;

    buf_init(&b, 1 << 16);
    if (seccomp_make(&b, &rule, 1, SECCOMP_REST_ALLOWED, NULL) < 0)
        abort();
    program = (struct sock_fprog){ (unsigned short)(b.len / sizeof(struct sock_filter)),
                                   (struct sock_filter *)(void *)b.data };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        abort();
    buf_release(&b);
}

static void the_call_is_not_there(void **state)
{
    (void)state;
    assert_int_equal(syscall(SYS_openat2, -1, "", NULL, 0), -1);
    assert_int_equal(errno, ENOSYS);
}

static void names_that_are_none_are_refused(void **state)
{
    static const char *const paths[] = { "", ".", "..", "a/..", "./a", "a//b", "a/", "/a" };
    struct place *p = *state;
    char longest[400];
    size_t i;

    assert_int_equal(beneath_mkdir(p->root, "a"), 0);
    for (i = 0; i < ARRAY_LEN(paths); i++)
        assert_int_equal(beneath_open(p->root, paths[i], O_WRONLY | O_CREAT, 0600), -1);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(beneath_open(p->root, longest, O_RDONLY, 0), -1);
}

int main(void)
{
    static const struct CMUnitTest first[] = {
        cmocka_unit_test(the_call_is_not_there),
        cmocka_unit_test_setup_teardown(names_that_are_none_are_refused, set_up, tear_down),
    };
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_grow_chunk_by_chunk_with_their_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories_are_made_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_lead_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_regular_files_of_the_owner_are_opened, set_up, tear_down),
    };

    int failed = cmocka_run_group_tests_name("with openat2", tests, NULL, NULL);

    refuse_openat2();
    failed += cmocka_run_group_tests_name("without openat2", first, NULL, NULL);
    failed += cmocka_run_group_tests_name("without openat2, all", tests, NULL, NULL);
    return failed;
}
