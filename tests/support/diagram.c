#include "tests/support/diagram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/json/json.h"
#include "tests/support/run_program.h"

struct python_parser *test_parser(void)
{
    char path[PROGRAM_PATH];
    struct python_parser *p = NULL;

    assert_int_equal(program_beside("agentsim-pyparse", path), 0);
    assert_int_equal(python_parser_new(path, &p, NULL), 0);
    return p;
}

void read_text(const char *json, struct python_parser *parser, struct read_result *ret)
{
    struct json_error e;
    cJSON *tree = json_parse(json, strlen(json), &e);

    *ret = (struct read_result){ .rc = -1 };
    model_init(&ret->model);
    findings_init(&ret->findings);
    if (!tree) {
        finding_add(&ret->findings, FINDING_ERROR, 0, "", "%s", e.message);
        return;
    }
    ret->rc = diagram_read(tree, parser, &ret->model, &ret->findings, &ret->err);
    cJSON_Delete(tree);
}

void read_file_at(const char *path, struct python_parser *parser, struct read_result *ret)
{
    struct buf b;

    buf_init(&b, 16u << 20);
    assert_int_equal(io_read_file(path, &b, NULL), 0);
    read_text(b.data, parser, ret);
    buf_release(&b);
}

void read_result_release(struct read_result *r)
{
    model_release(&r->model);
    findings_release(&r->findings);
}

char *quoted(const char *json)
{
    char *copy = mem_strdup(json), *c;

    assert_non_null(copy);
    for (c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

void read_quoted(const char *json, struct python_parser *parser, struct read_result *ret)
{
    char *text = quoted(json);

    read_text(text, parser, ret);
    mem_free(text);
}

void read_parts(const char *hub, const char *elements, const char *arcs, struct python_parser *parser,
                struct read_result *ret)
{
    struct buf b;

    buf_init(&b, 64u << 20);
    buf_add_fmt(&b,
                "{'title':'T','model':{'elements':{'i':{'type':'StateInitialNode'},"
                "'s':{'type':'AgentState','name':'hub'%s}%s},'relationships':{"
                "'r':{'type':'AgentStateTransitionInit','source':{'element':'i'},"
                "'target':{'element':'s'}}%s}}}",
                hub, elements, arcs);
    assert_false(buf_failed(&b));
    read_quoted(b.data, parser, ret);
    buf_release(&b);
}

bool has_finding(const struct findings *f, int rule, const char *const *words)
{
    size_t i, k;

    for (i = 0; i < f->len; i++) {
        if (f->items[i].rule != rule || f->items[i].severity != FINDING_ERROR)
            continue;
        for (k = 0; words[k] && strstr(f->items[i].message, words[k]); k++)
            ;
        if (!words[k])
            return true;
    }
    return false;
}
