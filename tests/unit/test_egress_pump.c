#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/egress/pump.h"
#include "tests/support/oom.h"

struct rig {
    struct ev_loop *loop;
    struct pump pump;
    int client[2], server[2]; /* [0] the test's, [1] the pump's */
    uint64_t budget;
    int over;
    enum pump_end end;
};

static void on_over(void *arg, enum pump_end end)
{
    struct rig *r = arg;

    r->over++;
    r->end = end;
}

static int start(struct rig *r, struct egress_body *body, const char *up, const char *down)
{
    struct buf first_up, first_down;
    int e;

    *r = (struct rig){ .loop = ev_default_loop(0), .budget = 1 << 20 };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, r->client), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, r->server), 0);
    r->pump.budget = &r->budget;
    r->pump.linger_s = 0.1;
    r->pump.body = body;
    r->pump.over = on_over;
    r->pump.arg = r;
    buf_init(&first_up, 1000);
    buf_init(&first_down, 1000);
    buf_add_str(&first_up, up);
    buf_add_str(&first_down, down);
    e = pump_start(&r->pump, r->loop, r->client[1], r->server[1], &first_up, &first_down);
    buf_release(&first_up);
    buf_release(&first_down);
    return e;
}

static void stop(struct rig *r)
{
    int i;

    pump_release(&r->pump);
    for (i = 0; i < 2; i++) {
        cleanup_fd_close(&r->client[i]);
        cleanup_fd_close(&r->server[i]);
    }
}

static void close_side(int *fd)
{
    close(*fd);
    *fd = -1;
}

static void turn(struct rig *r)
{
    ev_run(r->loop, EVRUN_NOWAIT);
    usleep(500);
}

static void expect_end(struct rig *r, enum pump_end end)
{
    int64_t until = time_mono_ms() + 10000;

    while (!r->over && time_mono_ms() < until)
        turn(r);
    assert_int_equal(r->over, 1);
    assert_int_equal(r->end, end);
}

static void expect_text(struct rig *r, int fd, const char *text)
{
    int64_t until = time_mono_ms() + 10000;
    char got[256] = "";
    size_t len = 0;

    while (len < strlen(text) && time_mono_ms() < until) {
        ssize_t n = recv(fd, got + len, sizeof(got) - 1 - len, 0);

        len += n > 0 ? (size_t)n : 0;
        turn(r);
    }
    assert_string_equal(got, text);
}

static void what_is_given_first_goes_first(void **state)
{
    struct rig r;

    (void)state;
    assert_int_equal(start(&r, NULL, "to server ", "to client "), 0);
    assert_int_equal(send(r.client[0], "a", 1, 0), 1);
    assert_int_equal(send(r.server[0], "b", 1, 0), 1);
    expect_text(&r, r.server[0], "to server a");
    expect_text(&r, r.client[0], "to client b");
    close_side(&r.client[0]);
    close_side(&r.server[0]);
    expect_end(&r, PUMP_DONE);
    assert_int_equal(r.pump.up.bytes, 1);
    assert_int_equal(r.budget, (1 << 20) - 2);
    stop(&r);
}

static void quiet_is_fine_while_both_sides_are_open(void **state)
{
    struct rig r;
    int64_t until = time_mono_ms() + 400;

    (void)state;
    assert_int_equal(start(&r, NULL, "", ""), 0);
    while (time_mono_ms() < until) /* four times what is allowed later */
        turn(&r);
    assert_int_equal(r.over, 0);
    assert_int_equal(shutdown(r.client[0], SHUT_WR), 0);
    expect_end(&r, PUMP_QUIET);
    stop(&r);
}

static void an_answer_may_be_slow_after_its_request(void **state)
{
    struct rig r;
    struct egress_body body;
    int64_t until = time_mono_ms() + 400;

    (void)state;
    egress_body_none(&body);
    assert_int_equal(start(&r, &body, "GET", ""), 0);
    assert_int_equal(send(r.client[0], "more", 4, 0), 4); /* stays where it is */
    while (time_mono_ms() < until)
        turn(&r);
    expect_text(&r, r.server[0], "GET");
    assert_int_equal(send(r.server[0], "ok", 2, 0), 2);
    close_side(&r.server[0]);
    expect_text(&r, r.client[0], "ok");
    expect_end(&r, PUMP_DONE);
    assert_int_equal(r.pump.up.bytes, 0);
    stop(&r);
}

static void a_client_that_leaves_after_its_request_is_noticed(void **state)
{
    struct rig r;
    struct egress_body body;

    (void)state;
    egress_body_none(&body);
    assert_int_equal(start(&r, &body, "GET", ""), 0);
    expect_text(&r, r.server[0], "GET");
    close_side(&r.client[0]);
    expect_end(&r, PUMP_QUIET);
    stop(&r);
}

static void a_client_that_leaves_in_the_middle_of_its_request_ends_it(void **state)
{
    struct rig r;
    struct egress_body body;

    (void)state;
    egress_body_length(&body, 10);
    assert_int_equal(start(&r, &body, "POST", ""), 0);
    assert_int_equal(send(r.client[0], "12345", 5, 0), 5);
    close_side(&r.client[0]);
    expect_end(&r, PUMP_BROKEN);
    stop(&r);
}

static void a_side_that_is_gone_does_not_take_the_other_ones_words_away(void **state)
{
    struct rig r;

    (void)state;
    assert_int_equal(start(&r, NULL, "", ""), 0);
    assert_int_equal(send(r.client[0], "last words", 10, 0), 10);
    close_side(&r.client[0]);
    expect_text(&r, r.server[0], "last words");
    assert_int_equal(send(r.server[0], "to nobody", 9, 0), 9);
    close_side(&r.server[0]);
    expect_end(&r, PUMP_BROKEN);
    stop(&r);
}

static void the_budget_is_both_ways_together(void **state)
{
    struct rig r;

    (void)state;
    assert_int_equal(start(&r, NULL, "", ""), 0);
    r.budget = 10;
    assert_int_equal(send(r.client[0], "123456", 6, 0), 6);
    expect_text(&r, r.server[0], "123456");
    assert_int_equal(send(r.server[0], "12345", 5, 0), 5);
    expect_end(&r, PUMP_BUDGET);
    assert_int_equal(r.budget, 0);
    stop(&r);
}

static void a_pump_without_memory_is_none(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct rig r;

        (void)start(&r, NULL, "", "");
        stop(&r);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_first_goes_first),
        cmocka_unit_test(quiet_is_fine_while_both_sides_are_open),
        cmocka_unit_test(an_answer_may_be_slow_after_its_request),
        cmocka_unit_test(a_client_that_leaves_after_its_request_is_noticed),
        cmocka_unit_test(a_client_that_leaves_in_the_middle_of_its_request_ends_it),
        cmocka_unit_test(a_side_that_is_gone_does_not_take_the_other_ones_words_away),
        cmocka_unit_test(the_budget_is_both_ways_together),
        cmocka_unit_test(a_pump_without_memory_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
