/* Transitions with every spelling they had over time (section 4, and section 11 for the oldest). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"
#include "shared/python/dedent.h"

struct arc { /* one relationship while it is read */
    struct reader *r;
    const cJSON *node;
    const cJSON *predefined, *custom; /* blocks; NULL or no object reads as empty */
    const cJSON *payload;             /* conditionValue as 4.3 finds it */
    size_t source;
    struct transition *t; /* already in the state's list */
};

enum { KEEP = 1, DROP = 0 }; /* or -1 */

static const cJSON *given(const struct arc *a, const cJSON *block, const char *key)
{
    return first_given(json_get(block, key), json_get(a->node, key));
}

/* A text in a key of its own, in old diagrams in the arc's conditionValue. */
static const cJSON *said(const struct arc *a, const char *key)
{
    return first_given(given(a, a->predefined, key), json_get(a->node, "conditionValue"));
}

static const char *state_name(const struct arc *a)
{
    return a->r->m->states[a->source].name;
}

static int keep_text(const struct arc *a, const cJSON *v, char **slot)
{
    char *text = value_text(v);

    mem_free(*slot);
    *slot = text;
    return text ? reader_charge(a->r, strlen(text) + 1) : reader_nomem(a->r);
}

/* The id of the GUI that a text means, as the GUI itself spells it: its own was trimmed and cleaned. Any other text
 * stays as it is, NULL when there is none. */
static int keep_gui_id(const struct arc *a, const cJSON *v, char **slot)
{
    auto_free char *raw = value_is_empty(v) ? NULL : value_text(v), *id = raw ? text_trim_clean(raw) : NULL;
    size_t at = MAP_NONE;

    if (value_is_empty(v))
        return 0;
    if (!id || map_find_name(&a->r->guis, id, &at) < 0)
        return reader_nomem(a->r);
    if (at == MAP_NONE)
        *slot = steal_ptr(raw);
    else
        *slot = mem_strdup(a->r->m->guis[at].gui_id);
    return *slot ? reader_charge(a->r, strlen(*slot) + 1) : reader_nomem(a->r);
}

static int drop(const struct arc *a, const char *why)
{
    finding_add(a->r->f, FINDING_WARNING, 0, RELATION_PATH(a->node, NULL),
                "State \"%s\": transition \"%s\" is ignored: %s", SHOWN(state_name(a)), SHOWN(a->node->string), why);
    return DROP;
}

/* ---- predefined kinds (4.4)
 * ------------------------------------------------------------------------------------ */

static int read_no_intent(struct arc *a)
{
    a->t->kind = TRANSITION_NO_INTENT;
    return KEEP;
}

static int read_auto(struct arc *a)
{
    a->t->kind = TRANSITION_AUTO;
    return KEEP;
}

/* Rule 7: an intent may leave a state once. */
static int use_intent_once(struct arc *a)
{
    size_t key[2] = { a->source, a->t->intent };
    int rc;

    if (a->t->intent == MODEL_NONE)
        return KEEP; /* rule 13 */
    rc = map_put(&a->r->intents_used, key, sizeof(key), 1, NULL);
    if (rc == 0)
        return finding_add(a->r->f, FINDING_ERROR, 7, RELATION_PATH(a->node, NULL),
                           "State \"%s\" has two transitions on the intent \"%s\"", SHOWN(state_name(a)),
                           SHOWN(a->r->m->intents[a->t->intent].name));
    return rc < 0 ? reader_nomem(a->r) : KEEP;
}

static int read_intent(struct arc *a)
{
    const cJSON *v = said(a, "intentName");
    char *folded;
    int rc;

    if (!cJSON_IsString(v) || text_is_blank(v->valuestring))
        return drop(a, "it waits for an intent but names none");
    if (reader_charge_name(a->r, v->valuestring) < 0)
        return -1;
    a->t->kind = TRANSITION_INTENT;
    a->t->intent_name = text_trim(v->valuestring);
    folded = text_fold_key(v->valuestring);
    if (!a->t->intent_name || !folded || map_find_name(&a->r->intents, v->valuestring, &a->t->intent) < 0 ||
        (a->t->intent == MAP_NONE && map_find_name(&a->r->intents, a->t->intent_name, &a->t->intent) < 0))
        rc = reader_nomem(a->r);
    else if (strcmp(folded, "fallback_intent") == 0)
        rc = read_no_intent(a);
    else {
        if (a->t->intent == MAP_NONE)
            a->t->intent = map_get(&a->r->intents_folded, folded, strlen(folded));
        rc = use_intent_once(a);
    }
    mem_free(folded);
    return rc;
}

/* The three parts of a comparison: from the payload, in the oldest diagrams from the arc itself. */
static const cJSON *comparison(const struct arc *a)
{
    if (cJSON_IsObject(a->payload) && !value_is_empty(json_get(a->payload, "variable")) &&
        !value_is_empty(json_get(a->payload, "operator")))
        return a->payload;
    if (!value_is_empty(json_get(a->node, "variable")) && !value_is_empty(json_get(a->node, "operator")))
        return a->node;
    return NULL;
}

