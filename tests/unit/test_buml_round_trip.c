/* What is written as Python and read again is the same model: section 10 of the B-UML contract, for every diagram of
 * the fixtures, in both forms (Python text, diagram JSON made of it). */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/export.h"
#include "shared/buml/read.h"
#include "shared/buml/write.h"
#include "shared/diagram/write.h"
#include "tests/support/diagram.h"
#include "tests/support/model_dump.h"

#define DIAGRAMS "tests/fixtures/diagrams/*.json"

static int start(void **state)
{
    *state = test_parser();
    return 0;
}

static int end(void **state)
{
    python_parser_free(*state);
    return 0;
}

/* Says the first line that differs. */
static void same(const char *path, const char *form, const char *want, const char *got)
{
    size_t n = 0, line = 0;

    for (n = 0; want[n] && want[n] == got[n]; n++)
        if (want[n] == '\n')
            line = n + 1;
    if (want[n] != got[n])
        fail_msg("%s, %s:\nwant %.*s\ngot  %.*s", path, form, (int)strcspn(want + line, "\n"), want + line,
                 (int)strcspn(got + line, "\n"), got + line);
}

static void read_json(const char *path, const struct model *m, struct python_parser *parser, const char *want)
{
    struct read_result back = { .rc = -1 };
    cJSON *request = cJSON_CreateObject(), *model = NULL;
    struct err err = { 0 };
    char *got;

    if (diagram_write(m, &model, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
    cJSON_AddStringToObject(request, "title", m->name);
    cJSON_AddItemToObject(request, "model", model);
    model_init(&back.model);
    findings_init(&back.findings);
    if (diagram_read(request, parser, &back.model, &back.findings, &back.err) < 0)
        fail_msg("%s: %s", path, back.findings.len ? back.findings.items[0].message : back.err.msg);
    got = model_dump(&back.model);
    same(path, "JSON", want, got);
    mem_free(got);
    read_result_release(&back);
    cJSON_Delete(request);
}

static void go_round(const char *path, struct model *m, struct python_parser *parser)
{
    struct findings f;
    struct model back;
    struct err err = { 0 };
    struct buf text;
    char *want, *got;

    buf_init(&text, BUML_TEXT_MAX);
    findings_init(&f);
    assert_int_equal(buml_judge_conditions(m, parser, &err), 0);
    if (buml_write(m, &text, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
    if (buml_read(text.data, text.len, parser, &back, &f, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
    want = model_dump(m);
    got = model_dump(&back);
    same(path, "Python", want, got);
    read_json(path, &back, parser, want);
    mem_free(want);
    mem_free(got);
    model_release(&back);
    findings_release(&f);
    buf_release(&text);
}

static bool is_valid(const struct model *m)
{
    struct findings f;
    size_t errors;

    findings_init(&f);
    assert_int_equal(diagram_check(m, &f, NULL), 0);
    errors = f.errors;
    findings_release(&f);
    return !errors;
}

static void every_fixture_survives_the_round_trip(void **state)
{
    size_t i, done = 0;
    glob_t found;

    assert_int_equal(glob(DIAGRAMS, 0, NULL, &found), 0);
    for (i = 0; i < found.gl_pathc; i++) {
        struct read_result r;

        read_file_at(found.gl_pathv[i], *state, &r);
        if (r.rc == 0 && is_valid(&r.model)) {
            go_round(found.gl_pathv[i], &r.model, *state);
            done++;
        }
        read_result_release(&r);
    }
    globfree(&found);
    assert_true(done > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_fixture_survives_the_round_trip) };

    return cmocka_run_group_tests(tests, start, end);
}
