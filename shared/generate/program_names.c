#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/provider.h"
#include "shared/diagram/text.h"
#include "shared/generate/program.h"
#include "shared/generate/support_files.h"

#define FORMS_MAX 32 /* code points that one stands for */

/* ---- the prefix
 * -------------------------------------------------------------------------------------------------
 */

/* Calls visit for every piece of user code in the program; stops at the first true. */
static bool any_code(const struct model *m, bool (*visit)(const char *source, void *context), void *context)
{
    size_t i, j, k;

    for (i = 0; i < m->states_len; i++) {
        const struct state *s = &m->states[i];
        const struct action_list *lists[] = { &s->body, &s->fallback };

        for (j = 0; j < ARRAY_LEN(lists); j++)
            for (k = 0; k < lists[j]->len; k++)
                if (lists[j]->items[k].kind == ACTION_CODE && visit(lists[j]->items[k].text, context))
                    return true;
        for (j = 0; j < s->transitions_len; j++)
            for (k = 0; k < s->transitions[j].conditions_len; k++)
                if (visit(s->transitions[j].conditions[k].source, context))
                    return true;
    }
    return false;
}

static bool is_there(const char *source, void *context)
{
    (void)source;
    (void)context;
    return true;
}

bool program_has_user_code(const struct model *m)
{
    return any_code(m, is_there, NULL);
}

/* Python reads full-width and other letters of a name as the plain ones they stand for. */
static void add_folded(struct buf *out, const char *source)
{
    size_t len = strlen(source), width;

    for (; len; source += width, len -= width) {
        utf8proc_int32_t forms[FORMS_MAX], cp = utf8_decode(source, len, &width);
        int last = UTF8PROC_BOUNDCLASS_START;
        utf8proc_ssize_t i, n;

        if (cp >= 0 && cp < 0x80) {
            buf_add_char(out, (char)cp);
            continue;
        }
        n = cp < 0 ? 0 : utf8proc_decompose_char(cp, forms, FORMS_MAX, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, &last);
        for (i = 0; i < n && i < FORMS_MAX; i++)
            buf_add_char(out, forms[i] < 0x80 ? (char)forms[i] : '?');
    }
    buf_add_char(out, '\n');
}

static bool fold(const char *source, void *context)
{
    struct buf *out = context;

    add_folded(out, source);
    return buf_failed(out);
}

/* Longest run of x between "my" and "_" that the code has, so that one more is new everywhere. */
static size_t longest_run(const char *code)
{
    size_t longest = 0;

    while ((code = strstr(code, "my"))) {
        size_t run = strspn(code += 2, "x");

        if (code[run] == '_' && run > longest)
            longest = run;
    }
    return longest;
}

int program_choose_prefix(struct program *p)
{
    static const char tries[][8] = { "my_", "own_", "our_" };
    auto_buf struct buf made, code;
    size_t i;

    buf_init(&made, SIZE_MAX / 2);
    buf_init(&code, SIZE_MAX / 2);
    p->user_code = any_code(p->model, is_there, NULL);
    if (p->user_code) {
        if (any_code(p->model, fold, &code))
            return err_nomem(p->err);
        p->guards_name = strstr(code.data, "__name__");
        for (i = 0; i < ARRAY_LEN(tries) && strstr(code.data, tries[i]); i++)
            ;
        if (i < ARRAY_LEN(tries)) {
            buf_add_str(&made, tries[i]);
        } else {
            buf_add_str(&made, "my");
            buf_add_repeat(&made, 'x', longest_run(code.data) + 1);
            buf_add_char(&made, '_');
        }
    }
    p->prefix = buf_steal(&made, NULL);
    return p->prefix ? 0 : err_nomem(p->err);
}

/* ---- names of the model's objects
 * ------------------------------------------------------------------------------- */

char *program_fixed_name(struct program *p, const char *name)
{
    auto_buf struct buf word;
    char *made;

    buf_init(&word, SIZE_MAX / 2);
    buf_add_str(&word, p->prefix);
    buf_add_str(&word, name);
    made = buf_steal(&word, NULL);
    if (!made)
        err_nomem(p->err);
    return made;
}

