#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "supervisor/signins.h"
#include "tests/support/oom.h"

#define NOW INT64_C(1800000000000)
#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define ME "ip:192.0.2.1"

static struct signin_hash hash(unsigned n)
{
    struct signin_hash h = { { 0 } };

    memcpy(h.b, &n, sizeof(n));
    return h;
}

static struct signins *make(void)
{
    struct signins_rule rule = signins_usual;
    struct signins *s;

    rule.talks = 2;
    s = signins_new(&rule);
    assert_non_null(s);
    return s;
}

static int begin(struct signins *s, unsigned state, unsigned browser, int64_t now)
{
    struct signin_hash a = hash(state), b = hash(browser);
    struct err err;

    return signins_begin(s, &a, &b, ME, now, &err);
}

/* 0, or the kind of the refusal. */
static enum err_kind take(struct signins *s, unsigned state, unsigned browser, int64_t now)
{
    struct signin_hash a = hash(state), b = hash(browser);
    struct err err;

    return signins_take(s, &a, &b, now, &err) == 0 ? ERR_NONE : err.kind;
}

static enum err_kind finish(struct signins *s, unsigned state, unsigned session, const char *login, int64_t now)
{
    struct signin_hash a = hash(state), b = hash(session);
    struct err err;

    return signins_make(s, &a, &b, login, "https://a.example/1", now, &err) == 0 ? ERR_NONE : err.kind;
}

static bool known(const struct signins *s, unsigned session, int64_t now)
{
    struct signin_hash h = hash(session);

    return signins_find(s, &h, now) != NULL;
}

/* The whole way. */
static void sign_in(struct signins *s, unsigned session, const char *login, int64_t now)
{
    assert_int_equal(begin(s, session, 7, now), 0);
    assert_int_equal(take(s, session, 7, now), ERR_NONE);
    assert_int_equal(finish(s, session, session, login, now), ERR_NONE);
}

static void a_session_lasts_a_day(void **state)
{
    struct signins *s = make();
    struct signin_hash h = hash(1);

    (void)state;
    sign_in(s, 1, "ada", NOW);
    assert_string_equal(signins_find(s, &h, NOW)->login, "ada");
    assert_string_equal(signins_find(s, &h, NOW)->avatar, "https://a.example/1");
    assert_true(known(s, 1, NOW + 24 * HOUR - 1));
    assert_false(known(s, 1, NOW + 24 * HOUR));
    assert_int_equal(signins_sessions(s), 1);
    signins_expire(s, NOW + 24 * HOUR);
    assert_int_equal(signins_sessions(s), 0);
    signins_free(s);
}

static void a_client_without_cookies_is_judged_by_its_state(void **state)
{
    static const struct signin_hash unknown;
    struct signins *s = make();
    struct signin_hash one = hash(1);
    struct err err;

    (void)state;
    begin(s, 1, 7, NOW);
    assert_int_equal(signins_take(s, &one, &unknown, NOW, &err), 0);
    assert_int_equal(signins_take(s, &one, &unknown, NOW, &err), -1);
    assert_int_equal(err.kind, ERR_AUTH);
    signins_free(s);
}

static void a_state_is_good_once_for_its_browser_and_ten_minutes(void **state)
{
    struct signins *s = make();

    (void)state;
    assert_int_equal(begin(s, 1, 7, NOW), 0);
    assert_int_equal(begin(s, 2, 7, NOW), 0);
    assert_int_equal(begin(s, 3, 7, NOW), 0);
    assert_int_equal(take(s, 1, 7, NOW + 10 * MINUTE - 1), ERR_NONE);
    assert_int_equal(take(s, 1, 7, NOW + 10 * MINUTE - 1), ERR_AUTH); /* once */
    assert_int_equal(take(s, 2, 8, NOW + 10 * MINUTE - 1), ERR_AUTH); /* another browser */
    assert_int_equal(take(s, 2, 7, NOW + 10 * MINUTE - 1), ERR_AUTH); /* used up by that */
    assert_int_equal(take(s, 3, 7, NOW + 10 * MINUTE), ERR_AUTH);     /* over */
    assert_int_equal(take(s, 4, 7, NOW), ERR_AUTH);                   /* never was */
    assert_int_equal(signins_states(s), 0);
    signins_free(s);
}

