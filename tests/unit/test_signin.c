#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/ipc/signin.h"

static void secrets_are_long_plain_and_never_the_same(void **state)
{
    char a[SIGNIN_TEXT_LEN + 1], b[SIGNIN_TEXT_LEN + 1];
    unsigned seen[256] = { 0 };
    struct err err;
    int i, k, kinds = 0;

    (void)state;
    assert_int_equal(signin_secret_new(a, &err), 0);
    assert_int_equal(signin_secret_new(b, &err), 0);
    assert_string_not_equal(a, b);
    for (i = 0; i < 300; i++) {
        assert_int_equal(signin_secret_new(a, &err), 0);
        assert_int_equal(strlen(a), SIGNIN_TEXT_LEN);
        assert_true(signin_secret_valid(a));
        for (k = 0; a[k]; k++)
            seen[(unsigned char)a[k]]++;
    }
    for (i = 0; i < 256; i++)
        kinds += seen[i] > 0;
    assert_int_equal(kinds, 64); /* every character of the alphabet comes up */
}

static void what_has_not_their_form_is_none(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",   /* 42 */
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", /* 44 */
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\xff",
    };
    struct signin_hash h;
    size_t i;

    (void)state;
    assert_false(signin_secret_valid(NULL));
    for (i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(signin_secret_valid(bad[i]));
        assert_int_equal(signin_hash_of(bad[i], &h), -1);
    }
}

static void an_actor_is_the_digest_of_its_session(void **state)
{
    char actor[RPC_ACTOR_MAX + 1];
    struct signin_hash a, b;

    (void)state;
    assert_int_equal(signin_hash_of("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &a), 0);
    assert_int_equal(signin_hash_of("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", &b), 0);
    assert_true(signin_hash_equal(&a, &a));
    assert_false(signin_hash_equal(&a, &b));
    signin_actor(&a, actor);
    /* printf %s AAA...A | sha256sum */
    assert_string_equal(actor, "gh:0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a");
}

static void names_and_pictures_are_those_that_github_makes(void **state)
{
    static const char *const logins[] = { "a", "octo-cat", "ada_corp", "a.b", "0" };
    static const char *const bad_logins[] = { "", "a b", "<b>", "a\n", "a/b", "\xc3\xa9", "a\"" };
    static const char *const avatars[] = { "", "https://a.example/u/1?v=4", "http://ghe.local/x" };
    static const char *const bad_avatars[] = { "x",           "javascript:alert(1)", "https://a b",
                                               "https://a\"", "https://\xc3\xa9",    "https://a\n",
                                               "ftp://a",     "https://a<b" };
    char longest[SIGNIN_LOGIN_MAX + 2];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(logins); i++)
        assert_true(signin_login_valid(logins[i]));
    for (i = 0; i < ARRAY_LEN(bad_logins); i++)
        assert_false(signin_login_valid(bad_logins[i]));
    for (i = 0; i < ARRAY_LEN(avatars); i++)
        assert_true(signin_avatar_valid(avatars[i]));
    for (i = 0; i < ARRAY_LEN(bad_avatars); i++)
        assert_false(signin_avatar_valid(bad_avatars[i]));
    memset(longest, 'a', sizeof(longest));
    longest[SIGNIN_LOGIN_MAX + 1] = '\0';
    assert_false(signin_login_valid(longest));
    longest[SIGNIN_LOGIN_MAX] = '\0';
    assert_true(signin_login_valid(longest));
}

static void a_digest_passes_the_wire_and_no_other_length_does(void **state)
{
    struct signin_hash sent, got;
    struct buf b;
    struct wire_in in;

    (void)state;
    memset(&sent, 0xa5, sizeof(sent));
    buf_init(&b, 1000);
    signin_put_hash(&b, &sent);
    wire_start(&in, b.data, b.len);
    signin_get_hash(&in, &got);
    assert_int_equal(wire_end(&in), 0);
    assert_true(signin_hash_equal(&sent, &got));
    buf_clear(&b);
    wire_put_bytes(&b, sent.b, SIGNIN_HASH - 1);
    wire_start(&in, b.data, b.len);
    signin_get_hash(&in, &got);
    assert_true(in.bad);
    assert_true(signin_hash_equal(&got, &(struct signin_hash){ { 0 } }));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_digest_passes_the_wire_and_no_other_length_does),
        cmocka_unit_test(secrets_are_long_plain_and_never_the_same),
        cmocka_unit_test(what_has_not_their_form_is_none),
        cmocka_unit_test(an_actor_is_the_digest_of_its_session),
        cmocka_unit_test(names_and_pictures_are_those_that_github_makes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