int program_reserve(struct program *p, const char *name)
{
    auto_free char *word = program_fixed_name(p, name);

    return word ? names_reserve(&p->names, word, p->err) : -1;
}

const char *program_name(struct program *p, const char *kind, const char *raw)
{
    auto_free char *word = program_fixed_name(p, kind);

    return word ? names_make_prefixed(&p->names, word, raw, p->err) : NULL;
}

static int reserve_fixed(struct program *p)
{
    static const char *const fixed[] = { "agent", "platform", "default_llm", "ic_config", "stt", "tts", "main" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(fixed); i++)
        if (program_reserve(p, fixed[i]) < 0)
            return -1;
    return p->model->profiles_len ? program_reserve(p, "profile_names") : 0;
}

/* Objects of one kind and where their names stand in them. */
struct objects {
    const void *array;
    size_t len, size, offset;
};
#define OBJECTS(m, kind, member) \
    (struct objects) \
    { \
        (m)->kind, (m)->kind##_len, sizeof(*(m)->kind), offsetof(__typeof__(*(m)->kind), member) \
    }

static const char *raw_name(struct objects o, size_t i)
{
    return *(char *const *)((const char *)o.array + i * o.size + o.offset);
}

static int name_all(struct program *p, const char *kind, struct objects o, const char ***ret)
{
    size_t i;

    *ret = mem_zalloc(o.len, sizeof(**ret));
    if (!*ret)
        return err_nomem(p->err);
    for (i = 0; i < o.len; i++) {
        (*ret)[i] = program_name(p, kind, raw_name(o, i));
        if (!(*ret)[i])
            return -1;
    }
    return 0;
}

static int index_names(struct program *p, struct objects o, struct map *ret)
{
    size_t i;

    for (i = 0; i < o.len; i++) {
        const char *name = raw_name(o, i);

        if (map_put(ret, name, strlen(name), i, NULL) < 0)
            return err_nomem(p->err);
    }
    return 0;
}

int program_name_objects(struct program *p)
{
    const struct model *m = p->model;

    if (reserve_fixed(p) < 0 || program_reserve_imports(p) < 0 || program_reserve_helpers(p) < 0)
        return -1;
    if (name_all(p, "llm", OBJECTS(m, llms, name), &p->llms) < 0 ||
        name_all(p, "rag", OBJECTS(m, rags, name), &p->rags) < 0 ||
        name_all(p, "gui", OBJECTS(m, guis, gui_id), &p->guis) < 0 ||
        name_all(p, "intent", OBJECTS(m, intents, name), &p->intents) < 0 ||
        name_all(p, "state", OBJECTS(m, states, name), &p->states) < 0 || rag_folders(m, &p->rag_folders, p->err) < 0 ||
        rag_stores(m, &p->rag_stores, p->err) < 0 || gui_modules(m, &p->gui_modules, p->err) < 0)
        return -1;
    if (index_names(p, OBJECTS(m, llms, name), &p->llm_index) < 0 ||
        index_names(p, OBJECTS(m, rags, name), &p->rag_index) < 0 ||
        index_names(p, OBJECTS(m, guis, gui_id), &p->gui_index) < 0)
        return -1;
    return 0;
}

const char *program_llm(struct program *p, const char *name)
{
    size_t i;

    if (text_is_blank(name)) /* rule 22 lets it pass: none is named */
        return p->default_llm ? p->default_llm : "";
    i = map_get(&p->llm_index, name, strlen(name));
    return i == MAP_NONE ? "" : p->llms[i];
}

size_t program_gui_index(const struct program *p, const char *id)
{
    return map_get(&p->gui_index, id, strlen(id));
}

/* ---- what user code sees
 * ---------------------------------------------------------------------------------------- */