static void only_some_talk_with_github_at_a_time(void **state)
{
    struct signins *s = make();
    struct signin_hash first = hash(1);
    unsigned i;

    (void)state;
    for (i = 1; i <= 4; i++)
        assert_int_equal(begin(s, i, 7, NOW), 0);
    assert_int_equal(take(s, 1, 7, NOW), ERR_NONE);
    assert_int_equal(take(s, 2, 7, NOW), ERR_NONE);
    assert_int_equal(take(s, 3, 7, NOW), ERR_LIMIT);
    assert_int_equal(take(s, 4, 8, NOW), ERR_AUTH); /* who may not anyway learns nothing about the others */
    signins_give_up(s, &first);
    signins_give_up(s, &first);
    assert_int_equal(take(s, 3, 7, NOW), ERR_NONE); /* it was kept */
    assert_int_equal(finish(s, 1, 10, "ada", NOW), ERR_AUTH);
    assert_int_equal(finish(s, 2, 10, "ada", NOW), ERR_NONE);
    assert_int_equal(finish(s, 2, 11, "ada", NOW), ERR_AUTH); /* one session for one talk */
    signins_free(s);
}

static void a_talk_whose_worker_died_ends_by_itself(void **state)
{
    struct signins *s = make();
    unsigned i;

    (void)state;
    for (i = 1; i <= 3; i++)
        assert_int_equal(begin(s, i, 7, NOW), 0);
    assert_int_equal(take(s, 1, 7, NOW), ERR_NONE);
    assert_int_equal(take(s, 2, 7, NOW), ERR_NONE);
    assert_int_equal(take(s, 3, 7, NOW + signins_usual.talk_ms - 1), ERR_LIMIT);
    assert_int_equal(take(s, 3, 7, NOW + signins_usual.talk_ms), ERR_NONE);
    assert_int_equal(finish(s, 1, 10, "ada", NOW + signins_usual.talk_ms), ERR_AUTH);
    signins_free(s);
}

static void a_user_that_cannot_be_githubs_is_refused(void **state)
{
    struct signins *s = make();

    (void)state;
    assert_int_equal(begin(s, 1, 7, NOW), 0);
    assert_int_equal(take(s, 1, 7, NOW), ERR_NONE);
    assert_int_equal(finish(s, 1, 10, "a b", NOW), ERR_BAD_REQUEST);
    assert_false(known(s, 10, NOW));
    assert_int_equal(finish(s, 1, 10, "ada", NOW), ERR_AUTH);
    signins_free(s);
}

static void one_address_cannot_push_out_the_states_of_others(void **state)
{
    struct signins *s = make();
    struct signin_hash other = hash(100000), browser = hash(9);
    struct err err;
    unsigned i;

    (void)state;
    assert_int_equal(signins_begin(s, &other, &browser, "ip:192.0.2.2", NOW, &err), 0);
    for (i = 1; i <= 100; i++)
        assert_int_equal(begin(s, i, 7, NOW), 0);
    assert_int_equal(signins_states(s), 1 + signins_usual.states_per_actor);
    assert_int_equal(take(s, 84, 7, NOW), ERR_AUTH);
    assert_int_equal(take(s, 85, 7, NOW), ERR_NONE);
    assert_int_equal(signins_take(s, &other, &browser, NOW, &err), 0);
    signins_free(s);
}

