#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/multipart.h"
#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

#define TYPE "multipart/form-data; boundary=B"
#define PART(head, content) "--B\r\n" head "\r\n\r\n" content "\r\n"
#define FILE_HEAD "Content-Disposition: form-data; name=\"f\"; filename=\"x.py\""
#define END "--B--\r\n"

static void finds(const char *type, const char *body, const char *filename, const char *content)
{
    struct multipart_file file = { 0 };
    struct err err = { 0 };
    int rc = multipart_find(type, body, strlen(body), "f", &file, &err);

    if (rc != 1)
        fail_msg("%s: %d %s", body, rc, err.msg);
    assert_string_equal(file.filename ? file.filename : "-", filename ? filename : "-");
    assert_int_equal(file.len, strlen(content));
    assert_memory_equal(file.data, content, file.len);
    mem_free(file.filename);
}

static void a_file_is_found_with_its_name(void **state)
{
    (void)state;
    finds(TYPE, PART(FILE_HEAD, "a = 1") END, "x.py", "a = 1");
    finds(TYPE, PART(FILE_HEAD "\r\nContent-Type: text/x-python", "a") END, "x.py", "a");
    finds(TYPE, PART(FILE_HEAD, "") END, "x.py", "");
    finds(TYPE, PART(FILE_HEAD, "a\r\nb\r\n--\r\n--C\r\n") END, "x.py", "a\r\nb\r\n--\r\n--C\r\n");
    finds(TYPE, "preamble\r\n" PART(FILE_HEAD, "a") END "epilogue", "x.py", "a");
    finds(TYPE, "--B \t\r\n" FILE_HEAD "\r\n\r\na\r\n--B--", "x.py", "a");
    finds(TYPE, PART("Content-Disposition: form-data; name=other", "1") PART(FILE_HEAD, "a") END, "x.py", "a");
    finds(TYPE, PART("CONTENT-DISPOSITION:form-data;NAME=f;FILENAME=y.py", "a") END, "y.py", "a");
    finds(TYPE, PART("Content-Disposition: form-data; name=\"f\"", "a") END, NULL, "a");
    finds(TYPE, PART(FILE_HEAD, "a") PART("Content-Disposition: form-data; name=f; filename=z.py", "b") END, "z.py",
          "b");
}

static void names_may_hold_quotes_and_backslashes(void **state)
{
    (void)state;
    finds(TYPE, PART("Content-Disposition: form-data; name=\"f\"; filename=\"a\\\"b;c.py\"", "a") END, "a\"b;c.py",
          "a");
    finds(TYPE, PART("Content-Disposition: form-data; name=\"f\"; filename=\"C:\\dir\\x.py\"", "a") END,
          "C:\\dir\\x.py", "a");
    finds(TYPE, PART("Content-Disposition: form-data; filename=\"\xc3\xa9.py\"; name=\"f\"", "a") END, "\xc3\xa9.py",
          "a");
}

static void boundaries_may_be_quoted_and_long(void **state)
{
    char type[200], body[400], boundary[MULTIPART_BOUNDARY_MAX + 1];

    (void)state;
    memset(boundary, 'b', sizeof(boundary) - 1);
    boundary[sizeof(boundary) - 1] = '\0';
    snprintf(type, sizeof(type), "Multipart/Form-Data; charset=utf-8; Boundary=\"%s\"", boundary);
    snprintf(body, sizeof(body), "--%s\r\n" FILE_HEAD "\r\n\r\na\r\n--%s--\r\n", boundary, boundary);
    finds(type, body, "x.py", "a");
    finds("multipart/form-data; boundary=\"a b=c/d\"", "--a b=c/d\r\n" FILE_HEAD "\r\n\r\na\r\n--a b=c/d--", "x.py",
          "a");
}

static void a_body_without_the_field_has_none(void **state)
{
    struct multipart_file file = { 0 };
    struct err err = { 0 };
    const char *body = PART("Content-Disposition: form-data; name=\"g\"; filename=\"x.py\"", "a") END;

    (void)state;
    assert_int_equal(multipart_find(TYPE, body, strlen(body), "f", &file, &err), 0);
    assert_int_equal(multipart_find(TYPE, "--B--", 5, "f", &file, &err), 0);
    assert_int_equal(multipart_find(TYPE, "", 0, "f", &file, &err), 0);
    assert_int_equal(multipart_find("application/json", "{}", 2, "f", &file, &err), 0);
    assert_int_equal(multipart_find("multipart/mixed; boundary=B", body, strlen(body), "f", &file, &err), 0);
    assert_int_equal(multipart_find("multipart/form-datax; boundary=B", body, strlen(body), "f", &file, &err), 0);
    assert_int_equal(multipart_find("", "", 0, "f", &file, &err), 0);
    assert_null(file.filename);
}

