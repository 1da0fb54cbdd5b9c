#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/marks.h"

static void marks_pile_up_above_thirty(void **state)
{
    struct buf text;
    size_t i;

    (void)state;
    buf_init(&text, 1000);
    buf_add_str(&text, "a");
    for (i = 0; i < 30; i++)
        buf_add_str(&text, i % 2 ? "\xcc\x81" : "\xcc\xa7");
    assert_false(marks_pile_up(text.data, text.len));
    buf_add_str(&text, "a\xcc\x81");
    assert_false(marks_pile_up(text.data, text.len));
    for (i = 0; i < 30; i++)
        buf_add_str(&text, "\xcc\x81");
    assert_true(marks_pile_up(text.data, text.len));
    buf_release(&text);
}

static void other_text_has_none(void **state)
{
    (void)state;
    assert_false(marks_pile_up("", 0));
    assert_false(marks_pile_up("\xc3\xa9\xe5\x90\x8d\xff\xcc", 7)); /* also when it is no UTF-8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_pile_up_above_thirty),
        cmocka_unit_test(other_text_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
