#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "supervisor/rpc_request.h"

static const struct id some = { { 7, 7, 7 } };

static int parse(uint16_t type, const struct buf *b, struct rpc_request *r)
{
    struct err err;
    int rc = rpc_request_parse(type, b->data, b->len, r, &err);

    if (rc < 0)
        assert_true(err.kind == ERR_BAD_REQUEST || err.kind == ERR_UNAVAILABLE);
    return rc;
}

static void put(struct buf *b, bool id, const char *actor, bool has_flags, uint32_t flags)
{
    buf_init(b, 4096);
    if (id)
        wire_put_id(b, &some);
    if (actor)
        wire_put_str(b, actor);
    if (has_flags)
        wire_put_u32(b, flags);
}

static void what_a_newer_worker_asks_for_has_to_wait(void **state)
{
    struct rpc_request r;
    struct err err;
    struct buf b;

    (void)state;
    assert_int_equal(rpc_request_parse(60000, "", 0, &r, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    put(&b, true, "ip:a", true, 1u << 20);
    assert_int_equal(rpc_request_parse(RPC_CREATE, b.data, b.len, &r, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    assert_int_equal(rpc_request_parse(RPC_INFO, b.data, b.len, &r, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    buf_release(&b);
}

static void each_request_has_exactly_its_fields(void **state)
{
    static const struct {
        uint16_t type;
        bool id;
        const char *actor;
        bool has_flags;
        uint32_t flags;
        int rc;
    } rows[] = {
        { RPC_ADMIT, false, "ip:a", true, RPC_ADMIT_RATE | RPC_ADMIT_CAP, 0 },
        { RPC_ADMIT, false, "ip:a", true, 1u << 20, -1 },
        { RPC_ADMIT, false, "", true, RPC_ADMIT_RATE, -1 },
        { RPC_ADMIT, true, "ip:a", true, RPC_ADMIT_RATE, -1 },
        { RPC_CREATE, true, "internal", true, RPC_CREATE_INTERNAL, 0 },
        { RPC_CREATE, true, "ip:a", true, RPC_CREATE_MAY_WAIT, 0 },
        { RPC_CREATE, true, "ip:a", true, 1u << 20, -1 },
        { RPC_CREATE, true, "ip:a", false, 0, -1 },
        { RPC_QUEUE, true, "ip:a", true, 60, 0 },
        { RPC_QUEUE, true, "ip:a", true, 60 | RPC_QUEUE_TAKES, 0 },
        { RPC_QUEUE, true, "ip:a", true, RPC_QUEUE_TAKES, -1 },
        { RPC_QUEUE, true, "ip:a", true, 61, -1 },
        { RPC_QUEUE, true, "ip:a", true, 0, -1 },
        { RPC_INFO, true, "ip:a", false, 0, 0 },
        { RPC_INFO, true, "ip:a", true, 0, -1 },
        { RPC_OPEN, true, "ip:a", false, 0, 0 },
        { RPC_END, true, "ip:a", false, 0, 0 },
        { RPC_END, true, "", false, 0, -1 },
        { RPC_END, true, NULL, false, 0, -1 },
        { RPC_HEALTH, false, NULL, false, 0, 0 },
        { RPC_HEALTH, true, NULL, false, 0, -1 },
        { RPC_LIST, false, NULL, false, 0, 0 },
        { 0, false, NULL, false, 0, -1 },
        { RPC_OK, false, NULL, false, 0, -1 }, /* an answer is no request */
        { 60000, false, NULL, false, 0, -1 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct rpc_request r = { .flags = 99 };
        struct buf b;

        put(&b, rows[i].id, rows[i].actor, rows[i].has_flags, rows[i].flags);
        assert_int_equal(parse(rows[i].type, &b, &r), rows[i].rc);
        if (rows[i].rc < 0) {
            assert_int_equal(r.flags, 99); /* untouched */
        } else {
            assert_int_equal(r.type, rows[i].type);
            assert_int_equal(r.flags, rows[i].flags);
            assert_string_equal(r.actor, rows[i].actor ? rows[i].actor : "");
            assert_int_equal(id_equal(&r.id, &some), rows[i].id);
        }
        buf_release(&b);
    }
}

static void an_actor_is_bounded_and_has_no_nul(void **state)
{
    char longest[RPC_ACTOR_MAX + 2];
    struct rpc_request r;
    struct buf b;

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[RPC_ACTOR_MAX] = '\0';
    put(&b, true, longest, false, 0);
    assert_int_equal(parse(RPC_INFO, &b, &r), 0);
    assert_string_equal(r.actor, longest);
    buf_release(&b);

    longest[RPC_ACTOR_MAX] = 'x';
    longest[RPC_ACTOR_MAX + 1] = '\0';
    put(&b, true, longest, false, 0);
    assert_int_equal(parse(RPC_INFO, &b, &r), -1);
    buf_release(&b);

    put(&b, true, NULL, false, 0);
    wire_put_bytes(&b, "a\0b", 3);
    assert_int_equal(parse(RPC_INFO, &b, &r), -1);
    buf_release(&b);
}

static void a_request_cut_short_anywhere_is_refused(void **state)
{
    struct rpc_request r;
    struct buf b;

    (void)state;
    put(&b, true, "ip:192.0.2.1", true, 1);
    assert_int_equal(parse(RPC_CREATE, &b, &r), 0);
    while (b.len) {
        b.len--;
        assert_int_equal(parse(RPC_CREATE, &b, &r), -1);
    }
    buf_release(&b);
}

static void put_signin(struct buf *b, unsigned hashes, size_t hash_len, const char *login, const char *avatar)
{
    uint8_t bytes[64] = { 5, 5 };

    buf_init(b, 4096);
    while (hashes--)
        wire_put_bytes(b, bytes, hash_len);
    if (login)
        wire_put_str(b, login);
    if (avatar)
        wire_put_str(b, avatar);
}

static void sign_ins_carry_digests_of_exactly_their_size(void **state)
{
    static const struct {
        uint16_t type;
        unsigned hashes;
        size_t hash_len;
        const char *login, *avatar;
        int rc;
    } rows[] = {
        { RPC_SIGNIN_BEGIN, 2, 32, "ip:a", NULL, 0 },  { RPC_SIGNIN_BEGIN, 2, 32, "", NULL, -1 },
        { RPC_SIGNIN_BEGIN, 1, 32, "ip:a", NULL, -1 }, { RPC_SIGNIN_TAKE, 2, 32, NULL, NULL, 0 },
        { RPC_SIGNIN_TAKE, 2, 31, NULL, NULL, -1 },    { RPC_SIGNIN_TAKE, 2, 33, NULL, NULL, -1 },
        { RPC_SIGNIN_MAKE, 2, 32, "ada", "http", 0 },  { RPC_SIGNIN_MAKE, 2, 32, "ada", NULL, -1 },
        { RPC_SIGNIN_GIVE_UP, 1, 32, NULL, NULL, 0 },  { RPC_SIGNIN_GIVE_UP, 2, 32, NULL, NULL, -1 },
        { RPC_SIGNIN_SHOW, 1, 32, NULL, NULL, 0 },     { RPC_SIGNIN_SHOW, 1, 0, NULL, NULL, -1 },
        { RPC_SIGNIN_END, 1, 32, NULL, NULL, 0 },      { RPC_SIGNIN_END, 0, 32, NULL, NULL, -1 },
        { RPC_SIGNIN_END + 1, 1, 32, NULL, NULL, -1 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct rpc_request r;
        struct buf b;

        put_signin(&b, rows[i].hashes, rows[i].hash_len, rows[i].login, rows[i].avatar);
        assert_int_equal(parse(rows[i].type, &b, &r), rows[i].rc);
        if (rows[i].rc == 0)
            assert_int_equal(r.hashes[0].b[1], 5);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_exactly_its_fields),
        cmocka_unit_test(what_a_newer_worker_asks_for_has_to_wait),
        cmocka_unit_test(an_actor_is_bounded_and_has_no_nul),
        cmocka_unit_test(a_request_cut_short_anywhere_is_refused),
        cmocka_unit_test(sign_ins_carry_digests_of_exactly_their_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
