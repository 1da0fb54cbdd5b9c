#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/err.h"
#include "shared/base/str.h"

static void a_sentence_carries_its_cause(void **state)
{
    struct err err = { .wait = 7 };

    (void)state;
    assert_int_equal(err_set(&err, ERR_INTERNAL, ENOENT, "open %s", "/x"), -1);
    assert_string_equal(err.msg, "open /x: No such file or directory");
    assert_int_equal(err.kind, ERR_INTERNAL);
    assert_int_equal(err.errnum, ENOENT);
    assert_int_equal(err.wait, 0);
    assert_int_equal(err_wrap(&err, "start agent %d", 7), -1);
    assert_string_equal(err.msg, "start agent 7: open /x: No such file or directory");
    assert_int_equal(err.kind, ERR_INTERNAL);
    err_clear(&err);
    assert_int_equal(err.kind, ERR_NONE);
    assert_string_equal(err.msg, "");
}

static void nobody_listening_is_fine(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_LIMIT, 0, "x"), -1);
    assert_int_equal(err_wrap(NULL, "x"), -1);
    assert_int_equal(err_nomem(NULL), -1);
    err_clear(NULL);
}

static void long_sentences_end_with_a_whole_character(void **state)
{
    struct err err;
    char text[1200];
    size_t i;

    (void)state;
    for (i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    err_set(&err, ERR_BAD_REQUEST, 0, "%s", text);
    assert_true(utf8_valid(err.msg, strlen(err.msg)));
    assert_in_range(strlen(err.msg), sizeof(err.msg) - 3, sizeof(err.msg) - 1);
    err_wrap(&err, "x");
    assert_true(utf8_valid(err.msg, strlen(err.msg)));
}

static void every_kind_has_a_status(void **state)
{
    static const struct {
        enum err_kind kind;
        int http;
    } rows[] = {
        { ERR_NONE, 200 },      { ERR_BAD_REQUEST, 400 }, { ERR_SCHEMA, 422 },      { ERR_AUTH, 401 },
        { ERR_FORBIDDEN, 403 }, { ERR_NOT_FOUND, 404 },   { ERR_LIMIT, 429 },       { ERR_TOO_LARGE, 413 },
        { ERR_CONFLICT, 409 },  { ERR_UPSTREAM, 502 },    { ERR_UNAVAILABLE, 503 }, { ERR_INTERNAL, 500 },
        { ERR__MAX, 500 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(err_http_status(rows[i].kind), rows[i].http);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_carries_its_cause),
        cmocka_unit_test(nobody_listening_is_fine),
        cmocka_unit_test(long_sentences_end_with_a_whole_character),
        cmocka_unit_test(every_kind_has_a_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
