#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/relay/auth.h"
#include "tests/support/oom.h"

static void right_first_frames_are_understood(void **state)
{
    static const struct {
        const char *text;
        struct auth want;
    } rows[] = {
        { "{\"type\":\"auth\"}", { 0 } },
        { "{\"type\":\"auth\",\"githubSession\":null}", { 0 } },
        { "{\"type\":\"auth\",\"githubSession\":\"\"}", { 0 } },
        { "\xef\xbb\xbf {\"githubSession\":\"x\",\"type\":\"auth\"}\n", { .signed_in = true } },
        { "{\"type\":\"auth\",\"received\":0}", { .resumes = true } },
        { "{\"type\":\"auth\",\"received\":7.0}", { .resumes = true, .received = 7 } },
        { "{\"type\":\"auth\",\"received\":9007199254740992}", { .resumes = true, .received = 9007199254740992 } },
        { "{\"type\":\"auth\",\"received\":null,\"features\":null}", { 0 } },
        { "{\"type\":\"auth\",\"features\":[]}", { 0 } },
        { "{\"type\":\"auth\",\"features\":[1,\"later\",{},\"exit\"]}", { .wants_exit = true } },
        { "{\"type\":\"hello\",\"type\":\"auth\"}", { 0 } }, /* the last of equal keys counts */
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct auth a;
        struct err err;

        assert_int_equal(auth_parse(rows[i].text, strlen(rows[i].text), &a, &err), 0);
        assert_int_equal(a.signed_in, rows[i].want.signed_in);
        assert_int_equal(a.resumes, rows[i].want.resumes);
        assert_int_equal(a.received, rows[i].want.received);
        assert_int_equal(a.wants_exit, rows[i].want.wants_exit);
    }
}

static void the_session_of_a_sign_in_is_kept_as_its_digest_only(void **state)
{
    static const char id[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    static const char short_one[] = "{\"type\":\"auth\",\"githubSession\":\"x\"}";
    char text[128] = "{\"type\":\"auth\",\"githubSession\":\"";
    struct signin_hash want;
    struct auth a;
    struct err err;

    (void)state;
    strncat(text, id, sizeof(text) - strlen(text) - 1);
    strncat(text, "\"}", sizeof(text) - strlen(text) - 1);
    assert_int_equal(auth_parse(text, strlen(text), &a, &err), 0);
    assert_int_equal(signin_hash_of(id, &want), 0);
    assert_true(a.signed_in && a.well_formed && signin_hash_equal(&a.signin, &want));
    assert_int_equal(auth_parse(short_one, strlen(short_one), &a, &err), 0);
    assert_true(a.signed_in && !a.well_formed);
}

static void wrong_first_frames_are_refused_with_a_sentence(void **state)
{
    static const char *const rows[] = {
        "",
        " ",
        "auth",
        "null",
        "1",
        "\"auth\"",
        "[{\"type\":\"auth\"}]",
        "{}",
        "{\"type\":null}",
        "{\"type\":\"Auth\"}",
        "{\"type\":\"auth\"",
        "{\"type\":\"auth\"}x",
        "{\"Type\":\"auth\"}",
        "{\"type\":\"auth\",\"githubSession\":1}",
        "{\"type\":\"auth\",\"githubSession\":[]}",
        "{\"type\":\"auth\",\"githubSession\":false}",
        "{\"type\":\"auth\",\"received\":-1}",
        "{\"type\":\"auth\",\"received\":0.5}",
        "{\"type\":\"auth\",\"received\":\"1\"}",
        "{\"type\":\"auth\",\"received\":1e16}",
        "{\"type\":\"auth\",\"received\":1e999}",
        "{\"type\":\"auth\",\"received\":true}",
        "{\"type\":\"auth\",\"features\":{}}",
        "{\"type\":\"auth\",\"features\":\"exit\"}",
        "{\"type\":\"auth\",\"received\":NaN}",
        "{\"type\":\"au\\u0000th\"}",
        "{\"type\":\"auth\xff\"}",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct auth a = { .received = 77 };
        struct err err;

        assert_int_equal(auth_parse(rows[i], strlen(rows[i]), &a, &err), -1);
        assert_int_equal(err.kind, ERR_AUTH);
        assert_true(err.msg[0] != '\0');
        assert_int_equal(a.received, 77);
    }
}

static void a_first_frame_may_be_as_long_as_it_may_be(void **state)
{
    static char text[AUTH_FRAME_MAX + 1] = "{\"type\":\"auth\"}";
    struct auth a;
    struct err err;

    (void)state;
    memset(text + strlen(text), ' ', sizeof(text) - strlen(text));
    assert_int_equal(auth_parse(text, AUTH_FRAME_MAX, &a, &err), 0);
    assert_int_equal(auth_parse(text, AUTH_FRAME_MAX + 1, &a, &err), -1);
}

static void without_memory_nobody_comes_in(void **state)
{
    static const char text[] = "{\"type\":\"auth\",\"features\":[\"exit\"],\"received\":3}";

    (void)state;
    OOM_SWEEP({
        struct auth a;
        struct err err;

        if (auth_parse(text, strlen(text), &a, &err) < 0)
            assert_int_equal(err.kind, ERR_AUTH);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_first_frames_are_understood),
        cmocka_unit_test(the_session_of_a_sign_in_is_kept_as_its_digest_only),
        cmocka_unit_test(wrong_first_frames_are_refused_with_a_sentence),
        cmocka_unit_test(a_first_frame_may_be_as_long_as_it_may_be),
        cmocka_unit_test(without_memory_nobody_comes_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