/* Functions of user code; a name that one of them takes anyway need not be published. */
static int collect_functions(const struct model *m, struct map *ret)
{
    size_t i, j, k;

    for (i = 0; i < m->states_len; i++) {
        const struct state *s = &m->states[i];
        const struct action_list *lists[] = { &s->body, &s->fallback };
        const char *name;

        for (j = 0; j < ARRAY_LEN(lists); j++)
            for (k = 0; k < lists[j]->len; k++) {
                name = lists[j]->items[k].scoped ? NULL : lists[j]->items[k].code_function;
                if (name && map_put(ret, name, strlen(name), 0, NULL) < 0)
                    return -1;
            }
        for (j = 0; j < s->transitions_len; j++)
            for (k = 0; k < s->transitions[j].conditions_len; k++) {
                const struct condition *c = &s->transitions[j].conditions[k];

                name = c->scoped || c->apart ? NULL : c->function;
                if (name && map_put(ret, name, strlen(name), 0, NULL) < 0)
                    return -1;
            }
    }
    return 0;
}

static bool defined_later(const struct map *functions, const char *name)
{
    return map_get(functions, name, strlen(name)) != MAP_NONE;
}

struct alias {
    char *name; /* owned */
    const char *target;
    bool first_llm;
    size_t order;
};

struct aliases {
    struct alias *items;
    size_t len, cap;
};

static const struct fixed_name {
    const char *name, *of; /* of: private name of ours */
    bool speech_input, speech_output;
} fixed_names[] = {
    { .name = "agent", .of = "agent" },
    { .name = "platform", .of = "platform" },
    { .name = "ic_config", .of = "ic_config" },
    { .name = "stt", .of = "stt", .speech_input = true },
    { .name = "tts", .of = "tts", .speech_output = true },
    { .name = "json", .of = "json" },
    { .name = "logging", .of = "logging" },
    { .name = "operator", .of = "operator" },
    { .name = "os", .of = "os" },
    { .name = "Session", .of = "Session" },
    { .name = "AgentSession", .of = "Session" },
    { .name = "DummyEvent", .of = "DummyEvent" },
    { .name = "GUIEvent", .of = "GUIEvent" },
    { .name = "ReceiveFileEvent", .of = "ReceiveFileEvent" },
    { .name = "ReceiveJSONEvent", .of = "ReceiveJSONEvent" },
    { .name = "ReceiveMessageEvent", .of = "ReceiveMessageEvent" },
    { .name = "ReceiveTextEvent", .of = "ReceiveTextEvent" },
    { .name = "WildcardEvent", .of = "WildcardEvent" },
};

bool program_is_published(const char *name)
{
    size_t i;

    if (str_eq(name, "default_llm"))
        return true;
    for (i = 0; i < ARRAY_LEN(fixed_names); i++)
        if (str_eq(name, fixed_names[i].name))
            return !fixed_names[i].speech_input && !fixed_names[i].speech_output;
    return false;
}

static bool is_fixed(const char *name)
{
    const struct llm_provider *provider;
    size_t i;

    if (str_eq(name, "default_llm"))
        return true;
    for (i = 0; i < ARRAY_LEN(fixed_names); i++)
        if (str_eq(name, fixed_names[i].name))
            return true;
    for (i = 0; (provider = llm_provider_at(i)); i++)
        if (str_eq(name, provider->class_name))
            return true;
    return false;
}

static int add_alias(struct program *p, struct aliases *a, char *name, const char *target, bool first_llm)
{
    void *array = a->items;

    if (name && mem_grow(&array, a->len, &a->cap, sizeof(*a->items)) == 0) {
        a->items = array;
        a->items[a->len] = (struct alias){ name, target, first_llm, a->len };
        a->len++;
        return 0;
    }
    mem_free(name);
    return err_nomem(p->err);
}

/* Names that user code could not use, or that would take away what it, or Python, needs. */
static bool can_publish(const struct program *p, const struct map *functions, const char *name)
{
    return *name && !defined_later(functions, name) && !name_is_reserved(name) && strncmp(name, "__", 2) != 0 &&
           !is_fixed(name) && !names_taken(&p->names, name);
}

