#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "tests/support/oom.h"

static void fields_come_back_as_they_were_put(void **state)
{
    auto_buf struct buf b;
    struct wire_in in;
    struct id id, back;
    size_t len;

    (void)state;
    id_new(&id);
    buf_init(&b, 1000);
    wire_put_u8(&b, 200);
    wire_put_u32(&b, 0xdeadbeef);
    wire_put_u64(&b, UINT64_MAX);
    wire_put_id(&b, &id);
    wire_put_str(&b, "text");
    wire_put_str(&b, NULL);
    wire_put_bytes(&b, "a\0b", 3);
    wire_put_bytes(&b, NULL, 0);
    wire_start(&in, b.data, b.len);
    assert_int_equal(wire_get_u8(&in), 200);
    assert_int_equal(wire_get_u32(&in), 0xdeadbeef);
    assert_true(wire_get_u64(&in) == UINT64_MAX);
    wire_get_id(&in, &back);
    assert_true(id_equal(&id, &back));
    assert_string_equal(wire_get_str(&in, 4), "text");
    assert_string_equal(wire_get_str(&in, 0), "");
    assert_memory_equal(wire_get_bytes(&in, 3, &len), "a\0b", 4);
    assert_int_equal(len, 3);
    wire_get_bytes(&in, 0, &len);
    assert_int_equal(len, 0);
    assert_int_equal(wire_end(&in), 0);
}

static void the_first_bad_field_spoils_the_rest(void **state)
{
    auto_buf struct buf b;
    struct wire_in in;

    (void)state;
    buf_init(&b, 1000);
    wire_put_str(&b, "too long");
    wire_put_u8(&b, 1);
    wire_start(&in, b.data, b.len);
    assert_string_equal(wire_get_str(&in, 3), "");
    assert_int_equal(wire_get_u8(&in), 0);
    assert_int_equal(wire_end(&in), -1);
}

static void strings_hold_no_nul(void **state)
{
    auto_buf struct buf b;
    struct wire_in in;

    (void)state;
    buf_init(&b, 1000);
    wire_put_bytes(&b, "a\0b", 3);
    wire_start(&in, b.data, b.len);
    assert_string_equal(wire_get_str(&in, 10), "");
    assert_int_equal(wire_end(&in), -1);
}

static void every_cut_message_is_bad(void **state)
{
    auto_buf struct buf b;
    struct wire_in in;
    struct id id;
    size_t len, n;

    (void)state;
    buf_init(&b, 1000);
    wire_put_u8(&b, 1);
    wire_put_u32(&b, 2);
    wire_put_u64(&b, 3);
    wire_put_id(&b, &(struct id){ { 4 } });
    wire_put_str(&b, "five");
    for (n = 0; n <= b.len + 1; n++) {
        auto_free char *exact = mem_dup(b.data, n); /* so that a read behind the end is seen by ASan */

        wire_start(&in, exact, n);
        wire_get_u8(&in);
        wire_get_u32(&in);
        wire_get_u64(&in);
        wire_get_id(&in, &id);
        wire_get_bytes(&in, 10, &len);
        assert_int_equal(wire_end(&in), n == b.len ? 0 : -1);
    }
}

static void a_length_without_its_closing_nul_is_bad(void **state)
{
    static const char bytes[] = { 2, 0, 0, 0, 'a', 'b', 'c' };
    static const char huge[] = { (char)0xff, (char)0xff, (char)0xff, (char)0xff, 'a', 0 };
    struct wire_in in;
    size_t len;

    (void)state;
    wire_start(&in, bytes, sizeof(bytes));
    wire_get_bytes(&in, 10, &len);
    assert_int_equal(wire_end(&in), -1);
    wire_start(&in, huge, sizeof(huge));
    wire_get_bytes(&in, SIZE_MAX, &len);
    assert_int_equal(wire_end(&in), -1);
    wire_start(&in, NULL, 0);
    assert_int_equal(wire_end(&in), 0);
    assert_int_equal(wire_get_u32(&in), 0);
    assert_int_equal(wire_end(&in), -1);
}

static void a_full_message_fails_for_good(void **state)
{
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 10);
    wire_put_str(&b, "1234567890");
    wire_put_u8(&b, 1);
    assert_true(buf_failed(&b));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_they_were_put),
        cmocka_unit_test(the_first_bad_field_spoils_the_rest),
        cmocka_unit_test(strings_hold_no_nul),
        cmocka_unit_test(every_cut_message_is_bad),
        cmocka_unit_test(a_length_without_its_closing_nul_is_bad),
        cmocka_unit_test(a_full_message_fails_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
