#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/python/parser.h"
#include "tests/support/run_program.h"

static char program[PROGRAM_PATH];

static int find_program(void **state)
{
    (void)state;
    return program_beside("agentsim-pyparse", program);
}

static int start(void **state)
{
    struct python_parser *p = NULL;
    int r = python_parser_new(program, &p, NULL);

    *state = p;
    return r;
}

static int end(void **state)
{
    python_parser_free(*state);
    return 0;
}

static void parse(struct python_parser *p, const char *source, struct python_facts *ret)
{
    struct err err = { 0 };

    if (python_parse(p, source, strlen(source), ret, &err) < 0)
        fail_msg("%s: %s", source, err.msg);
}

/* Asks something that no cache can know. */
static void assert_works(struct python_parser *p)
{
    static int asked;
    struct python_facts f;
    char source[64];

    snprintf(source, sizeof(source), "def f%d(session): pass", asked++);
    parse(p, source, &f);
    assert_true(f.valid);
    python_facts_release(&f);
}

static void a_tree_names_every_node_and_its_place(void **state)
{
    static const char source[] = "x = f('a\\n', b'\\x01', 12, 1.5, 2j, None, True, ..., k=-1)\n";
    static const char want[] = "{\"_\":\"Module\",\"body\":[{\"_\":\"Assign\",\"l\":1,\"c\":0,\"ec\":57,"
                               "\"targets\":["
                               "{\"_\":\"Name\",\"l\":1,\"c\":0,\"ec\":1,\"id\":\"x\"}],"
                               "\"value\":{\"_\":\"Call\",\"l\":1,\"c\":4,\"ec\":57,"
                               "\"func\":{\"_\":\"Name\",\"l\":1,\"c\":4,\"ec\":5,\"id\":\"f\"},\"args\":["
                               "{\"_\":\"Constant\",\"l\":1,\"c\":6,\"ec\":11,\"t\":\"str\",\"v\":\"a\\n\"},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":13,\"ec\":20,\"t\":\"bytes\",\"v\":\"01\"},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":22,\"ec\":24,\"t\":\"int\",\"v\":\"12\"},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":26,\"ec\":29,\"t\":\"float\",\"v\":\"1.5\"},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":31,\"ec\":33,\"t\":\"complex\",\"v\":\"2j\"},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":35,\"ec\":39,\"t\":\"NoneType\",\"v\":null},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":41,\"ec\":45,\"t\":\"bool\",\"v\":true},"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":47,\"ec\":50,\"t\":\"ellipsis\",\"v\":null}],"
                               "\"keywords\":[{\"_\":\"keyword\",\"l\":1,\"c\":52,\"ec\":56,\"arg\":\"k\","
                               "\"value\":"
                               "{\"_\":\"UnaryOp\",\"l\":1,\"c\":54,\"ec\":56,\"op\":\"USub\",\"operand\":"
                               "{\"_\":\"Constant\",\"l\":1,\"c\":55,\"ec\":56,\"t\":\"int\",\"v\":\"1\"}}}]}}]}";
    auto_free char *json = NULL;
    struct err err = { 0 };

    if (python_tree(*state, source, strlen(source), &json, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(json, want);
}

static void a_tree_replaces_what_json_cannot_hold(void **state)
{
    static const char source[] = "'\\0\\ud800\xf0\x9f\x98\x80'";
    auto_free char *json = NULL;

    assert_int_equal(python_tree(*state, source, strlen(source), &json, NULL), 0);
    assert_non_null(strstr(json, "\"v\":\"\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\",\"x\":1"));
}

static void a_tree_of_a_bad_source_names_the_place(void **state)
{
    struct err err = { 0 };
    char *json = NULL;

    assert_int_equal(python_tree(*state, "x = 1\ny = (", 11, &json, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_string_equal(err.msg, "line 2, column 5: '(' was never closed");
    assert_null(json);
}

static void a_big_tree_comes_whole(void **state)
{
    auto_buf struct buf source;
    auto_free char *json = NULL;
    struct err err = { 0 };
    const char *at;
    int i, seen = 0;

    buf_init(&source, PYTHON_SOURCE_MAX);
    for (i = 0; i < 20000; i++)
        buf_add_fmt(&source, "a%d.b('c')\n", i);
    if (python_tree(*state, source.data, source.len, &json, &err) < 0)
        fail_msg("%s", err.msg);
    for (at = json; (at = strstr(at, "\"_\":\"Call\"")); at++)
        seen++;
    assert_int_equal(seen, 20000);
    assert_true(str_ends(json, "}}]}"));
}

static void a_tree_too_deep_is_refused(void **state)
{
    static const struct {
        size_t levels;
        bool fits;
    } rows[] = { { 900, true }, { 1100, false }, { 2800, false } };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf source;
        struct err err = { 0 };
        char *json = NULL;

        buf_init(&source, PYTHON_SOURCE_MAX);
        buf_add_str(&source, "x = a");
        while (source.len < 2 * rows[i].levels)
            buf_add_str(&source, ".b");
        assert_int_equal(python_tree(*state, source.data, source.len, &json, &err), rows[i].fits ? 0 : -1);
        assert_int_equal(err.kind, rows[i].fits ? ERR_NONE : ERR_BAD_REQUEST);
        mem_free(json);
        assert_works(*state);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_names_every_node_and_its_place, start, end),
        cmocka_unit_test_setup_teardown(a_tree_replaces_what_json_cannot_hold, start, end),
        cmocka_unit_test_setup_teardown(a_tree_of_a_bad_source_names_the_place, start, end),
        cmocka_unit_test_setup_teardown(a_big_tree_comes_whole, start, end),
        cmocka_unit_test_setup_teardown(a_tree_too_deep_is_refused, start, end),
    };

    return cmocka_run_group_tests(tests, find_program, NULL);
}
