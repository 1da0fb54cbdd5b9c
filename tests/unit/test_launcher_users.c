#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/users.h"

struct fixture {
    char dir[64], path[80];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/agentsim-users-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->path, sizeof(f->path), "%s/lock", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    (void)unlink(f->path);
    (void)rmdir(f->dir);
    free(f);
    return 0;
}

/* Another service: it has those users until its pipe is closed. */
struct other {
    pid_t pid;
    int end;
};

static struct other other_has(const struct fixture *f, int64_t first, uint32_t n)
{
    int ready[2], end[2], fd;
    struct other o;
    struct err err;
    char c = 0;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    o.pid = fork();
    if (o.pid == 0) {
        close(end[1]);
        c = users_claim(f->path, first, n, &fd, &err) == 0 && fd >= 0;
        (void)!write(ready[1], &c, 1);
        (void)!read(end[0], &c, 1);
        _exit(0);
    }
    close(ready[1]);
    close(end[0]);
    o.end = end[1];
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 1);
    close(ready[0]);
    return o;
}

static void let_end(struct other o)
{
    close(o.end);
    assert_int_equal(waitpid(o.pid, NULL, 0), o.pid);
}

static void users_of_another_service_are_refused_until_its_end(void **state)
{
    static const struct {
        int64_t first;
        uint32_t n;
        int claimed;
    } rows[] = {
        { 100, 5, -1 }, { 104, 1, -1 },   { 98, 3, -1 },           { 90, 1000, -1 },
        { 95, 5, 0 },   { 105, 4096, 0 }, { 2000000000, 4096, 0 },
    };
    struct fixture *f = *state;
    struct other o = other_has(f, 100, 5);
    char number[16];
    struct err err;
    size_t i;
    int fd;

    (void)snprintf(number, sizeof(number), "process %d", (int)o.pid);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        fd = 7;
        assert_int_equal(users_claim(f->path, rows[i].first, rows[i].n, &fd, &err), rows[i].claimed);
        if (rows[i].claimed < 0) {
            assert_int_equal(fd, -1);
            assert_non_null(strstr(err.msg, number));
        } else {
            assert_true(fd >= 0);
            close(fd);
        }
    }
    let_end(o);
    assert_int_equal(users_claim(f->path, 100, 5, &fd, &err), 0);
    assert_true(fd >= 0);
    close(fd);
}

static void a_killed_service_gives_its_users_back(void **state)
{
    struct fixture *f = *state;
    struct other o = other_has(f, 100, 5);
    struct err err;
    int fd;

    assert_int_equal(kill(o.pid, SIGKILL), 0);
    let_end(o);
    assert_int_equal(users_claim(f->path, 100, 5, &fd, &err), 0);
    close(fd);
}

static void what_it_forks_does_not_keep_them(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int fd, again, status;
    pid_t pid;

    assert_int_equal(users_claim(f->path, 100, 5, &fd, &err), 0);
    pid = fork();
    if (pid == 0) {
        close(fd); /* as a cleaner does */
        _exit(users_claim(f->path, 100, 5, &again, &err) == 0 ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
}

static void without_a_file_nobody_is_asked(void **state)
{
    struct fixture *f = *state;
    char path[128];
    struct err err;
    int fd = 7;

    (void)snprintf(path, sizeof(path), "%s/none/lock", f->dir);
    assert_int_equal(users_claim(path, 100, 5, &fd, &err), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(users_claim(f->dir, 100, 5, &fd, &err), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(symlink("/etc/passwd", f->path), 0);
    assert_int_equal(users_claim(f->path, 100, 5, &fd, &err), 0);
    assert_int_equal(fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_of_another_service_are_refused_until_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_service_gives_its_users_back, setup, teardown),
        cmocka_unit_test_setup_teardown(what_it_forks_does_not_keep_them, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_file_nobody_is_asked, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
