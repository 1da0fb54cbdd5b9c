#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/relay/handshake.h"

#define ID "0f9d3c52-8f3e-4d59-9d0a-3b8a6f1c2e4d"
#define ID_BARE "0f9d3c528f3e4d599d0a3b8a6f1c2e4d"
#define PUBLIC "/besser_api/simulation/" ID "/ws"
#define INTERNAL "/sessions/" ID "/ws"

static char token[] = "s3cret", none[] = "", origins[] = "https://editor.example, https://b.example/ ,",
            home[] = "https://home.example:8443/editor/";

static int judge(const struct config *config, struct handshake_request r, struct handshake *h, struct err *err)
{
    return handshake_judge(config, &r, h, err);
}

static struct config with(char *api_token, char *cors, char *deployment)
{
    return (struct config){ .api_token = api_token, .cors_origins = cors, .deployment_url = deployment };
}

static void public_requests_belong_to_their_address(void **state)
{
    struct config config = with(token, none, none);
    struct handshake h;
    struct err err;
    struct id id;

    (void)state;
    assert_int_equal(id_parse(ID, &id), 0);
    assert_int_equal(judge(&config,
                           (struct handshake_request){ .path = PUBLIC, .surface = "public", .address = "192.0.2.7" },
                           &h, &err),
                     0);
    assert_true(h.id_valid && id_equal(&h.id, &id) && !h.internal);
    assert_string_equal(h.actor, "ip:192.0.2.7");
    assert_int_equal(judge(&config, (struct handshake_request){ .path = PUBLIC, .address = "2001:db8::1" }, &h, &err),
                     0);
    assert_string_equal(h.actor, "ip:2001:db8::/64");
    assert_int_equal(judge(&config, (struct handshake_request){ .path = PUBLIC }, &h, &err), 0);
    assert_string_equal(h.actor, "ip:unknown");
}

static void ids_may_lack_their_dashes(void **state)
{
    struct config config = with(token, none, none);
    struct handshake h;
    struct err err;
    struct id id;

    (void)state;
    assert_int_equal(id_parse(ID, &id), 0);
    assert_int_equal(
        judge(&config, (struct handshake_request){ .path = "/besser_api/simulation/" ID_BARE "/ws" }, &h, &err), 0);
    assert_true(h.id_valid && id_equal(&h.id, &id));
}

static void a_bad_id_is_let_in_to_be_told(void **state)
{
    static const char *const rows[] = { "/besser_api/simulation/x/ws", "/besser_api/simulation/" ID "0/ws",
                                        "/besser_api/simulation/ws/ws",
                                        "/besser_api/simulation/0f9d3c52-8f3e-4d59-9d0a-3b8a6f1c2e4g/ws" };
    struct config config = with(token, none, none);
    struct handshake h;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(judge(&config, (struct handshake_request){ .path = rows[i] }, &h, &err), 0);
        assert_false(h.id_valid);
    }
}

static void other_paths_do_not_exist(void **state)
{
    static const struct {
        const char *path, *surface;
    } rows[] = {
        { NULL, NULL },
        { "", "public" },
        { "/", "public" },
        { INTERNAL, "public" },
        { INTERNAL, NULL },
        { PUBLIC, "internal" },
        { PUBLIC "/", "public" },
        { "/besser_api/simulation//ws", "public" },
        { "/besser_api/simulation/a/b/ws", "public" },
        { "/sessions//ws", "internal" },
        { "/sessions/ws", "internal" },
        { INTERNAL, "Internal" }, /* anything but the very word is public */
    };
    struct config config = with(token, none, none);
    struct handshake h = { .id_valid = true };
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(
            judge(&config,
                  (struct handshake_request){ .path = rows[i].path, .surface = rows[i].surface, .token = token }, &h,
                  &err),
            -1);
        assert_int_equal(err.kind, ERR_NOT_FOUND);
    }
    assert_true(h.id_valid); /* untouched */
}

static void the_internal_surface_wants_the_very_token(void **state)
{
    static const struct {
        char *configured;
        const char *given;
        int rc;
    } rows[] = { { token, "s3cret", 0 },   { token, "s3creT", -1 }, { token, "s3cre", -1 },
                 { token, "s3crets", -1 }, { token, "", -1 },       { token, NULL, -1 },
                 { none, "", -1 },         { none, NULL, -1 },      { none, "s3cret", -1 } };
    struct handshake h;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct config config = with(rows[i].configured, origins, none);

        assert_int_equal(judge(&config,
                               (struct handshake_request){ .path = INTERNAL,
                                                           .surface = "internal",
                                                           .token = rows[i].given,
                                                           .origin = "https://evil.example",
                                                           .address = "192.0.2.7" },
                               &h, &err),
                         rows[i].rc);
        if (rows[i].rc < 0) {
            assert_int_equal(err.kind, ERR_FORBIDDEN);
        } else {
            assert_true(h.internal);
            assert_string_equal(h.actor, "internal");
        }
    }
}

static void origins_are_judged_where_they_are_configured(void **state)
{
    static const struct {
        const char *origin, *host;
        int rc;
    } rows[] = {
        { "https://editor.example", "x", 0 },
        { "HTTPS://Editor.Example", "x", 0 },
        { "https://b.example", "x", 0 }, /* the list may say a slash more */
        { "https://home.example:8443", "x", 0 },
        { "http://127.0.0.1:8080", "127.0.0.1:8080", 0 }, /* our own page */
        { "https://service.example", "Service.Example", 0 },
        { NULL, "x", 0 },
        { "", "x", 0 },
        { "https://evil.example", "x", -1 },
        { "https://editor.example.evil.example", "x", -1 },
        { "https://editor.exampl", "x", -1 },
        { "http://editor.example", "x", -1 },
        { "https://home.example", "x", -1 },
        { "https://home.example:844", "x", -1 },
        { "null", "x", -1 },
        { "null", "", -1 },
        { "https://x.evil", NULL, -1 },
        { "http://127.0.0.1:8081", "127.0.0.1:8080", -1 },
        { ",", "x", -1 },
        { " ", "x", -1 },
    };
    struct config config = with(token, origins, home), star = with(token, (char[]){ "*" }, none),
                  off = with(token, none, none);
    struct handshake h;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct handshake_request r = { .path = PUBLIC, .origin = rows[i].origin, .host = rows[i].host };

        assert_int_equal(judge(&config, r, &h, &err), rows[i].rc);
        assert_int_equal(judge(&star, r, &h, &err), 0);
        assert_int_equal(judge(&off, r, &h, &err), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_requests_belong_to_their_address),
        cmocka_unit_test(ids_may_lack_their_dashes),
        cmocka_unit_test(a_bad_id_is_let_in_to_be_told),
        cmocka_unit_test(other_paths_do_not_exist),
        cmocka_unit_test(the_internal_surface_wants_the_very_token),
        cmocka_unit_test(origins_are_judged_where_they_are_configured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
