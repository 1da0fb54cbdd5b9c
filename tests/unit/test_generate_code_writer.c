#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/generate/code_writer.h"
#include "shared/json/value.h"
#include "tests/support/oom.h"

static void note(void *context, const char *name, size_t len)
{
    struct buf *heard = context;

    buf_add(heard, name, len);
    buf_add_char(heard, ' ');
}

static void holes_are_filled_by_the_literal_writer(void **state)
{
    struct value list = { .kind = VALUE_ARRAY };
    struct code_writer w;

    (void)state;
    code_init(&w, "");
    code_line(&w, "x = %s, %d, %f, %b, %v, %n %%", "a'b\n@c ~d %s", INT64_C(-5), 2.0, true, &list, "name");
    code_line(&w, "y = %s", (char *)NULL);
    assert_false(code_failed(&w));
    assert_string_equal(w.out.data, "x = 'a\\x27b\\n@c ~d %s', -5, 2.0, True, [], name %\ny = None\n");
    code_release(&w);
}

static void private_names_get_the_prefix_and_are_reported(void **state)
{
    struct code_writer w;
    auto_buf struct buf heard;

    (void)state;
    buf_init(&heard, 1000);
    code_init(&w, "my_");
    w.use = note;
    w.context = &heard;
    code_line(&w, "@fill(@json.dumps(~str(1)))");
    assert_string_equal(w.out.data, "my_fill(my_json.dumps(my_builtins.str(1)))\n");
    assert_string_equal(heard.data, "fill json builtins ");
    code_release(&w);
    buf_clear(&heard);
    code_init(&w, "");
    w.use = note;
    w.context = &heard;
    code_text(&w, "@fill(~str(1)) %s");
    assert_string_equal(w.out.data, "fill(str(1)) %s\n");
    assert_string_equal(heard.data, "fill ");
    code_release(&w);
}

static void blocks_are_indented_and_gaps_stand_between(void **state)
{
    struct code_writer w;

    (void)state;
    code_init(&w, "");
    code_gap(&w, 2);
    code_text(&w, "def f():");
    code_open(&w);
    code_text(&w, "pass");
    code_close(&w);
    code_gap(&w, 1);
    code_gap(&w, 2);
    code_raw(&w, "def g():\n\treturn '''\n'''");
    code_text(&w, "f()");
    code_heading(&w, "Calls @ 5 %");
    code_text(&w, "g()");
    assert_string_equal(w.out.data, "def f():\n    pass\n\n\ndef g():\n\treturn '''\n'''\nf()\n\n# Calls @ 5 %\ng()\n");
    code_release(&w);
}

static void long_calls_are_broken_an_argument_a_line(void **state)
{
    struct code_writer w;
    char text[90];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    code_init(&w, "");
    code_call(&w, "a = %n", "f");
    code_arg(&w, "1");
    code_arg(&w, "b=%s", "two");
    code_call_end(&w, ")");
    code_call(&w, "g");
    code_call_end(&w, "");
    assert_string_equal(w.out.data, "a = f(1, b='two'))\ng()\n");
    buf_clear(&w.out);
    code_open(&w);
    code_call(&w, "f");
    code_arg(&w, "b=%s", text);
    code_arg(&w, "2");
    code_call_end(&w, "");
    assert_memory_equal(w.out.data, "    f(\n        b='xxx", 20);
    assert_non_null(strstr(w.out.data, "x',\n        2,\n    )\n"));
    code_release(&w);
}

static void a_number_that_is_not_finite_fails_the_writer(void **state)
{
    struct code_writer w;

    (void)state;
    code_init(&w, "");
    code_call(&w, "f");
    code_arg(&w, "%f", __builtin_inf());
    code_call_end(&w, "");
    code_call(&w, "g");
    code_call_end(&w, "");
    assert_true(code_failed(&w));
    code_release(&w);
}

static void short_memory_fails_the_writer(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct code_writer w;

        code_init(&w, "my_");
        code_line(&w, "x = %s", "text");
        code_call(&w, "@f");
        code_arg(&w, "%d", INT64_C(1));
        code_call_end(&w, "");
        assert_int_equal(code_failed(&w), oom_hit());
        code_release(&w);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_filled_by_the_literal_writer),
        cmocka_unit_test(private_names_get_the_prefix_and_are_reported),
        cmocka_unit_test(blocks_are_indented_and_gaps_stand_between),
        cmocka_unit_test(long_calls_are_broken_an_argument_a_line),
        cmocka_unit_test(a_number_that_is_not_finite_fails_the_writer),
        cmocka_unit_test(short_memory_fails_the_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
