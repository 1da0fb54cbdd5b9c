#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/write.h"
#include "shared/diagram/write.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

#define FIXTURES "tests/fixtures/diagrams"

static cJSON *written(const struct model *m)
{
    struct err err = { 0 };
    cJSON *tree = NULL;

    if (diagram_write(m, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    return tree;
}

/* All of a model as text: what makes two of them equal. */
static char *told(const struct model *m)
{
    struct err err = { 0 };
    auto_buf struct buf out;
    size_t i;

    buf_init(&out, SIZE_MAX / 2);
    if (buml_write(m, &out, &err) < 0)
        fail_msg("%s", err.msg);
    for (i = 0; i < m->guis_len; i++)
        value_write(&m->guis[i].design, 0, &out);
    return buf_steal(&out, NULL);
}

static void read_again(const cJSON *diagram, const char *title, struct read_result *ret)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&text, "{\"title\":");
    buf_add_json_str(&text, title, strlen(title));
    buf_add_str(&text, ",\"model\":");
    json_write(diagram, 2, &text);
    buf_add_char(&text, '}');
    assert_false(buf_failed(&text));
    read_text(text.data, NULL, ret);
}

static void show_difference(const char *name, const char *one, const char *two)
{
    size_t i = 0, from;

    while (one[i] && one[i] == two[i])
        i++;
    from = i > 60 ? i - 60 : 0;
    print_error("%s: %.200s\n--- became\n%.200s\n", name, one + from, two + from);
}

static bool survives(const char *name, const struct model *m)
{
    cJSON *diagram = written(m);
    struct read_result again;
    bool same = false;

    read_again(diagram, m->name, &again);
    if (again.rc == 0) {
        auto_free char *one = told(m), *two = told(&again.model);

        same = strcmp(one, two) == 0;
        if (!same)
            show_difference(name, one, two);
    } else {
        print_error("%s: %s\n", name,
                    again.findings.len ? again.findings.items[again.findings.len - 1].message : again.err.msg);
    }
    read_result_release(&again);
    cJSON_Delete(diagram);
    return same;
}

static void every_fixture_survives(void **state)
{
    DIR *dir = opendir(FIXTURES);
    size_t tried = 0, lost = 0;
    struct dirent *e;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir))) {
        struct read_result r;
        char path[512];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), FIXTURES "/%s", e->d_name);
        read_file_at(path, NULL, &r);
        if (r.rc == 0) {
            tried++;
            lost += !survives(e->d_name, &r.model);
        }
        read_result_release(&r);
    }
    closedir(dir);
    assert_true(tried > 150);
    assert_int_equal(lost, 0);
}

static void many_states(struct read_result *ret, unsigned len)
{
    auto_buf struct buf elements, arcs;
    unsigned i;

    buf_init(&elements, 1u << 20);
    buf_init(&arcs, 1u << 20);
    buf_add_str(&elements, "");
    buf_add_str(&arcs, "");
    for (i = 0; i < len; i++) {
        buf_add_fmt(&elements, ",'n%u':{'type':'AgentState','name':'n%u','stateType':'%s'}", i, i,
                    i % 3 ? "standard" : "reasoning");
        buf_add_fmt(&arcs,
                    ",'t%u':{'type':'AgentStateTransition','source':{'element':'%s'},'target':{'element':'n%u'}}", i,
                    i % 2 ? "s" : "n0", i);
    }
    read_parts("", elements.data, arcs.data, NULL, ret);
    assert_int_equal(ret->rc, 0);
}

struct rectangle {
    double x, y, width, height;
};

static struct rectangle bounds_of(const cJSON *e)
{
    const cJSON *b = json_get(e, "bounds");

    return (struct rectangle){ json_get(b, "x")->valuedouble, json_get(b, "y")->valuedouble,
                               json_get(b, "width")->valuedouble, json_get(b, "height")->valuedouble };
}

