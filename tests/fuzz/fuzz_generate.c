/* Any bytes as a diagram, up to its files. Without the parser of Python, user code counts as one function each. Nothing
 * may crash or leak, equal input gives equal bytes, and outside of user code a program is ASCII without control
 * characters: text came only through the literal writer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/check.h"
#include "shared/diagram/read.h"
#include "shared/generate/generate.h"
#include "shared/generate/personalize.h"
#include "shared/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char function_name[] = "f";

static bool name_code(struct action_list *l)
{
    bool any = false;
    size_t i;

    for (i = 0; i < l->len; i++)
        if (l->items[i].kind == ACTION_CODE) {
            mem_free(l->items[i].code_function);
            l->items[i].code_function = mem_strdup(function_name);
            any = true;
        }
    return any;
}

/* Does what lint does: gives every piece of user code its function. True when there is any. */
static bool name_functions(struct model *m)
{
    bool any = false;
    size_t i, j, k;

    for (i = 0; i < m->states_len; i++) {
        struct state *s = &m->states[i];

        any = name_code(&s->body) || any;
        any = name_code(&s->fallback) || any;
        for (j = 0; j < s->transitions_len; j++)
            for (k = 0; k < s->transitions[j].conditions_len; k++) {
                mem_free(s->transitions[j].conditions[k].function);
                s->transitions[j].conditions[k].function = mem_strdup(function_name);
                s->transitions[j].conditions[k].parameters = 1 + (int)(k % 2);
                any = true;
            }
    }
    return any;
}

static void check_text(const char *program)
{
    for (; *program; program++)
        if ((unsigned char)*program >= 0x7f || ((unsigned char)*program < 0x20 && *program != '\n'))
            abort();
}

static void generate(struct model *m, bool session)
{
    const struct generate_options o = { .session = session, .host = session ? "127.0.0.1" : NULL };
    struct bundle one = { 0 }, two = { 0 };
    bool user_code = name_functions(m);
    struct err err = { 0 };
    size_t i;

    if (generate_bundle(m, &o, &one, &err) < 0) {
        if (err.kind != ERR_BAD_REQUEST)
            abort();
        return;
    }
    if (generate_bundle(m, &o, &two, &err) < 0 || one.files_len != two.files_len)
        abort();
    for (i = 0; i < one.files_len; i++)
        if (!str_eq(one.files[i].path, two.files[i].path) || !str_eq(one.files[i].content, two.files[i].content))
            abort();
    if (!user_code)
        check_text(one.files[0].content);
    bundle_release(&one);
    bundle_release(&two);
}

/* Reads the profiles of a download and lets them join the model. False when a rule is broken. */
static bool join_profiles(const cJSON *tree, struct model *m, struct findings *f)
{
    struct err err = { 0 };
    size_t i;

    if (!m->states_len || diagram_read_profiles(tree, NULL, m, f, &err) < 0)
        return false;
    for (i = 0; i < m->profiles_len; i++) {
        const struct model *agent = m->profiles[i].agent;

        if (agent && (!agent->states_len || diagram_check(agent, f, &err) < 0 || f->errors))
            return false;
    }
    return personalize(m, &err) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool session = size % 2;
    struct json_error e;
    cJSON *tree = json_parse((const char *)data, size, &e);
    struct err err = { 0 };
    struct findings f;
    struct model m;

    findings_init(&f);
    if (tree && diagram_read(tree, NULL, &m, &f, &err) == 0) {
        if (diagram_check(&m, &f, &err) == 0 && !f.errors && (session || join_profiles(tree, &m, &f)))
            generate(&m, session);
        model_release(&m);
    }
    findings_release(&f);
    cJSON_Delete(tree);
    return 0;
}
