/* The model, its words (kinds.c) and the providers it names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/model.h"
#include "shared/diagram/provider.h"
#include "tests/support/oom.h"

static void an_empty_or_half_built_model_is_released(void **state)
{
    struct model m;
    struct state *s;

    (void)state;
    model_release(NULL);
    model_init(&m);
    assert_int_equal(m.default_llm, MODEL_NONE);
    assert_int_equal(m.settings.platform, PLATFORM_DEFAULT);
    model_release(&m);
    model_add_llm(&m);
    model_add_tool(&m);
    model_add_skill(&m);
    model_add_workspace(&m);
    model_add_intent(&m);
    model_add_gui(&m);
    model_add_rag(&m);
    s = model_add_state(&m);
    assert_non_null(model_add_action(&s->body));
    assert_non_null(model_add_transition(s));
    assert_int_equal(s->transitions[0].intent, MODEL_NONE);
    assert_int_equal(s->body.items[0].llm, MODEL_NONE);
    s->name = mem_strdup("x");
    model_release(&m);
    assert_int_equal(m.states_len, 0);
}

static void dropping_takes_the_last_one(void **state)
{
    struct state s = { 0 };
    struct action *a;
    struct transition *t;

    (void)state;
    model_add_action(&s.body);
    a = model_add_action(&s.body);
    a->text = mem_strdup("x");
    action_list_drop_last(&s.body);
    assert_int_equal(s.body.len, 1);
    t = model_add_transition(&s);
    t->conditions = mem_zalloc(1, sizeof(*t->conditions));
    t->conditions_len = 1;
    t->conditions[0].source = mem_strdup("x");
    state_drop_last_transition(&s);
    assert_int_equal(s.transitions_len, 0);
    action_list_drop_last(&s.body);
    mem_free(s.body.items);
    mem_free(s.transitions);
}

/* Two LLMs, a store, a GUI, and one of each that names them. */
static int build(struct model *m)
{
    static const char *const llms[] = { "a", "caf\xc3\xa9", "a" };
    struct state *s;
    struct action *x;
    size_t i;

    for (i = 0; i < 3; i++) {
        struct llm *l = model_add_llm(m);

        if (!l || !(l->name = mem_strdup(llms[i])))
            return -1;
    }
    if (!model_add_rag(m) || !(m->rags[0].name = mem_strdup("docs")) || !(m->rags[0].llm_name = mem_strdup("")) ||
        !model_add_gui(m) || !(m->guis[0].gui_id = mem_strdup("card")) || !(s = model_add_state(m)) ||
        !(s->llm_name = mem_strdup("cafe\xcc\x81")))
        return -1;
    for (i = 0; i < 3; i++)
        if (!(x = model_add_action(i ? &s->body : &s->fallback)))
            return -1;
    s->fallback.items[0].kind = ACTION_RAG;
    s->fallback.items[0].text = mem_strdup("docs");
    s->body.items[0].kind = ACTION_GUI;
    s->body.items[0].text = mem_strdup("card");
    s->body.items[1].kind = ACTION_LLM;
    s->body.items[1].llm_name = mem_strdup("a");
    m->settings.classifier_llm_name = mem_strdup("cafe\xcc\x81");
    if (!m->settings.classifier_llm_name)
        return -1;
    return s->fallback.items[0].text && s->body.items[0].text && s->body.items[1].llm_name ? 0 : -1;
}

static void names_resolve_to_the_first_of_that_name(void **state)
{
    struct err err = { 0 };
    struct model m;

    (void)state;
    model_init(&m);
    assert_int_equal(build(&m), 0);
    assert_int_equal(model_resolve(&m, &err), 0);
    assert_int_equal(m.rags[0].llm, MODEL_NONE);
    assert_int_equal(m.states[0].llm, 1);
    assert_int_equal(m.states[0].fallback.items[0].rag, 0);
    assert_int_equal(m.states[0].fallback.items[0].gui, MODEL_NONE);
    assert_int_equal(m.states[0].body.items[0].gui, 0);
    assert_int_equal(m.states[0].body.items[1].llm, 0);
    assert_string_equal(m.states[0].llm_name, "caf\xc3\xa9");
    assert_string_equal(m.settings.classifier_llm_name, "caf\xc3\xa9");
    model_release(&m);
}

static void short_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct err err = { 0 };
        struct model m;

        model_init(&m);
        if (build(&m) == 0 && model_resolve(&m, &err) < 0)
            assert_int_equal(err.errnum, 12);
        model_release(&m);
    });
}

static void every_word_of_the_format_reads_back(void **state)
{
    enum action_kind kind;
    enum compare_op op;
    size_t i;

    (void)state;
    for (i = 0; i < ACTION__MAX; i++) {
        assert_non_null(action_kind_title((enum action_kind)i));
        assert_int_equal(action_kind_parse(action_kind_type((enum action_kind)i), &kind), 0);
        assert_int_equal(kind, i);
    }
    assert_int_equal(action_kind_parse("textreplyaction", &kind), -1);
    assert_int_equal(compare_op_parse("<=", &op), 0);
    assert_string_equal(compare_op_name(op), "le");
    assert_int_equal(compare_op_parse("=", &op), -1);
    assert_null(event_class(EVENT_NONE));
    for (i = 1; i < EVENT__MAX; i++)
        assert_non_null(event_class((enum event_kind)i));
}

static void transitions_wait_for_the_event_of_their_kind(void **state)
{
    static const char *const expected[TRANSITION__MAX] = {
        [TRANSITION_INTENT] = "ReceiveTextEvent", [TRANSITION_NO_INTENT] = "ReceiveTextEvent",
        [TRANSITION_FILE] = "ReceiveFileEvent",   [TRANSITION_FORM] = "GUIEvent",
        [TRANSITION_CUSTOM] = "DummyEvent",
    };
    size_t i;

    (void)state;
    for (i = 0; i < TRANSITION__MAX; i++) {
        struct transition t = { .kind = (enum transition_kind)i, .event = EVENT_DUMMY };
        const char *name = transition_event_class(&t);

        assert_true(expected[i] ? strcmp(name, expected[i]) == 0 : !name);
    }
}

static void providers_are_found_by_lower_case_name(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; llm_provider_at(i); i++)
        assert_ptr_equal(llm_provider_find(llm_provider_at(i)->name), llm_provider_at(i));
    assert_int_equal(i, 15);
    assert_null(llm_provider_find("OpenAI"));
    assert_null(llm_provider_find(""));
    assert_null(llm_provider_find("ollama")->key_property);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_or_half_built_model_is_released),
        cmocka_unit_test(dropping_takes_the_last_one),
        cmocka_unit_test(names_resolve_to_the_first_of_that_name),
        cmocka_unit_test(short_memory_leaves_nothing_behind),
        cmocka_unit_test(every_word_of_the_format_reads_back),
        cmocka_unit_test(transitions_wait_for_the_event_of_their_kind),
        cmocka_unit_test(providers_are_found_by_lower_case_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