static void malformed_bodies_are_refused(void **state)
{
    static const struct {
        const char *type, *body, *why;
    } rows[] = {
        { "multipart/form-data", "", "names no boundary" },
        { "multipart/form-data; boundary=", "", "boundary is malformed" },
        { "multipart/form-data; boundary=\"a\x01\"", "", "boundary is malformed" },
        { "multipart/form-data; boundary=\"a", "", "Content-Type is malformed" },
        { "multipart/form-data boundary=a", "x", "Content-Type is malformed" },
        { TYPE, "x--B\r\n", "boundary is nowhere" },
        { TYPE, "--Bx\r\n", "delimiter is malformed" },
        { TYPE, "--B\n" FILE_HEAD "\n\na\n--B--", "delimiter is malformed" },
        { TYPE, "--B\r\n" FILE_HEAD "\r\n\r\na\r\n--Bzz", "delimiter is malformed" },
        { TYPE, PART("Content-Type: text/plain", "a") END, "has no name" },
        { TYPE, PART("Content-Disposition: attachment; name=f", "a") END, "no form-data" },
        { TYPE, PART("Content-Disposition: form-data; name=\"f", "a") END, "Content-Disposition is malformed" },
        { TYPE, PART("Content-Disposition: form-data; name", "a") END, "Content-Disposition is malformed" },
        { TYPE, PART("no header", "a") END, "header line is malformed" },
        { TYPE, PART("X: a\nb", "a") END, "control character" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct multipart_file file = { 0 };
        struct err err = { 0 };

        assert_int_equal(multipart_find(rows[i].type, rows[i].body, strlen(rows[i].body), "f", &file, &err), -1);
        if (!strstr(err.msg, rows[i].why))
            fail_msg("row %zu: %s", i, err.msg);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        assert_null(file.filename);
    }
}

/* As the reference's web service: a file that did not arrive in full is none. */
static void a_body_that_ends_too_early_has_what_was_whole(void **state)
{
    static const char body[] = PART(FILE_HEAD, "a") PART("Content-Disposition: form-data; name=g", "b") END;
    const char *whole = strstr(body, "a\r\n--B\r\n") + 8;
    size_t n;

    (void)state;
    for (n = 0; n < sizeof(body); n++) {
        struct multipart_file file = { 0 };
        struct err err = { 0 };
        int rc = multipart_find(TYPE, body, n, "f", &file, &err);

        if (rc != (body + n >= whole))
            fail_msg("of %zu bytes: %d %s", n, rc, err.msg);
        mem_free(file.filename);
    }
}

static void heads_and_parts_are_bounded(void **state)
{
    struct multipart_file file = { 0 };
    struct err err = { 0 };
    struct buf b;
    size_t i;

    (void)state;
    buf_init(&b, 1u << 20);
    for (i = 0; i <= MULTIPART_PARTS_MAX; i++)
        buf_add_str(&b, PART("Content-Disposition: form-data; name=f", "a"));
    buf_add_str(&b, END);
    assert_int_equal(multipart_find(TYPE, b.data, b.len, "f", &file, &err), -1);
    assert_non_null(strstr(err.msg, "too many parts"));
    buf_clear(&b);
    buf_add_str(&b, "--B\r\nX: ");
    buf_add_repeat(&b, 'x', MULTIPART_HEAD_MAX);
    buf_add_str(&b, "\r\n\r\na\r\n--B--");
    assert_int_equal(multipart_find(TYPE, b.data, b.len, "f", &file, &err), -1);
    assert_non_null(strstr(err.msg, "does not end"));
    buf_release(&b);
}

static void short_memory_is_an_error(void **state)
{
    const char *body =
        PART("Content-Disposition: form-data; name=other", "1") PART(FILE_HEAD, "a") PART(FILE_HEAD, "b") END;

    (void)state;
    OOM_SWEEP({
        struct multipart_file file = { 0 };
        struct err err = { 0 };
        int rc = multipart_find(TYPE, body, strlen(body), "f", &file, &err);

        assert_true(rc == 1 || (rc == -1 && err.kind != ERR_NONE));
        mem_free(file.filename);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_found_with_its_name),
        cmocka_unit_test(names_may_hold_quotes_and_backslashes),
        cmocka_unit_test(boundaries_may_be_quoted_and_long),
        cmocka_unit_test(a_body_without_the_field_has_none),
        cmocka_unit_test(malformed_bodies_are_refused),
        cmocka_unit_test(heads_and_parts_are_bounded),
        cmocka_unit_test(short_memory_is_an_error),
        cmocka_unit_test(a_body_that_ends_too_early_has_what_was_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
