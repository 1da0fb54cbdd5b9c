#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/python/dedent.h"
#include "tests/support/oom.h"

static const struct {
    const char *in, *out;
} rows[] = {
    { "", "" },
    { "x = 1\n", "x = 1\n" },
    { "    a\n    b\n", "a\nb\n" },
    { "    a\n      b\n", "a\n  b\n" },
    { "\ta\n\tb", "a\nb" },
    { "\ta\n    b\n", "\ta\n    b\n" }, /* nothing in common */
    { "  a\n\t b\n", "  a\n\t b\n" },
    { "    a\n\n    b\n", "a\n\nb\n" },
    { "    a\n  \n    b\n   ", "a\n\nb\n" },
    { "  # early comment\n    a\n", "# early comment\na\n" },
    { "    a\n# late comment\n    b\n", "a\n# late comment\nb\n" },
    { "    a = (\n  1,\n    2)\n", "a = (\n1,\n2)\n" },
    { "    a = 1 + \\\n  2\n    b\n", "a = 1 + \\\n2\nb\n" },
    { "    a = '''x\n    y\n z'''\n    b\n", "a = '''x\n    y\n z'''\nb\n" },
    { "    a = \"\"\"x\n'''\n    y\"\"\"\n    b\n", "a = \"\"\"x\n'''\n    y\"\"\"\nb\n" },
    { "    a = 'it\\'s ('\n    b\n", "a = 'it\\'s ('\nb\n" },
    { "    a = '\\\n  x'\n    b\n", "a = '\\\n  x'\nb\n" },
    { "    a # ( ' \"\"\"\n    b\n", "a # ( ' \"\"\"\nb\n" },
    { "    a = 'open\n    b\n", "a = 'open\nb\n" }, /* no Python, but no trouble either */
    { "    def f(s):\r\n        return 1\r\n", "def f(s):\r\n    return 1\r\n" },
    { "a = '''x\n   \ny'''\n", "a = '''x\n\ny'''\n" },
    { "  \\", "\\" },
    { "  )]}\n  a", ")]}\na" },
};

static void shared_indentation_goes_and_literals_stay(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char *got = python_dedent(rows[i].in);

        assert_non_null(got);
        assert_string_equal(got, rows[i].out);
        mem_free(got);
    }
}

static void a_block_is_indented_but_for_its_literals(void **state)
{
    static const struct {
        const char *in, *out;
    } blocks[] = {
        { "", "\n" },
        { "x = 1", "    x = 1\n" },
        { "if x:\r\n\ty\r\n\r\n# c\r\n", "    if x:\r\n    \ty\r\n\r\n    # c\r\n" },
        { "a = '''x\n y\n'''\nb = (1,\n2)\n  \n", "    a = '''x\n y\n'''\n    b = (1,\n    2)\n  \n" },
        { "a = 'x\\\ny' + \\\n  'z'\n", "    a = 'x\\\ny' + \\\n      'z'\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(blocks); i++) {
        char *got = python_indent(blocks[i].in);

        assert_non_null(got);
        assert_string_equal(got, blocks[i].out);
        mem_free(got);
    }
}

static void short_memory_gives_null(void **state)
{
    (void)state;
    OOM_SWEEP({
        char *got = python_dedent("  a\n");

        assert_true(got || oom_hit());
        mem_free(got);
    });
    OOM_SWEEP({
        char *got = python_indent("a\n");

        assert_true(got || oom_hit());
        mem_free(got);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_indentation_goes_and_literals_stay),
        cmocka_unit_test(a_block_is_indented_but_for_its_literals),
        cmocka_unit_test(short_memory_gives_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