static int read_variable(struct arc *a)
{
    const cJSON *from = comparison(a), *op, *target;
    const char *key;

    if (!from)
        return read_no_intent(a);
    op = json_get(from, "operator");
    if (!cJSON_IsString(op) || compare_op_parse(op->valuestring, &a->t->op) < 0)
        return drop(a, "its comparison has an unknown operator");
    a->t->kind = TRANSITION_VARIABLE;
    target = json_get(from, "targetValue");
    if (target && !value_fits_depth(target, VALUE_DEPTH_MAX))
        return finding_add(a->r->f, FINDING_ERROR, 0, RELATION_PATH(a->node, "targetValue"),
                           "State \"%s\": the value a variable is compared with is nested more "
                           "than %d levels deep",
                           SHOWN(state_name(a)), VALUE_DEPTH_MAX);
    if (keep_text(a, json_get(from, "variable"), &a->t->variable) < 0)
        return -1;
    if (target && value_is_finite(target, &key) && json_to_value(target, &a->t->target_value) < 0)
        return reader_nomem(a->r); /* what is not finite compares as null [V18] */
    return KEEP;
}

static int read_file(struct arc *a)
{
    const cJSON *v = said(a, "fileType");
    const char *part, *end;
    char *copy, *word;
    int rc = 0;

    a->t->kind = TRANSITION_FILE;
    for (part = cJSON_IsString(v) ? v->valuestring : NULL; part && rc == 0; part = end ? end + 1 : NULL) {
        end = strchr(part, ',');
        copy = mem_dup(part, end ? (size_t)(end - part) : strlen(part));
        word = copy ? text_trim(copy) : NULL;
        if (!word)
            rc = reader_nomem(a->r);
        else if (*word && (rc = reader_charge(a->r, strlen(word) + 4 * sizeof(char *))) == 0)
            rc = str_list_add(&a->t->file_types, file_media_type(word)) < 0 ? reader_nomem(a->r) : 0;
        mem_free(copy);
        mem_free(word);
    }
    return rc < 0 ? -1 : KEEP;
}

static int read_form(struct arc *a)
{
    a->t->kind = TRANSITION_FORM;
    return keep_gui_id(a, given(a, a->predefined, "formGuiId"), &a->t->form_id) < 0 ? -1 : KEEP;
}

static const cJSON *predefined_kind(const struct arc *a)
{
    /* `condition` is where the oldest diagrams say it */
    return first_given(given(a, a->predefined, "predefinedType"), json_get(a->node, "condition"));
}

static int read_custom(struct arc *a);

/* A custom transition of old diagrams, said in flat keys or in the payload: a custom block, which
 * editors add empty, does not count in this form. */
static int read_old_custom(struct arc *a)
{
    a->custom = NULL;
    return read_custom(a);
}

/* Nothing that a transition may be: the format takes it for "no intent matched", which is rarely what was meant. */
static void warn_of_kind(const struct arc *a, const cJSON *kind)
{
    const cJSON *type = json_get(a->node, "transitionType");

    if (cJSON_IsString(type) && strcmp(type->valuestring, "predefined") != 0)
        kind = type;
    if (cJSON_IsString(kind) && *kind->valuestring)
        finding_add(a->r->f, FINDING_WARNING, 0, RELATION_PATH(a->node, NULL),
                    "State \"%s\": \"%s\" is no kind of transition; \"no intent matched\" is taken instead",
                    SHOWN(state_name(a)), SHOWN(kind->valuestring));
}

static int read_predefined(struct arc *a)
{
    static const struct {
        const char *name;
        int (*read)(struct arc *);
    } kinds[] = {
        { "when_intent_matched", read_intent },   { "when_no_intent_matched", read_no_intent },
        { "when_file_received", read_file },      { "when_variable_operation_matched", read_variable },
        { "when_form_submitted", read_form },     { "auto", read_auto },
        { "custom_transition", read_old_custom },
    };
    const cJSON *kind = predefined_kind(a);
    size_t i;

    for (i = 0; cJSON_IsString(kind) && i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].name, kind->valuestring) == 0)
            return kinds[i].read(a);
    warn_of_kind(a, kind);
    return read_no_intent(a);
}

/* ---- custom transitions (4.5)
 * ---------------------------------------------------------------------------------- */

/* Where the event is said; in the oldest payloads it is the first of a list. */
static const cJSON *event_text(const struct arc *a)
{
    const cJSON *v = first_given(first_given(given(a, a->custom, "event"), json_get(a->node, "customEvent")),
                                 json_get(a->payload, "event"));
    const cJSON *list = json_get(a->payload, "events"), *c;

    for (c = cJSON_IsArray(list) ? list->child : NULL; c && value_is_empty(v); c = c->next)
        if (cJSON_IsString(c) && !text_is_blank(c->valuestring))
            v = c;
    return v;
}

static enum event_kind event_of(const struct arc *a)
{
    const cJSON *v = event_text(a);
    int i;

    for (i = EVENT_NONE + 1; cJSON_IsString(v) && i < EVENT__MAX; i++)
        if (strcmp(event_class((enum event_kind)i), v->valuestring) == 0)
            return (enum event_kind)i;
    return EVENT_NONE;
}

