#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/route.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

static void handle(struct worker *w, struct request *rq, struct reply *rp)
{
    (void)w;
    (void)rq;
    (void)rp;
}

static const struct route table[] = {
    { METHOD_GET, SURFACE_PUBLIC, "/health", handle, 0, "a" },
    { METHOD_GET, SURFACE_PUBLIC, "/api/", handle, 0, "b" },
    { METHOD_POST, SURFACE_PUBLIC, "/api/s", handle, 0, "c" },
    { METHOD_GET, SURFACE_PUBLIC, "/api/s/{id}", handle, 0, "d" },
    { METHOD_DELETE, SURFACE_PUBLIC, "/api/s/{id}", handle, 0, "e" },
    { METHOD_GET, SURFACE_PUBLIC, "/api/s/{id}/files", handle, 0, "f" },
    { METHOD_GET, SURFACE_PUBLIC, "/api/s/{id}/files/{path*}", handle, 0, "g" },
    { METHOD_GET, SURFACE_INTERNAL, "/health", handle, 0, "h" },
};

struct outcome {
    char found; /* summary of the route, '-' for none */
    unsigned allow;
    char args[2][64];
};

static struct outcome look_up(const char *method, const char *uri, const char *surface)
{
    char m[40], u[300], s[40];
    char *params[] = { m, u, s, NULL };
    struct outcome o = { .found = '-' };
    const struct route *route;
    struct request rq;
    struct err err = { 0 };
    size_t i;

    snprintf(m, sizeof(m), "REQUEST_METHOD=%s", method);
    snprintf(u, sizeof(u), "REQUEST_URI=%s", uri);
    snprintf(s, sizeof(s), "SURFACE=%s", surface);
    assert_int_equal(request_init(&rq, params, &err), 0);
    route = route_find(table, ARRAY_LEN(table), &rq, &o.allow, &err);
    if (route)
        o.found = route->summary[0];
    for (i = 0; i < 2; i++)
        snprintf(o.args[i], sizeof(o.args[i]), "%s", rq.args[i] ? rq.args[i] : "");
    request_release(&rq);
    return o;
}

static void addresses_find_their_row(void **state)
{
    static const struct {
        const char *method, *uri;
        char found;
        const char *args[2];
    } rows[] = {
        { "GET", "/health", 'a', { "", "" } },
        { "HEAD", "/health", 'a', { "", "" } },
        { "GET", "/he%61lth", 'a', { "", "" } },
        { "GET", "/health?x", 'a', { "", "" } },
        { "GET", "/api/", 'b', { "", "" } },
        { "POST", "/api/s", 'c', { "", "" } },
        { "GET", "/api/s/1", 'd', { "1", "" } },
        { "DELETE", "/api/s/1", 'e', { "1", "" } },
        { "DELETE", "/api/s/..%2f..%2fetc", 'e', { "../../etc", "" } },
        { "GET", "/api/s/1/files", 'f', { "1", "" } },
        { "GET", "/api/s/1/files/a/b%2Fc/..", 'g', { "1", "a/b/c/.." } },
        { "GET", "/api/s/1/files//etc", 'g', { "1", "/etc" } },
        { "GET",
          "/api/s/1/files/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15",
          'g',
          { "1", "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15" } },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct outcome o = look_up(rows[i].method, rows[i].uri, "public");

        if (o.found != rows[i].found)
            fail_msg("%s %s finds %c", rows[i].method, rows[i].uri, o.found);
        assert_string_equal(o.args[0], rows[i].args[0]);
        assert_string_equal(o.args[1], rows[i].args[1]);
    }
}

static void near_misses_find_nothing(void **state)
{
    static const char *const uris[] = {
        "/",
        "/Health",
        "/health/",
        "//health",
        "/health//",
        "/health/x",
        "/api",
        "/api//",
        "/api/s/",
        "/api//s",
        "/api/s//files",
        "/api/./s",
        "/api/s/1/file",
        "/api/s/1/files2",
        "/api%2Fs",
        "/api/s/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(uris); i++) {
        struct outcome o = look_up("GET", uris[i], "public");

        if (o.found != '-' || o.allow)
            fail_msg("%s finds %c, allows %u", uris[i], o.found, o.allow);
    }
}

static void wrong_methods_learn_the_right_ones(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 100);
    assert_int_equal(look_up("PUT", "/api/s/1", "public").found, '-');
    assert_int_equal(look_up("PUT", "/api/s/1", "public").allow, METHOD_GET | METHOD_DELETE);
    assert_int_equal(look_up("OPTIONS", "/api/s", "public").allow, METHOD_POST);
    assert_int_equal(look_up("get", "/health", "public").allow, METHOD_GET);
    route_allow(METHOD_GET | METHOD_POST | METHOD_DELETE, &b);
    assert_string_equal(b.data, "GET, HEAD, POST, DELETE");
}

static void surfaces_do_not_see_each_other(void **state)
{
    (void)state;
    assert_int_equal(look_up("GET", "/health", "internal").found, 'h');
    assert_int_equal(look_up("POST", "/api/s", "internal").found, '-');
    assert_int_equal(look_up("POST", "/api/s", "internal").allow, 0);
}

static void every_real_route_is_found_under_its_own_pattern(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < routes_len; i++) {
        struct target t;
        struct err err;

        assert_int_equal(target_parse(routes[i].pattern, &t, &err), 0);
        assert_true(route_exists(routes, routes_len, routes[i].surface, &t));
        assert_non_null(routes[i].handle);
        assert_true(strlen(routes[i].summary) > 5);
        if (routes[i].max_body) /* a POST may do without, a sign-out for one */
            assert_int_equal(routes[i].method, METHOD_POST);
        target_release(&t);
    }
}

static void short_memory_is_told(void **state)
{
    char *params[] = { (char[]){ "REQUEST_METHOD=GET" }, (char[]){ "REQUEST_URI=/api/s/1/files/x" },
                       (char[]){ "SURFACE=public" }, NULL };

    (void)state;
    OOM_SWEEP({
        struct err err = { 0 };
        struct request rq;
        unsigned allow;

        if (request_init(&rq, params, &err) == 0 && !route_find(table, ARRAY_LEN(table), &rq, &allow, &err))
            assert_int_equal(err.kind, ERR_INTERNAL);
        assert_true(!err.kind || oom_hit());
        request_release(&rq);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_find_their_row),
        cmocka_unit_test(near_misses_find_nothing),
        cmocka_unit_test(wrong_methods_learn_the_right_ones),
        cmocka_unit_test(surfaces_do_not_see_each_other),
        cmocka_unit_test(every_real_route_is_found_under_its_own_pattern),
        cmocka_unit_test(short_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
