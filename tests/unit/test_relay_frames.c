#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "supervisor/relay/frames.h"
#include "tests/support/oom.h"

static struct buf text;

static int setup(void **state)
{
    (void)state;
    buf_init(&text, 4096);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&text);
    return 0;
}

static void the_service_speaks_as_the_contract_says(void **state)
{
    (void)state;
    frame_put_auth_ok(&text);
    assert_string_equal(text.data, "{\"type\":\"auth_ok\"}");
    buf_clear(&text);
    frame_put_resumed(&text, 18446744073709551615u);
    assert_string_equal(text.data, "{\"type\":\"auth_ok\",\"resumed\":true,\"from\":18446744073709551615}");
    buf_clear(&text);
    frame_put_gap(&text, 3);
    assert_string_equal(text.data, "{\"type\":\"replay_gap\",\"lost\":3}");
    buf_clear(&text);
    frame_put_exit(&text, HOLD_REASON_MEMORY, -1);
    assert_string_equal(text.data, "{\"type\":\"exit\",\"reason\":\"memory\",\"code\":-1}");
}

static void messages_cannot_break_out_of_their_text(void **state)
{
    (void)state;
    frame_put_error(&text, "\"},{\\ \n\x01 \xff");
    assert_string_equal(text.data, "{\"type\":\"error\",\"message\":\"\\\"},{\\\\ \\n\\u0001 \xef\xbf\xbd\"}");
}

static void without_memory_the_buffer_says_so(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct buf b;

        buf_init(&b, 4096);
        frame_put_error(&b, "a sentence");
        assert_int_equal(buf_failed(&b), oom_hit());
        buf_release(&b);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_service_speaks_as_the_contract_says, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_cannot_break_out_of_their_text, setup, teardown),
        cmocka_unit_test(without_memory_the_buffer_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
