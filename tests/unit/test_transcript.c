#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/holder/transcript.h"
#include "tests/support/oom.h"

static void both_sides_come_back_in_order_with_their_times(void **state)
{
    static const struct {
        enum hold_said who;
        int64_t at;
        const char *text;
    } said[] = { { HOLD_SAID_AGENT, 0, "hello" },
                 { HOLD_SAID_BROWSER, 1500, "" },
                 { HOLD_SAID_AGENT, 1501, "{\"a\":1}" } };
    struct transcript_entry e;
    struct transcript t;
    size_t at = 0, i;

    (void)state;
    transcript_init(&t, 4096, 100000, 77);
    assert_int_equal(transcript_next(&t, &at, &e), 0);
    for (i = 0; i < 3; i++)
        transcript_add(&t, said[i].who, 100000 + said[i].at, said[i].text, strlen(said[i].text));
    for (i = 0; i < 3; i++) {
        assert_int_equal(transcript_next(&t, &at, &e), 1);
        assert_int_equal(e.who, said[i].who);
        assert_int_equal(e.at_ms, said[i].at);
        assert_int_equal(e.len, strlen(said[i].text));
        assert_memory_equal(e.text, said[i].text, e.len);
    }
    assert_int_equal(transcript_next(&t, &at, &e), 0);
    assert_int_equal(t.cut, 0);
    assert_int_equal(t.began_wall_ms, 77);
    transcript_release(&t);
}

static size_t entries(const struct transcript *t)
{
    struct transcript_entry e;
    size_t at = 0, n = 0;

    while (transcript_next(t, &at, &e))
        n++;
    return n;
}

static void from_the_first_that_does_not_fit_nothing_is_kept_but_counted(void **state)
{
    char long_text[200] = { 0 };
    struct transcript t;

    (void)state;
    transcript_init(&t, 100, 0, 0);
    transcript_add(&t, HOLD_SAID_AGENT, 0, "short", 5);
    transcript_add(&t, HOLD_SAID_AGENT, 0, long_text, sizeof(long_text));
    transcript_add(&t, HOLD_SAID_AGENT, 0, "short", 5);
    assert_int_equal(entries(&t), 1);
    assert_int_equal(t.cut, 2);
    transcript_release(&t);
}

static void without_memory_it_is_cut(void **state)
{
    struct transcript t;

    (void)state;
    transcript_init(&t, 4096, 0, 0);
    oom_fail_at(1);
    transcript_add(&t, HOLD_SAID_AGENT, 0, "short", 5);
    oom_off();
    assert_int_equal(entries(&t), 0);
    assert_int_equal(t.cut, 1);
    transcript_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_come_back_in_order_with_their_times),
        cmocka_unit_test(from_the_first_that_does_not_fit_nothing_is_kept_but_counted),
        cmocka_unit_test(without_memory_it_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
