#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "supervisor/holder/lines.h"
#include "tests/support/oom.h"

/* Lines are joined with '|', parts of a line alike. */
static void collect(void *arg, const char *line, size_t len)
{
    buf_add(arg, line, len);
    buf_add_char(arg, '|');
}

static void check(const char *in, size_t len, const char *out)
{
    size_t step;

    for (step = 1; step <= len + 1; step++) { /* however the bytes arrive */
        auto_buf struct buf got;
        struct lines l;
        size_t i;

        buf_init(&got, 1 << 20);
        lines_init(&l);
        for (i = 0; i < len; i += step)
            assert_int_equal(lines_feed(&l, in + i, i + step < len ? step : len - i, collect, &got), 0);
        lines_end(&l, collect, &got);
        assert_string_equal(got.data ? got.data : "", out);
        lines_release(&l);
    }
}

static void lines_end_where_they_end(void **state)
{
    (void)state;
    check("", 0, "");
    check("a\nb\n", 4, "a|b|");
    check("a\n\nb", 4, "a||b|");
    check("\n", 1, "|");
    check("a\r\nb\rc\r\n", 8, "a|b\rc|");
    check("a\r", 2, "a|");
    check("x\0y\n\xff\n", 6, "x");
}

struct parts {
    size_t n, bytes, longest;
    bool split_character;
};

static void measure(void *arg, const char *line, size_t len)
{
    struct parts *p = arg;

    p->n++;
    p->bytes += len;
    p->longest = len > p->longest ? len : p->longest;
    p->split_character |= len && ((unsigned char)line[0] & 0xc0) == 0x80;
}

static void a_long_line_comes_in_parts_that_split_no_character(void **state)
{
    static const size_t ends[] = { 0, 1, 2 };
    size_t i, k;

    (void)state;
    for (k = 0; k < ARRAY_LEN(ends); k++) {
        struct parts p = { 0 };
        struct lines l;

        lines_init(&l);
        for (i = 0; i < ends[k]; i++)
            lines_feed(&l, "y", 1, measure, &p);
        for (i = 0; i < 100000; i++)
            assert_int_equal(lines_feed(&l, "\xe2\x82\xac", 3, measure, &p), 0);
        lines_feed(&l, "\n", 1, measure, &p);
        assert_int_equal(p.bytes, 300000 + ends[k]);
        assert_int_equal(p.n, 5);
        assert_true(p.longest <= LINES_PART_MAX && p.longest > LINES_PART_MAX - 4);
        assert_false(p.split_character);
        lines_release(&l);
    }
}

static void a_line_of_exactly_one_part_is_one_line(void **state)
{
    auto_free char *text = mem_zalloc(1, 2 * LINES_PART_MAX + 2);
    struct parts p = { 0 };
    struct lines l;

    (void)state;
    memset(text, 'x', 2 * LINES_PART_MAX);
    text[LINES_PART_MAX] = '\n';
    lines_init(&l);
    lines_feed(&l, text, LINES_PART_MAX + 1, measure, &p);
    assert_int_equal(p.n, 1);
    text[LINES_PART_MAX] = 'x';
    text[2 * LINES_PART_MAX] = '\n';
    lines_feed(&l, text, 2 * LINES_PART_MAX + 1, measure, &p);
    assert_int_equal(p.n, 3);
    memset(text, 0x80, 2 * LINES_PART_MAX); /* no character at all to cut at */
    lines_feed(&l, text, 2 * LINES_PART_MAX, measure, &p);
    lines_end(&l, measure, &p);
    assert_int_equal(p.bytes, 5 * LINES_PART_MAX);
    lines_release(&l);
}

static void names_of_states_are_found(void **state)
{
#define LOG "2026-01-31 12:00:00,123 - BESSER Agentic Framework - INFO - "
    static const struct {
        const char *line, *name;
    } rows[] = {
        { LOG "[idle] Running body idle_body", "idle" },
        { LOG "[a]b] Running body f", "a]b" },
        { LOG "[[x] Running body f", "[x" },
        { LOG "[two words] Running body f", "two words" },
        { "glued" LOG "[b] Running body f", "b" },
        { LOG "[a] Running body f" LOG "[b] Running body f", "b" },
        { "print [near] Running body", "near" },
        { "[first] [second] Running body", "second" },
        { "[idle] Running body", "idle" },
        { LOG "[idle] Running fallback body f", NULL },
        { LOG "auto: [A] --> [B]", NULL },
        { "] Running body", NULL },
        { "[] Running body", NULL },
        { LOG "[] Running body", NULL },
        { "nothing", NULL },
        { "", NULL },
    };
    size_t i, len;
    const char *name;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        bool found = lines_state_name(rows[i].line, strlen(rows[i].line), &name, &len);

        assert_int_equal(found, rows[i].name != NULL);
        if (!found)
            continue;
        assert_int_equal(len, strlen(rows[i].name));
        assert_memory_equal(name, rows[i].name, len);
    }
}

static void frames_are_the_contracts(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 1000);
    lines_put_stdout(&b, "a\"\xff\0", 4);
    assert_string_equal(b.data, "{\"type\":\"stdout\",\"line\":\"a\\\"\xef\xbf\xbd\\u0000\"}");
    buf_clear(&b);
    lines_put_state(&b, "idle", 4);
    assert_string_equal(b.data, "{\"type\":\"state_change\",\"state\":\"idle\",\"_source\":\"log_state\"}");
    buf_clear(&b);
    lines_put_error(&b, "", 0);
    assert_string_equal(b.data, "{\"type\":\"error\",\"message\":\"\"}");
}

static void short_memory_loses_lines_and_goes_on(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct parts p = { 0 };
        struct lines l;
        int i;

        lines_init(&l);
        for (i = 0; i < 2000; i++)
            lines_feed(&l, "0123456789012345678901234567890123456789", 40, measure, &p);
        lines_end(&l, measure, &p);
        lines_feed(&l, "after\n", 6, measure, &p);
        assert_true(oom_hit() || p.bytes == 80005);
        lines_release(&l);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_where_they_end),
        cmocka_unit_test(a_long_line_comes_in_parts_that_split_no_character),
        cmocka_unit_test(a_line_of_exactly_one_part_is_one_line),
        cmocka_unit_test(names_of_states_are_found),
        cmocka_unit_test(frames_are_the_contracts),
        cmocka_unit_test(short_memory_loses_lines_and_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