static void the_tables_are_bounded_and_the_oldest_makes_room(void **state)
{
    struct signins_rule rule = signins_usual;
    struct signins *s;
    char actor[32];
    unsigned i;

    (void)state;
    rule.states = rule.sessions = 10;
    s = signins_new(&rule);
    for (i = 0; i < 50; i++) {
        struct signin_hash h = hash(i), b = hash(7);
        struct err err;

        snprintf(actor, sizeof(actor), "ip:192.0.2.%u", i);
        assert_int_equal(signins_begin(s, &h, &b, actor, NOW, &err), 0);
    }
    assert_int_equal(signins_states(s), 10);
    assert_int_equal(take(s, 39, 7, NOW), ERR_AUTH);
    assert_int_equal(take(s, 40, 7, NOW), ERR_NONE);
    assert_int_equal(finish(s, 40, 0, "zoe", NOW), ERR_NONE);
    for (i = 1; i <= 20; i++) {
        snprintf(actor, sizeof(actor), "user%u", i);
        sign_in(s, i, actor, NOW + i);
    }
    assert_int_equal(signins_sessions(s), 10);
    assert_false(known(s, 10, NOW + 20));
    assert_true(known(s, 11, NOW + 20));
    signins_free(s);
}

static void a_user_has_some_sessions_and_no_more(void **state)
{
    struct signins *s = make();
    unsigned i;

    (void)state;
    sign_in(s, 100, "bob", NOW);
    for (i = 1; i <= 20; i++)
        sign_in(s, i, "ada", NOW + i);
    assert_int_equal(signins_sessions(s), 1 + signins_usual.sessions_per_user);
    assert_true(known(s, 100, NOW + 20));
    assert_false(known(s, 12, NOW + 20));
    assert_true(known(s, 13, NOW + 20));
    signins_free(s);
}

static void who_signed_out_is_unknown(void **state)
{
    struct signins *s = make();
    struct signin_hash h = hash(1);

    (void)state;
    sign_in(s, 1, "ada", NOW);
    sign_in(s, 2, "ada", NOW);
    signins_end(s, &h);
    signins_end(s, &h);
    assert_false(known(s, 1, NOW));
    assert_true(known(s, 2, NOW));
    signins_free(s);
}

/* ---- as bytes ---- */

static void written(struct buf *b)
{
    struct signins *s = make();

    buf_init(b, 1u << 20);
    sign_in(s, 1, "ada", NOW);
    sign_in(s, 2, "bob", NOW + HOUR);
    begin(s, 3, 7, NOW + HOUR);
    signins_write(s, b);
    assert_false(buf_failed(b));
    signins_free(s);
}

static void what_is_written_is_read_again(void **state)
{
    struct signins *s = make();
    struct err err;
    struct buf b, again;

    (void)state;
    written(&b);
    assert_int_equal(signins_read(s, b.data, b.len, NOW + HOUR + MINUTE, &err), 0);
    assert_true(known(s, 1, NOW + HOUR) && known(s, 2, NOW + HOUR));
    assert_false(known(s, 1, NOW + 24 * HOUR));
    buf_init(&again, 1u << 20);
    signins_write(s, &again);
    assert_int_equal(again.len, b.len);
    assert_memory_equal(again.data, b.data, b.len);
    assert_int_equal(take(s, 3, 7, NOW + HOUR + MINUTE), ERR_NONE);
    buf_release(&again);
    buf_release(&b);
    signins_free(s);
}

static void what_is_over_is_left_out_and_a_clock_set_back_prolongs_nothing(void **state)
{
    struct signins *s = make();
    struct err err;
    struct buf b;

    (void)state;
    written(&b);
    assert_int_equal(signins_read(s, b.data, b.len, NOW + 24 * HOUR + MINUTE, &err), 0);
    assert_false(known(s, 1, NOW));
    assert_true(known(s, 2, NOW + 24 * HOUR + MINUTE));
    assert_int_equal(signins_states(s), 0);
    assert_int_equal(signins_read(s, b.data, b.len, NOW - 100 * HOUR, &err), 0);
    assert_true(known(s, 1, NOW - 77 * HOUR));
    assert_false(known(s, 1, NOW - 76 * HOUR));
    buf_release(&b);
    signins_free(s);
}

