#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/metrics.h"
#include "tests/support/oom.h"

#define PAGE_MAX (256u << 10)

static void page(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
    buf_init(out, PAGE_MAX);
    metrics_write(m, now, out);
    assert_false(buf_failed(out));
}

static void has(const struct buf *b, const char *line)
{
    char whole[200];

    snprintf(whole, sizeof(whole), "\n%s\n", line);
    if (!strstr(b->data, whole))
        fail_msg("no line %s", line);
}

static void counters_begin_at_nothing(void **state)
{
    const struct metrics m = { 0 };
    const struct metrics_now now = { 0 };
    auto_buf struct buf b;

    (void)state;
    page(&m, &now, &b);
    has(&b, "agentsim_starts_total{surface=\"public\",outcome=\"started\"} 0");
    has(&b, "agentsim_ready_seconds_bucket{le=\"+Inf\"} 0");
    has(&b, "agentsim_ends_total{reason=\"expired\"} 0");
    assert_null(strstr(b.data, "agentsim_rpc_seconds_count"));
}

static void times_fall_into_the_first_bucket_that_holds_them(void **state)
{
    const struct metrics_now now = { 0 };
    struct metrics m = { 0 };
    auto_buf struct buf b;

    (void)state;
    metrics_observe(&m.start, 0.001);
    metrics_observe(&m.start, 0.0011);
    metrics_observe(&m.start, 11);
    metrics_observe(&m.start, -1); /* a clock that stepped: counted, adds nothing */
    page(&m, &now, &b);
    has(&b, "agentsim_start_seconds_bucket{le=\"0.001\"} 2");
    has(&b, "agentsim_start_seconds_bucket{le=\"0.0025\"} 3");
    has(&b, "agentsim_start_seconds_bucket{le=\"10\"} 3");
    has(&b, "agentsim_start_seconds_bucket{le=\"+Inf\"} 4");
    has(&b, "agentsim_start_seconds_sum 11.002100");
    has(&b, "agentsim_start_seconds_count 4");
}

static void outcomes_are_told_apart(void **state)
{
    static const struct {
        enum err_kind kind;
        const char *line;
    } rows[] = {
        { ERR_LIMIT, "agentsim_starts_total{surface=\"internal\",outcome=\"limited\"} 1" },
        { ERR_UNAVAILABLE, "agentsim_starts_total{surface=\"internal\",outcome=\"unavailable\"} 1" },
        { ERR_INTERNAL, "agentsim_starts_total{surface=\"internal\",outcome=\"failed\"} 1" },
    };
    const struct metrics_now now = { 0 };
    struct metrics m = { 0 };
    auto_buf struct buf b;
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        err_set(&err, rows[i].kind, 0, "no");
        metrics_start(&m, METRICS_INTERNAL, &err);
    }
    metrics_start(&m, METRICS_PUBLIC, NULL);
    page(&m, &now, &b);
    for (i = 0; i < 3; i++)
        has(&b, rows[i].line);
    has(&b, "agentsim_starts_total{surface=\"public\",outcome=\"started\"} 1");
}

static void what_is_true_now_is_shown(void **state)
{
    struct metrics_now now = { .slots = 5, .slots_free = 3, .sandbox_ok = true, .uptime_s = 1ull << 33 };
    struct metrics m = { .frames_to_browsers = 1ull << 40 };
    auto_buf struct buf b;

    (void)state;
    now.sessions[SESSION_DETACHED] = 2;
    metrics_observe(&m.rpc[RPC_CREATE], 0.2);
    page(&m, &now, &b);
    has(&b, "agentsim_slots 5");
    has(&b, "agentsim_slots_free 3");
    has(&b, "agentsim_sandbox_ok 1");
    has(&b, "agentsim_up_seconds 8589934592");
    has(&b, "agentsim_sessions{state=\"DETACHED\"} 2");
    has(&b, "agentsim_relay_frames_to_browsers_total 1099511627776");
    has(&b, "agentsim_rpc_seconds_bucket{request=\"create\",le=\"0.25\"} 1");
    has(&b, "agentsim_rpc_seconds_count{request=\"create\"} 1");
}

static void short_memory_fails_the_page(void **state)
{
    const struct metrics_now now = { 0 };
    const struct metrics m = { 0 };

    (void)state;
    OOM_SWEEP({
        auto_buf struct buf b;

        buf_init(&b, PAGE_MAX);
        metrics_write(&m, &now, &b);
        assert_int_equal(buf_failed(&b), oom_hit());
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_begin_at_nothing),
        cmocka_unit_test(times_fall_into_the_first_bucket_that_holds_them),
        cmocka_unit_test(outcomes_are_told_apart),
        cmocka_unit_test(what_is_true_now_is_shown),
        cmocka_unit_test(short_memory_fails_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
