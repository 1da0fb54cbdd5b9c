#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/cors.h"
#include "shared/base/mem.h"

static struct config config = { .cors_origins = (char[]){ "https://a.example, http://b.example:81" } };

static int nobody(void *port, const void *data, size_t len)
{
    (void)port;
    (void)data;
    (void)len;
    return 0;
}

/* Headers that an answer gets; *ret_status: of the preflight, 0 when it is none. */
static const char *ask(const char *method, const char *surface, const char *origin, const char *wants,
                       const char *headers, int *ret_status)
{
    static char out[2000];
    char m[60], s[60], o[200], w[60], h[300];
    char *params[] = { m, s, o, w, h, (char[]){ "REQUEST_URI=/x" }, NULL };
    struct request rq;
    struct reply rp;
    struct err err;

    snprintf(m, sizeof(m), "REQUEST_METHOD=%s", method);
    snprintf(s, sizeof(s), "SURFACE=%s", surface);
    snprintf(o, sizeof(o), "HTTP_ORIGIN=%s", origin);
    snprintf(w, sizeof(w), "HTTP_ACCESS_CONTROL_REQUEST_METHOD=%s", wants);
    snprintf(h, sizeof(h), "HTTP_ACCESS_CONTROL_REQUEST_HEADERS=%s", headers);
    assert_int_equal(request_init(&rq, params, &err), 0);
    reply_init(&rp, nobody, NULL);
    cors_apply(&config, &rq, &rp);
    *ret_status = cors_preflight(&config, &rq, &rp) ? rp.status : 0;
    snprintf(out, sizeof(out), "%s", rp.headers.data ? rp.headers.data : "");
    reply_release(&rp);
    request_release(&rq);
    return out;
}

static void configured_origins_are_named_in_the_answer(void **state)
{
    int status;

    (void)state;
    assert_string_equal(
        ask("GET", "public", "https://a.example", "", "", &status),
        "Vary: Origin\r\nAccess-Control-Allow-Origin: https://a.example\r\n"
        "Access-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: Content-Disposition\r\n");
    assert_int_equal(status, 0);
    assert_non_null(strstr(ask("GET", "public", "http://b.example:81", "", "", &status), "http://b.example:81\r\n"));
}

static void others_get_nothing(void **state)
{
    static const char *const origins[] = { "https://a.example.evil",
                                           "https://a.exampl",
                                           "http://a.example",
                                           "null",
                                           "https://a.example, http://b.example:81",
                                           "HTTPS://A.EXAMPLE",
                                           "*",
                                           "," };
    size_t i;
    int status;

    (void)state;
    for (i = 0; i < ARRAY_LEN(origins); i++)
        assert_string_equal(ask("GET", "public", origins[i], "", "", &status), "Vary: Origin\r\n");
    assert_string_equal(ask("GET", "public", "", "", "", &status), "");
    assert_string_equal(ask("GET", "internal", "https://a.example", "", "", &status), "");
}

static void preflights_are_judged_by_origin_method_and_headers(void **state)
{
    static const struct {
        const char *surface, *origin, *wants, *headers;
        int status;
    } rows[] = {
        { "public", "https://a.example", "POST", "", 200 },
        { "public", "https://a.example", "DELETE", "content-type,x-github-session , Accept", 200 },
        { "public", "https://evil.example", "POST", "", 400 },
        { "public", "https://a.example", "PATCH", "", 400 },
        { "public", "https://a.example", "POST", "X-Agent-Simulator-Token", 400 },
        { "public", "https://a.example", "", "", 0 },
        { "public", "", "POST", "", 0 },
        { "internal", "https://a.example", "POST", "", 0 },
    };
    size_t i;
    int status;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const char *headers = ask("OPTIONS", rows[i].surface, rows[i].origin, rows[i].wants, rows[i].headers, &status);

        assert_int_equal(status, rows[i].status);
        assert_int_equal(strstr(headers, "Access-Control-Max-Age: 600\r\n") != NULL, status == 200);
        assert_int_equal(strstr(headers, "Access-Control-Allow-Methods: GET, POST, PUT, DELETE, OPTIONS\r\n") != NULL,
                         status == 200);
    }
    ask("POST", "public", "https://a.example", "POST", "", &status);
    assert_int_equal(status, 0);
}

static void a_star_lets_all_in_without_credentials(void **state)
{
    struct config before = config;
    int status;

    (void)state;
    config.cors_origins = (char[]){ "*" };
    assert_string_equal(
        ask("GET", "public", "https://any.example", "", "", &status),
        "Vary: Origin\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: Content-Disposition\r\n");
    config = before;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(configured_origins_are_named_in_the_answer),
        cmocka_unit_test(others_get_nothing),
        cmocka_unit_test(preflights_are_judged_by_origin_method_and_headers),
        cmocka_unit_test(a_star_lets_all_in_without_credentials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
