#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "tests/support/supervisor_fixture.h"

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof(*f));

    assert_non_null(f);
    fixture_open(f);
    fixture_ready(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_close(*state);
    mem_free(*state);
    return 0;
}

static struct signin_hash hash(unsigned n)
{
    struct signin_hash h = { { 0 } };

    memcpy(h.b, &n, sizeof(n));
    return h;
}

/* Hashes that are 0 are left out. Type of the answer, or an error's kind, negative. */
static int ask(struct fixture *f, enum rpc_type type, unsigned first, unsigned second, const char *text,
               const char *more, struct buf *answer)
{
    int fd = fixture_connect(f, "supervisor.sock");
    const struct signin_hash hashes[] = { hash(first), hash(second) };
    auto_buf struct buf b;
    struct wire_in in;
    struct err err;
    uint16_t got;

    buf_init(&b, 4096);
    buf_init(answer, RPC_MAX_PAYLOAD);
    wire_put_bytes(&b, hashes[0].b, SIGNIN_HASH);
    if (second)
        wire_put_bytes(&b, hashes[1].b, SIGNIN_HASH);
    if (text)
        wire_put_str(&b, text);
    if (more)
        wire_put_str(&b, more);
    fixture_send(fd, (uint16_t)type, b.data, b.len);
    assert_int_equal(fixture_recv(f, fd, &got, answer, NULL), 1);
    close(fd);
    if (got != RPC_ERROR)
        return got;
    wire_start(&in, answer->data, answer->len);
    assert_int_equal(rpc_get_error(&in, &err), 0);
    return -(int)err.kind;
}

static int tell(struct fixture *f, enum rpc_type type, unsigned first, unsigned second, const char *text,
                const char *more)
{
    auto_buf struct buf answer;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    return ask(f, type, first, second, text, more, &answer);
}

static void a_worker_signs_somebody_in_and_out(void **state)
{
    struct fixture *f = *state;
    auto_buf struct buf answer;
    struct wire_in in;
    uint64_t end;

    assert_int_equal(tell(f, RPC_SIGNIN_BEGIN, 1, 2, "ip:192.0.2.1", NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_TAKE, 1, 3, NULL, NULL), -ERR_AUTH);
    assert_int_equal(tell(f, RPC_SIGNIN_BEGIN, 1, 2, "ip:192.0.2.1", NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_TAKE, 1, 2, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_MAKE, 1, 9, "ada", ""), RPC_OK);
    assert_int_equal(ask(f, RPC_SIGNIN_SHOW, 9, 0, NULL, NULL, &answer), RPC_SIGNIN);
    wire_start(&in, answer.data, answer.len);
    assert_string_equal(wire_get_str(&in, 100), "ada");
    assert_string_equal(wire_get_str(&in, 100), "");
    end = wire_get_u64(&in);
    assert_in_range(end, time_wall_ms() + 86300000, time_wall_ms() + 86400000);
    assert_int_equal(wire_end(&in), 0);
    assert_int_equal(tell(f, RPC_SIGNIN_END, 9, 0, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_END, 9, 0, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_SHOW, 9, 0, NULL, NULL), -ERR_AUTH);
}

static void a_talk_that_failed_makes_room_for_the_next(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(tell(f, RPC_SIGNIN_BEGIN, 1, 2, "ip:192.0.2.1", NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_BEGIN, 4, 2, "ip:192.0.2.1", NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_TAKE, 1, 2, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_TAKE, 4, 2, NULL, NULL), -ERR_LIMIT);
    assert_int_equal(tell(f, RPC_SIGNIN_GIVE_UP, 1, 0, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_TAKE, 4, 2, NULL, NULL), RPC_OK);
    assert_int_equal(tell(f, RPC_SIGNIN_MAKE, 4, 9, "no name", ""), -ERR_BAD_REQUEST);
}

static void who_signs_out_ends_what_runs_for_him(void **state)
{
    struct fixture *f = *state;
    struct signin_hash id = hash(9);
    char actor[RPC_ACTOR_MAX + 1];
    int control, other;

    signin_actor(&id, actor);
    fixture_session(f, actor, &control);
    fixture_session(f, "gh:somebody else", &other);
    assert_int_equal(tell(f, RPC_SIGNIN_END, 9, 0, NULL, NULL), RPC_OK);
    assert_true(session_table_first_of(&f->sv.sessions.table, actor)->state >= SESSION_STOPPING);
    assert_true(session_table_first_of(&f->sv.sessions.table, "gh:somebody else")->state < SESSION_STOPPING);
    close(control);
    close(other);
}

