#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/launcher/locks.h"

static void who_holds_a_lock_stands_in_its_line(void **state)
{
    static const struct {
        const char *line;
        pid_t pid; /* 0: no such line */
    } rows[] = {
        { "1: POSIX  ADVISORY  WRITE 1234 00:1a:55 0 EOF\n", 1234 },
        { "22: FLOCK  ADVISORY  READ 7 08:01:1048599 0 EOF\n", 7 },
        { "3: -> POSIX  ADVISORY  WRITE 99 00:1a:55 4 4\n", 99 },
        { "4: POSIX  *NOINODE* WRITE 5 <none>:0 0 EOF\n", 5 },
        { "5: OFDLCK ADVISORY  WRITE -1 00:1a:55 0 EOF\n", 0 },
        { "6: POSIX  ADVISORY  WRITE 0 00:1a:55 0 EOF\n", 0 },
        { "7: POSIX  ADVISORY\n", 0 },
        { "POSIX  ADVISORY  WRITE 1234 00:1a:55 0 EOF\n", 0 },
        { ": POSIX  ADVISORY  WRITE 1234 00:1a:55 0 EOF\n", 0 },
        { "\n", 0 },
        { "", 0 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        pid_t pid = 0;

        assert_int_equal(locks_parse_line(rows[i].line, &pid), rows[i].pid ? 0 : -1);
        assert_int_equal(pid, rows[i].pid);
    }
}

static void a_user_is_read_also_of_a_process_whose_first_thread_has_ended(void **state)
{
    uid_t uid = 0;

    (void)state;
    assert_int_equal(locks_parse_user("Name:\ta\nState:\tZ (zombie)\nUid:\t20003\t1\t2\t3\n", &uid), 0);
    assert_int_equal(uid, 20003);
    assert_int_equal(locks_parse_user("Name:\ta\nState:\tZ (zombie)\nUid:\tx\n", &uid), -1);
    assert_int_equal(locks_parse_user("Name:\ta\n", &uid), -1);
    assert_int_equal(locks_parse_user("", &uid), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_holds_a_lock_stands_in_its_line),
        cmocka_unit_test(a_user_is_read_also_of_a_process_whose_first_thread_has_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