static void a_clock_that_is_set_takes_every_end_along(void **state)
{
    static const int64_t jumps[] = { HOUR, -HOUR, 10 * 365 * 24 * HOUR, -20 * 365 * 24 * HOUR };
    struct signins *s = make();
    int64_t now = NOW;
    size_t i;

    (void)state;
    sign_in(s, 100, "ada", now);
    assert_int_equal(begin(s, 1, 2, now), 0);
    assert_int_equal(begin(s, 3, 4, now), 0);
    assert_int_equal(take(s, 3, 4, now), ERR_NONE);
    for (i = 0; i < ARRAY_LEN(jumps); i++) {
        struct signin_hash session = hash(100);

        signins_shift(s, jumps[i]);
        now += jumps[i];
        signins_expire(s, now);
        assert_non_null(signins_find(s, &session, now + 24 * HOUR - 1));
        assert_null(signins_find(s, &session, now + 24 * HOUR));
    }
    assert_int_equal(take(s, 1, 2, now + 10 * MINUTE - 1), ERR_NONE);
    signins_free(s);
    s = make();
    assert_int_equal(begin(s, 3, 4, NOW), 0);
    assert_int_equal(take(s, 3, 4, NOW), ERR_NONE);
    signins_shift(s, HOUR);
    assert_int_equal(finish(s, 3, 101, "bob", NOW + HOUR), ERR_NONE);
    signins_free(s);
}

static void bytes_cut_anywhere_are_refused_as_a_whole(void **state)
{
    struct signins *s = make();
    struct err err;
    struct buf b;
    size_t n;

    (void)state;
    written(&b);
    for (n = 0; n < b.len; n++) {
        auto_free char *exact = mem_dup(b.data, n);

        assert_int_equal(signins_read(s, exact, n, NOW + HOUR, &err), -1);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        assert_int_equal(signins_sessions(s) + signins_states(s), 0);
    }
    buf_add_char(&b, 'x');
    assert_int_equal(signins_read(s, b.data, b.len, NOW + HOUR, &err), -1);
    buf_release(&b);
    signins_free(s);
}

static void short_memory_is_an_error_and_nothing_else(void **state)
{
    struct buf b;

    (void)state;
    written(&b);
    OOM_SWEEP({
        struct signins_rule rule = signins_usual;
        struct signins *s = signins_new(&rule);
        struct err err;

        if (s) {
            if (signins_read(s, b.data, b.len, NOW + HOUR, &err) < 0)
                assert_int_equal(signins_sessions(s), 0);
            if (begin(s, 9, 7, NOW + HOUR) == 0 && take(s, 9, 7, NOW + HOUR) == ERR_NONE)
                (void)finish(s, 9, 9, "eve", NOW + HOUR);
        }
        signins_free(s);
    });
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_lasts_a_day),
        cmocka_unit_test(a_client_without_cookies_is_judged_by_its_state),
        cmocka_unit_test(a_state_is_good_once_for_its_browser_and_ten_minutes),
        cmocka_unit_test(only_some_talk_with_github_at_a_time),
        cmocka_unit_test(a_talk_whose_worker_died_ends_by_itself),
        cmocka_unit_test(a_user_that_cannot_be_githubs_is_refused),
        cmocka_unit_test(one_address_cannot_push_out_the_states_of_others),
        cmocka_unit_test(the_tables_are_bounded_and_the_oldest_makes_room),
        cmocka_unit_test(a_user_has_some_sessions_and_no_more),
        cmocka_unit_test(who_signed_out_is_unknown),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_is_over_is_left_out_and_a_clock_set_back_prolongs_nothing),
        cmocka_unit_test(a_clock_that_is_set_takes_every_end_along),
        cmocka_unit_test(bytes_cut_anywhere_are_refused_as_a_whole),
        cmocka_unit_test(short_memory_is_an_error_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