static int collect_aliases(struct program *p, struct aliases *a)
{
    const struct model *m = p->model;
    size_t i;

    for (i = 0; i < m->llms_len; i++)
        if (add_alias(p, a, name_safe(m->llms[i].name), p->llms[i], i == 0) < 0)
            return -1;
    for (i = 0; i < m->rags_len; i++)
        if (add_alias(p, a, name_safe(m->rags[i].name), p->rags[i], false) < 0)
            return -1;
    for (i = 0; i < m->guis_len; i++)
        if (p->gui_modules[i] && add_alias(p, a, name_safe(m->guis[i].gui_id), p->guis[i], false) < 0)
            return -1;
    for (i = 0; i < m->intents_len; i++)
        if (add_alias(p, a, text_as_identifier(m->intents[i].name), p->intents[i], false) < 0)
            return -1;
    for (i = 0; i < m->states_len; i++)
        if (add_alias(p, a, text_as_identifier(m->states[i].name), p->states[i], false) < 0)
            return -1;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct alias *one = a, *two = b;
    int order = strcmp(one->name, two->name);

    if (!order)
        order = two->first_llm - one->first_llm;
    return order ? order : (one->order > two->order) - (one->order < two->order);
}

static int by_order(const void *a, const void *b)
{
    const struct alias *one = a, *two = b;

    return (one->order > two->order) - (one->order < two->order);
}

/* What two claim, neither gets, but that the first LLM keeps its name. Targets of what is not
 * published become NULL. */
static void settle_aliases(const struct program *p, const struct map *functions, struct aliases *a)
{
    size_t i, j;

    qsort(a->items, a->len, sizeof(*a->items), by_name);
    for (i = 0; i < a->len; i = j) {
        bool alone, good = can_publish(p, functions, a->items[i].name);

        for (j = i + 1; j < a->len && str_eq(a->items[i].name, a->items[j].name); j++)
            a->items[j].target = NULL;
        alone = j == i + 1;
        if (!good || (!alone && !a->items[i].first_llm))
            a->items[i].target = NULL;
    }
    qsort(a->items, a->len, sizeof(*a->items), by_order);
}

/* name = target, unless user code takes the name anyway. */
static void publish(struct program *p, const struct map *functions, const char *name, const char *target)
{
    if (!defined_later(functions, name))
        code_line(&p->code, "%n = %n", name, target);
}

static int publish_fixed(struct program *p, const struct map *functions)
{
    const struct llm_provider *provider;
    size_t i;

    for (i = 0; i < ARRAY_LEN(fixed_names); i++) {
        auto_free char *target = program_fixed_name(p, fixed_names[i].of);

        if (!target)
            return -1;
        if ((fixed_names[i].speech_input && !p->speech_input) || (fixed_names[i].speech_output && !p->speech_output))
            continue;
        if (defined_later(functions, fixed_names[i].name))
            continue;
        program_use(p, fixed_names[i].of, strlen(fixed_names[i].of));
        code_line(&p->code, "%n = %n", fixed_names[i].name, target);
    }
    publish(p, functions, "default_llm", p->default_llm ? p->default_llm : "None");
    for (i = 0; (provider = llm_provider_at(i)); i++) {
        auto_free char *target = program_fixed_name(p, provider->class_name);

        if (!target)
            return -1;
        if (p->providers >> i & 1)
            publish(p, functions, provider->class_name, target);
    }
    return 0;
}

static int publish_objects(struct program *p, const struct map *functions)
{
    struct aliases a = { 0 };
    size_t i;
    int result = collect_aliases(p, &a);

    if (result == 0)
        settle_aliases(p, functions, &a);
    for (i = 0; i < a.len; i++) {
        if (result == 0 && a.items[i].target)
            code_line(&p->code, "%n = %n", a.items[i].name, a.items[i].target);
        mem_free(a.items[i].name);
    }
    mem_free(a.items);
    return result;
}

int program_publish_names(struct program *p)
{
    struct map functions;
    int result;

    if (!p->user_code)
        return 0;
    code_gap(&p->code, 1);
    code_text(&p->code, "# Names for the code of the diagram; nothing else here reads them");
    map_init(&functions);
    result = collect_functions(p->model, &functions) < 0 ? err_nomem(p->err) : publish_fixed(p, &functions);
    if (result == 0)
        result = publish_objects(p, &functions);
    map_release(&functions);
    return result;
}