static const cJSON *conditions_of(const struct arc *a)
{
    const cJSON *places[] = { json_get(a->custom, "condition"), json_get(a->node, "conditions"),
                              json_get(a->node, "customConditions"), json_get(a->payload, "conditions") };
    size_t i;

    for (i = 0; i < ARRAY_LEN(places); i++)
        if (cJSON_IsArray(places[i]))
            return places[i];
    for (i = 0; i < ARRAY_LEN(places); i++)
        if (!value_is_empty(places[i]))
            finding_add(a->r->f, FINDING_WARNING, 0, RELATION_PATH(a->node, NULL),
                        "State \"%s\": conditions that are no list are left out", SHOWN(state_name(a)));
    return NULL;
}

static int add_condition(struct arc *a, const char *source)
{
    struct transition *t = a->t;
    struct condition *c = &t->conditions[t->conditions_len++];
    char label[64];

    snprintf(label, sizeof(label), "condition_%zu_%zu", a->r->transitions + 1, t->conditions_len);
    c->source = python_dedent(source);
    c->label = mem_strdup(label);
    if (!c->source || !c->label)
        return reader_nomem(a->r);
    return 0;
}

static int read_conditions(struct arc *a)
{
    const cJSON *list = conditions_of(a), *c;
    size_t n = 0;

    for (c = list ? list->child : NULL; c; c = c->next)
        n += cJSON_IsString(c) && !text_is_blank(c->valuestring);
    if (!n)
        return 0;
    a->t->conditions = mem_zalloc(n, sizeof(*a->t->conditions));
    if (!a->t->conditions)
        return reader_nomem(a->r);
    for (c = list->child; c; c = c->next)
        if (cJSON_IsString(c) && !text_is_blank(c->valuestring) && add_condition(a, c->valuestring) < 0)
            return -1;
    return 0;
}

static int read_custom(struct arc *a)
{
    a->t->kind = TRANSITION_CUSTOM;
    a->t->event = event_of(a);
    if (read_conditions(a) < 0)
        return -1;
    if (a->t->event == EVENT_NONE && !a->t->conditions_len)
        return read_auto(a);
    if (a->t->event == EVENT_GUI &&
        keep_gui_id(a, first_given(given(a, a->custom, "guiEventGuiId"), json_get(a->payload, "guiEventGuiId")),
                    &a->t->gui_id) < 0)
        return -1;
    return KEEP;
}

/* ---- one arc
 * ---------------------------------------------------------------------------------------------------
 */

static bool is_custom_form(const cJSON *node)
{
    const cJSON *type = json_get(node, "transitionType");

    return cJSON_IsString(type) && strcmp(type->valuestring, "custom") == 0;
}

static bool is_arc(const cJSON *node)
{
    const cJSON *type = json_get(node, "type");

    return cJSON_IsString(type) && (strcmp(type->valuestring, "AgentStateTransition") == 0 ||
                                    strcmp(type->valuestring, "AgentStateTransitionInit") == 0);
}

static int add_transition(struct arc *a, size_t target)
{
    struct state *s = &a->r->m->states[a->source];
    int rc;

    if (reader_charge(a->r, sizeof(*a->t)) < 0)
        return -1;
    a->t = model_add_transition(s);
    if (!a->t)
        return reader_nomem(a->r);
    a->t->target = target;
    a->t->id = mem_strdup(a->node->string);
    a->t->where = mem_strdup(RELATION_PATH(a->node, NULL));
    if (!a->t->id || !a->t->where)
        return reader_nomem(a->r);
    rc = is_custom_form(a->node) ? read_custom(a) : read_predefined(a);
    if (rc == DROP)
        state_drop_last_transition(s);
    else if (rc == KEEP)
        a->r->transitions++;
    return rc < 0 ? -1 : 0;
}

static int read_arc(struct reader *r, const cJSON *node)
{
    struct arc a = {
        .r = r, .node = node, .predefined = json_get(node, "predefined"), .custom = json_get(node, "custom")
    };
    const struct element *from = document_end(&r->doc, node, "source"), *to = document_end(&r->doc, node, "target");

    if (!from || !to || from->state == MAP_NONE || to->state == MAP_NONE) {
        if (!from || from->type != ELEMENT_INITIAL)
            finding_add(r->f, FINDING_WARNING, 0, RELATION_PATH(node, NULL),
                        "Transition \"%s\" is ignored: %s is no state", SHOWN(node->string),
                        from && from->state != MAP_NONE ? "its target" : "its source");
        return 0;
    }
    a.source = from->state;
    a.payload = json_get(a.predefined, "conditionValue");
    if (!a.payload || cJSON_IsNull(a.payload))
        a.payload = json_get(node, "conditionValue");
    return add_transition(&a, to->state);
}

int read_transitions(struct reader *r)
{
    const cJSON *c;

    for (c = r->doc.relationships ? r->doc.relationships->child : NULL; c; c = c->next)
        if (is_arc(c) && read_arc(r, c) < 0)
            return -1;
    return 0;
}