static bool apart(struct rectangle a, struct rectangle b)
{
    return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

static bool is_drawn(const cJSON *e)
{
    const char *type = json_get(e, "type")->valuestring;

    return strcmp(type, "AgentState") == 0 || strcmp(type, "StateInitialNode") == 0 || strcmp(type, "Comments") == 0;
}

static void nothing_lies_on_something_else(void **state)
{
    struct read_result r;
    const cJSON *a, *b, *elements;
    cJSON *diagram;

    (void)state;
    many_states(&r, 60);
    diagram = written(&r.model);
    elements = json_get(diagram, "elements");
    cJSON_ArrayForEach(a, elements)
    {
        for (b = a->next; b && is_drawn(a); b = b->next)
            if (is_drawn(b))
                assert_true(apart(bounds_of(a), bounds_of(b)));
    }
    cJSON_Delete(diagram);
    read_result_release(&r);
}

static void arcs_begin_and_end_where_they_say(void **state)
{
    const cJSON *arc, *path, *end, *elements;
    struct read_result r;
    cJSON *diagram;

    (void)state;
    many_states(&r, 30);
    diagram = written(&r.model);
    elements = json_get(diagram, "elements");
    cJSON_ArrayForEach(arc, json_get(diagram, "relationships"))
    {
        struct rectangle box;

        path = json_get(arc, "path");
        assert_in_range(cJSON_GetArraySize(path), 2, 5);
        end = json_get(arc, "source");
        assert_non_null(json_get(elements, json_get(end, "element")->valuestring));
        assert_true(json_get(path->child, "x")->valuedouble == bounds_of(end).x);
        assert_true(json_get(path->child->prev, "y")->valuedouble == bounds_of(json_get(arc, "target")).y);
        box = bounds_of(arc);
        assert_true(box.width >= 20 && box.height >= 20);
    }
    cJSON_Delete(diagram);
    read_result_release(&r);
}

static bool looks_like_uuid4(const char *id)
{
    size_t i;

    if (strlen(id) != 36 || id[14] != '4' || !strchr("89ab", id[19]))
        return false;
    for (i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? id[i] != '-' : !strchr("0123456789abcdef", id[i]))
            return false;
    return true;
}

static void ids_are_stable_and_look_random(void **state)
{
    struct read_result r;
    auto_buf struct buf one, two;
    cJSON *a, *b;
    const cJSON *e;

    (void)state;
    buf_init(&one, SIZE_MAX / 2);
    buf_init(&two, SIZE_MAX / 2);
    many_states(&r, 5);
    a = written(&r.model);
    b = written(&r.model);
    json_write(a, 0, &one);
    json_write(b, 0, &two);
    assert_string_equal(one.data, two.data);
    cJSON_ArrayForEach(e, json_get(a, "elements"))
    {
        assert_true(looks_like_uuid4(e->string));
        assert_string_equal(e->string, json_get(e, "id")->valuestring);
        assert_ptr_equal(json_get(json_get(a, "elements"), e->string), e); /* the first of that id */
    }
    cJSON_Delete(a);
    cJSON_Delete(b);
    read_result_release(&r);
}

static void the_default_llm_is_remembered(void **state)
{
    struct read_result r, again;
    cJSON *diagram;

    (void)state;
    read_parts(
        "", ",'a':{'type':'AgentLLM','name':'one','parameters':{'t':1.0,'n':1}},'b':{'type':'AgentLLM','name':'two'}",
        "", NULL, &r);
    r.model.default_llm = 1;
    diagram = written(&r.model);
    assert_string_equal(json_get(json_get(diagram, "config"), "default_llm_name")->valuestring, "two");
    read_again(diagram, "T", &again);
    assert_int_equal(again.model.default_llm, 1);
    assert_int_equal(again.model.llms[0].parameters.items[0].kind, VALUE_DOUBLE);
    assert_int_equal(again.model.llms[0].parameters.items[1].kind, VALUE_INT);
    read_result_release(&again);
    cJSON_Delete(diagram);
    read_result_release(&r);
}

/* A function decides that has the name of its place among all transitions. */
static void conditions_come_to_their_places_again(void **state)
{
#define STEP(id, from, more) \
    ",'" id "':{'type':'AgentStateTransition','source':{'element':'" from "'},'target':{'element':'s'}," more "}"
#define ASK(text) "'transitionType':'custom','custom':{'condition':['" text "']}"
#define INTENT "'predefinedType':'when_no_intent_matched'"
    struct read_result r, again;
    cJSON *diagram;

    (void)state;
    read_parts("", ",'b':{'type':'AgentState','name':'b'},'c':{'type':'AgentState','name':'c'}",
               STEP("t1", "c", INTENT) STEP("t2", "s", ASK("lambda s: 2")) STEP("t3", "c", ASK("lambda s: 3"))
                   STEP("t4", "b", INTENT) STEP("t5", "s", INTENT) STEP("t6", "b", ASK("lambda s: 6")),
               NULL, &r);
    assert_int_equal(r.rc, 0);
    diagram = written(&r.model);
    read_again(diagram, "T", &again);
    assert_string_equal(again.model.states[0].transitions[0].conditions[0].label, "condition_2_1");
    assert_string_equal(again.model.states[1].transitions[1].conditions[0].label, "condition_6_1");
    assert_string_equal(again.model.states[2].transitions[1].conditions[0].label, "condition_3_1");
    read_result_release(&again);
    cJSON_Delete(diagram);
    read_result_release(&r);
}

static void short_memory_is_an_error(void **state)
{
    struct read_result r;

    (void)state;
    read_file_at(FIXTURES "/many_actions_in_order.json", NULL, &r);
    OOM_SWEEP({
        struct err err = { 0 };
        cJSON *tree = NULL;

        if (diagram_write(&r.model, &tree, &err) < 0)
            assert_null(tree);
        else
            assert_false(oom_hit());
        cJSON_Delete(tree);
    });
    read_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_survives),
        cmocka_unit_test(nothing_lies_on_something_else),
        cmocka_unit_test(arcs_begin_and_end_where_they_say),
        cmocka_unit_test(ids_are_stable_and_look_random),
        cmocka_unit_test(the_default_llm_is_remembered),
        cmocka_unit_test(conditions_come_to_their_places_again),
        cmocka_unit_test(short_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
