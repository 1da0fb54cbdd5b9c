#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/holder/client_frame.h"
#include "tests/support/oom.h"

static void what_the_runtime_takes_is_not_called_bad(void **state)
{
    static const char *const good[] = {
        "{\"action\":\"user_message\",\"message\":\"x\"}",
        "{\"action\":\"user_message\",\"message\":null,\"more\":1}",
        " {\"message\":{},\"action\":\"user_set_variable\"} ",
        "{\"action\":\"user_file\",\"message\":\"{}\"}",
        "{\"action\":\"reset\",\"message\":0}",
        "{\"action\":\"agent_reply_options\",\"message\":0}",
        "{\"action\":\"user_message\",\"message\":NaN}", /* Python reads it */
        "{\"action\":\"user_message\",\"message\":-Infinity}",
        "{\"action\":\"user_message\",\"message\":[\"NN I In Na\",NaN]}",
        "{\"action\":\"user_message\",\"message\":\"\\u0000\"}",
    };
    static char longest[CLIENT_FRAME_JUDGED + 1];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(good); i++)
        if (client_frame_is_bad(good[i], strlen(good[i])))
            fail_msg("%s", good[i]);
    longest[2] = '{';
    longest[0] = longest[1] = ' ';
    assert_false(client_frame_is_bad(longest, sizeof(longest)));
    memset(longest, ' ', sizeof(longest));
    assert_false(client_frame_is_bad(longest, sizeof(longest)));
    longest[7] = '[';
    assert_true(client_frame_is_bad(longest, sizeof(longest)));
}

static void what_ends_its_connection_is(void **state)
{
    static const char *const bad[] = {
        "",
        "no JSON",
        "Na",
        "NaN",
        " \n[]",
        "NNNNNN IIIII Infinit",
        "[]",
        "\"x\"",
        "{}",
        "{\"action\":\"user_message\"}",
        "{\"message\":\"x\"}",
        "{\"action\":1,\"message\":\"x\"}",
        "{\"action\":\"dance\",\"message\":\"x\"}",
        "{\"action\":\"user_file\",\"message\":{}}",
        "{\"action\":\"user_message\",\"message\":\"x\"",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(bad); i++)
        if (!client_frame_is_bad(bad[i], strlen(bad[i])))
            fail_msg("%s", bad[i]);
}

static void without_memory_nothing_is_called_bad(void **state)
{
    static const char text[] = "{\"action\":\"user_message\",\"message\":[1,2]}";

    (void)state;
    OOM_SWEEP(assert_false(client_frame_is_bad(text, sizeof(text) - 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_runtime_takes_is_not_called_bad),
        cmocka_unit_test(what_ends_its_connection_is),
        cmocka_unit_test(without_memory_nothing_is_called_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
