#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "shared/python/answer.h"
#include "tests/support/oom.h"

static void put_facts(struct buf *b)
{
    wire_put_u32(b, 2);
    wire_put_u8(b, 1);
    wire_put_u32(b, 1);
    wire_put_str(b, "f");
    wire_put_u8(b, FUNCTION_ASYNC | FUNCTION_HAS_FIRST);
    wire_put_u32(b, 3);
    wire_put_u32(b, 1);
    wire_put_u32(b, 0);
    wire_put_str(b, "session");
    wire_put_u32(b, 1);
    wire_put_str(b, "os");
    wire_put_u32(b, 4);
    wire_put_u32(b, 1);
    wire_put_str(b, "open");
    wire_put_u32(b, 5);
    wire_put_u32(b, 1);
    wire_put_str(b, "f");
    wire_put_u8(b, PYTHON_BINDS);
}

static void malformed_answers_are_refused(void **state)
{
    auto_buf struct buf b;
    struct python_facts f;
    struct err err = { 0 };
    size_t n;

    (void)state;
    buf_init(&b, 4096);
    put_facts(&b);
    assert_int_equal(python_answer_decode(ANSWER_FACTS, b.data, b.len, &f, &err), 0);
    assert_string_equal(f.calls[0].name, "open");
    assert_string_equal(f.names[0].name, "f");
    assert_int_equal(f.names[0].flags, PYTHON_BINDS);
    python_facts_release(&f);
    for (n = 0; n < b.len; n++) {
        assert_int_equal(python_answer_decode(ANSWER_FACTS, b.data, n, &f, &err), -1);
        assert_int_equal(err.kind, ERR_UPSTREAM);
    }
    buf_add_char(&b, 'x');
    assert_int_equal(python_answer_decode(ANSWER_FACTS, b.data, b.len, &f, &err), -1);
    assert_int_equal(python_answer_decode(ANSWER_READY, b.data, b.len, &f, &err), -1);
}

static void a_lying_count_costs_nothing(void **state)
{
    auto_buf struct buf b;
    struct python_facts f;
    struct err err = { 0 };

    (void)state;
    buf_init(&b, 4096);
    wire_put_u32(&b, 1);
    wire_put_u8(&b, 0);
    wire_put_u32(&b, UINT32_MAX);
    assert_int_equal(python_answer_decode(ANSWER_FACTS, b.data, b.len, &f, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
}

static void short_memory_in_decoding_leaves_nothing(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    put_facts(&b);
    OOM_SWEEP({
        struct python_facts f = { 0 };
        struct err err = { 0 };

        if (python_answer_decode(ANSWER_FACTS, b.data, b.len, &f, &err) < 0)
            assert_int_equal(err.kind, ERR_INTERNAL);
        else
            assert_false(oom_hit());
        python_facts_release(&f);
    });
    buf_release(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_answers_are_refused),
        cmocka_unit_test(a_lying_count_costs_nothing),
        cmocka_unit_test(short_memory_in_decoding_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
