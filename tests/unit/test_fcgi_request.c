#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/request.h"
#include "shared/base/mem.h"

static int feed(void *port, struct buf *body, struct err *err)
{
    const char *text = port;

    if (strlen(text) > body->max)
        return err_set(err, ERR_TOO_LARGE, 0, "too large");
    return buf_add_str(body, text);
}

static void parameters_are_found_by_their_whole_name(void **state)
{
    char *params[] = { (char[]){ "REQUEST_METHODX=PUT" },
                       (char[]){ "REQUEST_METHOD=POST" },
                       (char[]){ "REQUEST_URI=/a?b" },
                       (char[]){ "SURFACE=public" },
                       (char[]){ "EMPTY=" },
                       (char[]){ "NOVALUE" },
                       NULL };
    struct request r;
    struct err err;

    (void)state;
    assert_int_equal(request_init(&r, params, &err), 0);
    assert_int_equal(r.method, METHOD_POST);
    assert_int_equal(r.surface, SURFACE_PUBLIC);
    assert_string_equal(r.target.query, "b");
    assert_string_equal(request_param(&r, "EMPTY"), "");
    assert_string_equal(request_param(&r, "NOVALUE"), "");
    assert_string_equal(request_param(&r, "NONE"), "");
    request_release(&r);
    request_release(NULL);
}

static void only_the_word_public_opens_the_public_surface(void **state)
{
    static const char *const words[] = { "SURFACE=", "SURFACE=internal", "SURFACE=Public", "SURFACE=publicx",
                                         "X=public" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(words); i++) {
        char text[40];
        char *params[] = { text, (char[]){ "REQUEST_URI=/" }, NULL };
        struct request r;
        struct err err;

        snprintf(text, sizeof(text), "%s", words[i]);
        assert_int_equal(request_init(&r, params, &err), 0);
        assert_int_equal(r.surface, SURFACE_INTERNAL);
        assert_int_equal(r.method, METHOD_OTHER);
        request_release(&r);
    }
}

static void bodies_stop_at_their_ceiling(void **state)
{
    static const struct {
        const char *announced, *text;
        int done;
    } rows[] = {
        { "CONTENT_LENGTH=3", "abc", 0 },
        { "CONTENT_LENGTH=", "abc", 0 },
        { "CONTENT_LENGTH=4", "abc", 0 },
        { "CONTENT_LENGTH=5", "abc", -1 },
        { "CONTENT_LENGTH=-1", "abc", -1 },
        { "CONTENT_LENGTH=x", "abc", -1 },
        { "CONTENT_LENGTH=99999999999999999999", "abc", -1 },
        { "CONTENT_LENGTH=3", "abcde", -1 }, /* more than announced, and more than allowed */
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char text[60];
        char *params[] = { text, (char[]){ "REQUEST_URI=/" }, NULL };
        struct request r;
        struct err err;

        snprintf(text, sizeof(text), "%s", rows[i].announced);
        assert_int_equal(request_init(&r, params, &err), 0);
        r.read_body = feed;
        r.port = (char *)(uintptr_t)rows[i].text;
        assert_int_equal(request_load_body(&r, 4, &err), rows[i].done);
        if (rows[i].done == 0)
            assert_string_equal(r.body.data, rows[i].text);
        else
            assert_int_equal(err.kind, ERR_TOO_LARGE);
        request_release(&r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_found_by_their_whole_name),
        cmocka_unit_test(only_the_word_public_opens_the_public_surface),
        cmocka_unit_test(bodies_stop_at_their_ceiling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