/* ---- the file ---- */

static void open_kept(struct fixture *f, struct signin_desk *d)
{
    static char key[] = "a key that is long enough to be one";
    struct err err;

    f->config.state_dir = f->dir;
    f->config.signin_key = key;
    assert_int_equal(signin_desk_open(d, f->sv.loop, &f->config, &err), 0);
}

/* Somebody signs in, and the desk is closed. */
static void keep_one(struct fixture *f)
{
    struct signin_hash state = hash(1), browser = hash(2), session = hash(9);
    struct signin_desk d;
    struct err err;

    open_kept(f, &d);
    assert_int_equal(signins_begin(d.table, &state, &browser, "ip:192.0.2.1", time_wall_ms(), &err), 0);
    assert_int_equal(signins_take(d.table, &state, &browser, time_wall_ms(), &err), 0);
    assert_int_equal(signins_make(d.table, &state, &session, "ada", "", time_wall_ms(), &err), 0);
    d.changed = true;
    signin_desk_release(&d);
}

static int known_after_start(struct fixture *f)
{
    struct signin_hash session = hash(9);
    struct signin_desk d;
    struct err err;
    int r;

    open_kept(f, &d);
    r = signin_desk_check(&d, &session, &err);
    signin_desk_release(&d);
    return r;
}

static void clean_up(struct fixture *f)
{
    char path[80];

    snprintf(path, sizeof(path), "%s/signin/signins", f->dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/signin", f->dir);
    assert_int_equal(rmdir(path), 0);
}

static void a_start_after_that_knows_who_is_signed_in(void **state)
{
    struct fixture *f = *state;

    keep_one(f);
    assert_int_equal(known_after_start(f), 0);
    assert_int_equal(known_after_start(f), 0);
    clean_up(f);
}

static void a_spoilt_file_costs_the_sign_ins_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    auto_buf struct buf good, bad;
    char path[80];
    struct err err;
    int i;

    snprintf(path, sizeof(path), "%s/signin/signins", f->dir);
    buf_init(&good, 65536);
    buf_init(&bad, 20u << 20);
    keep_one(f);
    assert_int_equal(io_read_file(path, &good, &err), 0);
    for (i = 0; i < 6; i++) {
        buf_clear(&bad);
        if (i != 1)
            buf_add(&bad, good.data, good.len - (i == 0));
        if (i == 2)
            bad.data[40] ^= 1;
        if (i == 3)
            buf_add_char(&bad, 'x');
        if (i == 4)
            buf_add_repeat(&bad, 'x', 10u << 20);
        if (i == 5)
            memset(bad.data, 7, bad.len);
        assert_int_equal(io_write_file(path, bad.data ? bad.data : "", bad.len, 0600, &err), 0);
        assert_int_equal(known_after_start(f), -1);
    }
    keep_one(f);
    assert_int_equal(known_after_start(f), 0);
    clean_up(f);
}

static void a_disk_that_takes_nothing_costs_the_restart_only(void **state)
{
    struct fixture *f = *state;
    struct signin_hash session = hash(9);
    char blocked[80];
    struct signin_desk d;
    struct err err;

    keep_one(f);
    open_kept(f, &d);
    snprintf(blocked, sizeof(blocked), "%s/signin/signins.new", f->dir);
    assert_int_equal(mkdir(blocked, 0700), 0);
    d.changed = true;
    fixture_wait(f, d.complained);
    assert_int_equal(signin_desk_check(&d, &session, &err), 0);
    assert_int_equal(rmdir(blocked), 0);
    fixture_wait(f, !d.complained);
    signin_desk_release(&d);
    clean_up(f);
}

static void a_desk_that_was_never_opened_knows_nobody(void **state)
{
    struct signin_desk d = { 0 };
    struct signin_hash h = hash(1);
    struct err err;

    (void)state;
    assert_int_equal(signin_desk_check(&d, &h, &err), -1);
    assert_int_equal(err.kind, ERR_AUTH);
    signin_desk_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_signs_somebody_in_and_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_talk_that_failed_makes_room_for_the_next, setup, teardown),
        cmocka_unit_test_setup_teardown(who_signs_out_ends_what_runs_for_him, setup, teardown),
        cmocka_unit_test_setup_teardown(a_start_after_that_knows_who_is_signed_in, setup, teardown),
        cmocka_unit_test_setup_teardown(a_spoilt_file_costs_the_sign_ins_and_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(a_disk_that_takes_nothing_costs_the_restart_only, setup, teardown),
        cmocka_unit_test(a_desk_that_was_never_opened_knows_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
