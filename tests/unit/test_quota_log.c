#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/quota_log.h"
#include "tests/support/oom.h"

#define WINDOW 60000

static const struct quota_rule rule = { WINDOW, 3, 100 };

static int setup(void **state)
{
    char *dir = mem_strdup("/tmp/agentsim-rates-XXXXXX");

    log_setup("agentsim", false, LOG__MAX);
    *state = dir;
    return dir && mkdtemp(dir) ? 0 : -1;
}

static void path_of(char out[300], const char *dir, const char *file)
{
    (void)snprintf(out, 300, "%s/rates%s", dir, file);
}

static int teardown(void **state)
{
    char path[300];

    path_of(path, *state, "/now");
    unlink(path);
    path_of(path, *state, "/before");
    unlink(path);
    path_of(path, *state, "");
    rmdir(path);
    rmdir(*state);
    mem_free(*state);
    return 0;
}

/* Knocks that pass at that time, after a restart. */
static int left(const char *dir, int64_t now_ms)
{
    struct quota *q = quota_new(&rule);
    struct quota_log l;
    int n = 0;

    assert_non_null(q);
    quota_log_open(&l, dir, WINDOW, q, now_ms);
    while (quota_hit(q, "ip:192.0.2.1", now_ms, NULL) == 0)
        n++;
    quota_log_close(&l);
    quota_free(q);
    return n;
}

static void knock(const char *dir, int64_t now_ms)
{
    struct quota *q = quota_new(&rule);
    struct quota_log l;

    assert_non_null(q);
    quota_log_open(&l, dir, WINDOW, q, now_ms);
    quota_log_add(&l, "ip:192.0.2.1", now_ms);
    quota_log_close(&l);
    quota_free(q);
}

static void knocks_of_the_window_count_after_a_restart(void **state)
{
    const char *dir = *state;

    assert_int_equal(left(dir, 1000000), 3);
    knock(dir, 1000000);
    knock(dir, 1030000);
    assert_int_equal(left(dir, 1030000), 1);
    assert_int_equal(left(dir, 1060001), 2);
    assert_int_equal(left(dir, 1090001), 3);
}

static void a_file_that_is_old_makes_room_and_is_read_once_more(void **state)
{
    struct quota *q = quota_new(&rule);
    struct quota_log l;
    char path[300];

    quota_log_open(&l, *state, WINDOW, q, 0);
    quota_log_add(&l, "ip:192.0.2.1", 59000);
    quota_log_add(&l, "ip:192.0.2.1", 61000); /* a new file */
    quota_log_close(&l);
    quota_free(q);
    path_of(path, *state, "/before");
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(left(*state, 61000), 1);
}

static void strange_bytes_are_passed_over(void **state)
{
    static const char *const texts[] = { "", "\n", "boot x\n1 a\n", "no\nlines", "\n\n\n 5 6\n" };
    struct err err;
    char path[300];
    size_t i;

    knock(*state, 1000);
    path_of(path, *state, "/now");
    for (i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(io_write_file(path, texts[i], strlen(texts[i]), 0600, &err), 0);
        assert_int_equal(left(*state, 1000), 3);
    }
    knock(*state, 1000); /* and kept no longer */
    assert_int_equal(left(*state, 1000), 2);
}

static void without_memory_or_place_it_forgets(void **state)
{
    struct quota *q = quota_new(&rule);
    struct quota_log l;

    (void)state;
    quota_log_open(&l, "/nonexistent/place", WINDOW, q, 1000);
    quota_log_add(&l, "ip:192.0.2.1", 1000);
    quota_log_close(&l);
    knock(*state, 1000);
    OOM_SWEEP({
        quota_log_open(&l, *state, WINDOW, q, 1000);
        quota_log_close(&l);
    });
    quota_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(knocks_of_the_window_count_after_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_old_makes_room_and_is_read_once_more, setup, teardown),
        cmocka_unit_test_setup_teardown(strange_bytes_are_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_or_place_it_forgets, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
