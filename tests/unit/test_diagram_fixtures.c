/* Every diagram of tests/fixtures: refused or accepted as its expected file says, and refusals name
 * what it names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"

#define FIXTURES "tests/fixtures"

static cJSON *load(const char *folder, const char *name)
{
    struct json_error e;
    char path[512];
    cJSON *tree;
    struct buf b;

    snprintf(path, sizeof(path), FIXTURES "/%s/%s", folder, name);
    buf_init(&b, 16u << 20);
    assert_int_equal(io_read_file(path, &b, NULL), 0);
    tree = json_parse(b.data, b.len, &e);
    buf_release(&b);
    return tree;
}

/* All messages of errors in one composed text. */
static char *said(const struct findings *f)
{
    struct buf b;
    size_t i;
    char *key;

    buf_init(&b, 1u << 20);
    for (i = 0; i < f->len; i++)
        if (f->items[i].severity == FINDING_ERROR)
            buf_add_fmt(&b, "%s [%s]\n", f->items[i].message, f->items[i].where);
    key = text_key(b.data ? b.data : "");
    buf_release(&b);
    return key;
}

static bool names_all(const cJSON *expected, const char *text)
{
    const cJSON *c = json_get(json_get(expected, "error"), "names");

    for (c = c ? c->child : NULL; c; c = c->next) {
        char *key = text_key(c->valuestring);
        bool found = strstr(text, key) != NULL;

        mem_free(key);
        if (!found)
            return false;
    }
    return true;
}

/* A lint fixture is refused by rule 10 or 28, a condition by 28 or 29; the rest by anything. */
static bool rule_fits(const char *name, const struct findings *f)
{
    int rule = f->len ? f->items[f->len - 1].rule : 0;

    if (strcmp(name, "lint_code_nul.json") == 0)
        return rule == 0;
    if (strncmp(name, "lint_", 5) == 0)
        return rule == 10 || rule == 28;
    if (strncmp(name, "error_condition", 15) == 0)
        return rule == 28 || rule == 29;
    if (strncmp(name, "error_shape", 11) == 0)
        return rule == 0;
    return rule != 0;
}

static void judge(const char *name, struct python_parser *parser, struct read_result *r)
{
    char path[512];

    snprintf(path, sizeof(path), FIXTURES "/diagrams/%s", name);
    read_file_at(path, parser, r);
    if (r->rc < 0)
        return;
    assert_int_equal(diagram_check(&r->model, &r->findings, &r->err), 0);
    if (!r->findings.errors)
        assert_int_equal(diagram_check_program(&r->model, true, parser, &r->findings, &r->err), 0);
}

static bool events_fit(const cJSON *expected, const struct model *m)
{
    const cJSON *c = json_get(expected, "event_list");
    struct str_list events = { 0 };
    bool same = true;
    size_t i = 0;

    assert_int_equal(diagram_event_list(m, &events), 0);
    for (c = c ? c->child : NULL; c; c = c->next, i++)
        same = same && i < events.len && strcmp(c->valuestring, events.items[i]) == 0;
    same = same && i == events.len;
    str_list_release(&events);
    return same;
}

/* 0 fine, else 1 after saying what is wrong. */
static int check_one(const char *name, struct python_parser *parser)
{
    cJSON *expected = load("expected", name);
    bool refuse = strcmp(json_get(expected, "outcome")->valuestring, "error") == 0;
    struct read_result r;
    char *text;
    int bad;

    judge(name, parser, &r);
    text = said(&r.findings);
    if (refuse)
        bad = !r.findings.errors || !names_all(expected, text) || !rule_fits(name, &r.findings);
    else
        bad = r.findings.errors || r.rc < 0 || !events_fit(expected, &r.model);
    if (bad)
        print_error("%s: expected %s, rc %d, err \"%s\", said:\n%s", name, refuse ? "a refusal" : "acceptance", r.rc,
                    r.err.msg, text);
    if (getenv("SHOW_FINDINGS"))
        print_message("%s: %s", name, *text ? text : "\n");
    mem_free(text);
    read_result_release(&r);
    cJSON_Delete(expected);
    return bad;
}

static void every_fixture_is_judged_as_expected(void **state)
{
    struct python_parser *parser = test_parser();
    DIR *dir = opendir(FIXTURES "/diagrams");
    struct dirent *d;
    int bad = 0, seen = 0;

    (void)state;
    assert_non_null(dir);
    while ((d = readdir(dir)))
        if (strstr(d->d_name, ".json")) {
            bad += check_one(d->d_name, parser);
            seen++;
        }
    closedir(dir);
    python_parser_free(parser);
    assert_true(seen > 200);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_is_judged_as_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
