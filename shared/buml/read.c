#include "shared/buml/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/reader.h"
#include "shared/diagram/check.h"
#include "shared/diagram/order.h"
#include "shared/diagram/text.h"
#include "shared/python/parser.h"

#define BOM "\xef\xbb\xbf"

int buml_nomem(struct reader *r)
{
    return err_nomem(r->err);
}

int buml_charge(struct reader *r, size_t bytes)
{
    if (bytes <= BUML_BYTES_MAX - r->used) {
        r->used += bytes;
        return 0;
    }
    return err_set(r->err, ERR_BAD_REQUEST, 0,
                   "The file means too large an agent: its texts, counted wherever they are used, exceed %u MiB",
                   BUML_BYTES_MAX >> 20);
}

int buml_warn(struct reader *r, const struct node *n, const char *fmt, ...)
{
    char text[FINDING_MESSAGE_MAX];
    va_list ap;

    if (r->f->truncated)
        return 0;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n && n->line)
        finding_add(r->f, FINDING_WARNING, 0, "", "Line %d: %s", n->line, text);
    else
        finding_add(r->f, FINDING_WARNING, 0, "", "%s", text);
    return 0;
}

/* ---- lines --------------------------------------------------------------------------------------------------------
 */

static int find_lines(struct reader *r)
{
    size_t cap = 0, i;
    void *array = NULL;

    for (i = 0; i <= r->len; i++) {
        bool starts =
            i == 0 || r->text[i - 1] == '\n' || (r->text[i - 1] == '\r' && (i == r->len || r->text[i] != '\n'));

        if (!starts)
            continue;
        if (mem_grow(&array, r->lines_len, &cap, sizeof(*r->lines)) < 0)
            return buml_nomem(r);
        r->lines = array;
        r->lines[r->lines_len++] = i;
    }
    return 0;
}

/* ---- the end of the file ------------------------------------------------------------------------------------------
 */

/* The first reply that shows a GUI says how; the others should agree. */
static int take_gui_settings(struct reader *r)
{
    size_t i;

    for (i = 0; i < r->replies.len; i++) {
        struct action a = { .kind = ACTION_GUI };
        struct gui *g = NULL;
        size_t at = MODEL_NONE;
        int rc = object_fill(r, r->replies.items[i], &a);

        if (rc == 0 && a.text && map_find_name(&r->guis, a.text, &at) < 0)
            rc = buml_nomem(r);
        if (rc == 0 && at != MODEL_NONE)
            g = &r->m->guis[at];
        if (g && g->where) { /* set before */
            if (g->persist != a.persist || g->is_form != a.is_form || !str_eq(g->width, a.width))
                buml_warn(r, r->replies.items[i]->node,
                          "GUIReplyAction: GUI \"%s\" was shown with other settings before; those count",
                          SHOWN(g->gui_id));
        } else if (g) {
            g->persist = a.persist;
            g->is_form = a.is_form;
            g->width = steal_ptr(a.width);
            g->where = mem_strdup("");
            if (!g->where)
                rc = buml_nomem(r);
        }
        mem_free(a.text);
        mem_free(a.width);
        if (rc < 0)
            return -1;
    }
    for (i = 0; i < r->m->guis_len; i++) {
        mem_free(r->m->guis[i].where);
        r->m->guis[i].where = NULL;
    }
    return 0;
}

static int read_bodies(struct reader *r)
{
    size_t i;

    for (i = 0; i < r->pending_len; i++) {
        struct state *s = &r->m->states[i];

        if (r->pending[i].body && buml_add_body(r, r->pending[i].body, &s->body) < 0)
            return -1;
        if (r->pending[i].fallback && buml_add_body(r, r->pending[i].fallback, &s->fallback) < 0)
            return -1;
        s->has_body = s->body.len > 0;
        s->has_fallback = s->fallback.len > 0;
    }
    return 0;
}

static int label_condition(struct reader *r, struct condition *c, size_t transition, size_t number)
{
    char label[64];

    snprintf(label, sizeof(label), "condition_%zu_%zu", transition + 1, number + 1);
    mem_free(c->label);
    c->label = mem_strdup(label);
    return c->label ? 0 : buml_nomem(r);
}

/* A diagram numbers conditions over all transitions in their order. A text has them by state, but names those that are
 * more than a function after their place: of several functions the one of that name decides. */
static int label_conditions(struct reader *r)
{
    auto_free struct arc_place *places = NULL;
    size_t i, c, len = 0;

    for (i = 0; i < r->m->states_len; i++)
        len += r->m->states[i].transitions_len;
    places = mem_zalloc(len + 1, sizeof(*places));
    if (!places || diagram_order(r->m, places) < 0)
        return buml_nomem(r);
    for (i = 0; i < len; i++) {
        struct transition *t = &r->m->states[places[i].state].transitions[places[i].nth];

        for (c = 0; c < t->conditions_len; c++)
            if (label_condition(r, &t->conditions[c], i, c) < 0)
                return -1;
    }
    return 0;
}

/* The initial state is the model's first; the others keep their order. */
static void order_states(struct model *m)
{
    struct state first;
    size_t at = 0, i, k;

    while (at < m->states_len && !m->states[at].initial)
        at++;
    if (at == m->states_len)
        at = 0;
    for (i = 0; i < m->states_len; i++)
        m->states[i].initial = i == at;
    if (!at || !m->states_len)
        return;
    first = m->states[at];
    memmove(m->states + 1, m->states, at * sizeof(*m->states));
    m->states[0] = first;
    for (i = 0; i < m->states_len; i++)
        for (k = 0; k < m->states[i].transitions_len; k++) {
            size_t *target = &m->states[i].transitions[k].target;

            *target = *target == at ? 0 : *target < at ? *target + 1 : *target;
        }
}

static int choose_default_llm(struct reader *r)
{
    struct model *m = r->m;
    size_t at = MODEL_NONE;

    if (r->default_llm && map_find_name(&r->llms, r->default_llm, &at) < 0)
        return buml_nomem(r);
    if (r->default_llm && at == MODEL_NONE)
        buml_warn(r, NULL, "set_default_llm: there is no LLM \"%s\"; the first one is taken", SHOWN(r->default_llm));
    m->default_llm = at != MODEL_NONE ? at : m->llms_len ? 0 : MODEL_NONE;
    return 0;
}

static void judge_name(struct reader *r, const char *kind, const char *name)
{
    if (name && strpbrk(name, " -"))
        buml_warn(r, NULL, "%s \"%s\": a name must not contain spaces or hyphens; change it before the diagram is used",
                  kind, SHOWN(name));
}

/* What would refuse the diagram later is told now, and refuses nothing here. */
static int judge(struct reader *r)
{
    struct model *m = r->m;
    struct findings found;
    size_t i;
    int rc;

    judge_name(r, "Agent", m->name);
    for (i = 0; i < m->states_len; i++)
        judge_name(r, "State", m->states[i].name);
    for (i = 0; i < m->intents_len; i++)
        judge_name(r, "Intent", m->intents[i].name);
    for (i = 0; i < m->tools_len; i++)
        judge_name(r, "Tool", m->tools[i].name);
    for (i = 0; i < m->skills_len; i++)
        judge_name(r, "Skill", m->skills[i].name);
    for (i = 0; i < m->workspaces_len; i++)
        judge_name(r, "Workspace", m->workspaces[i].name);
    for (i = 0; i < m->rags_len; i++)
        judge_name(r, "RAG store", m->rags[i].name);
    findings_init(&found);
    rc = diagram_check(m, &found, r->err);
    for (i = 0; rc == 0 && i < found.len; i++)
        finding_add(r->f, FINDING_WARNING, found.items[i].rule, found.items[i].where, "%s", found.items[i].message);
    findings_release(&found);
    return rc;
}

static int finish_model(struct reader *r)
{
    if (take_gui_settings(r) < 0 || read_bodies(r) < 0 || buml_add_transitions(r) < 0)
        return -1;
    order_states(r->m);
    if (label_conditions(r) < 0 || choose_default_llm(r) < 0 || model_resolve(r->m, r->err) < 0)
        return -1;
    return judge(r);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

#define READER_MAPS 10

static void list_maps(struct reader *r, struct map *out[static READER_MAPS])
{
    struct map *all[READER_MAPS] = { &r->intents,    &r->states, &r->llms, &r->tools, &r->skills,
                                     &r->workspaces, &r->rags,   &r->guis, &r->defs,  &r->early };

    memcpy(out, all, sizeof(all));
}

static int read_section(struct reader *r, int from, int to)
{
    struct map *maps[READER_MAPS];
    struct scope top = { 0 };
    size_t i;
    int rc;

    list_maps(r, maps);
    for (i = 0; i < READER_MAPS; i++)
        map_init(maps[i]);
    map_init(&top.names);
    map_init(&r->seen.names);
    r->scope = &top;
    rc = buml_walk_module(r, from, to);
    if (rc == 0)
        rc = finish_model(r);
    for (i = 0; i < READER_MAPS; i++)
        map_release(maps[i]);
    buml_scope_release(&top);
    buml_scope_release(&r->seen);
    arena_release(&r->arena);
    mem_free(r->pending);
    mem_free(r->builders.items);
    mem_free(r->transitions.items);
    mem_free(r->functions.items);
    mem_free(r->replies.items);
    mem_free(r->unknown.items);
    return rc;
}

int buml_file_take(const char *text, size_t len, const char *json, struct buml_file *ret, struct err *err)
{
    struct buml_file file = { .text = text, .len = len };
    struct reader r = { .text = text, .len = len, .err = err };

    if (buml_tree_read(json, &file.tree, err) < 0)
        return -1;
    if (find_lines(&r) < 0) {
        mem_free(r.lines);
        buml_tree_release(&file.tree);
        return -1;
    }
    file.lines = r.lines;
    file.lines_len = r.lines_len;
    *ret = file;
    return 0;
}

int buml_file_open(const char *text, size_t len, struct python_parser *parser, struct buml_file *ret, struct err *err)
{
    auto_free char *json = NULL;

    if (len > BUML_UPLOAD_MAX)
        return err_set(err, ERR_TOO_LARGE, 0, "The file is larger than %u MiB", BUML_UPLOAD_MAX >> 20);
    if (len >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0) {
        text += strlen(BOM);
        len -= strlen(BOM);
    }
    if (!utf8_valid(text, len))
        return err_set(err, ERR_BAD_REQUEST, 0, "The file is not UTF-8");
    if (python_tree(parser, text, len, &json, err) < 0)
        return err && str_starts(err->msg, "line ") ? err_wrap(err, "The file is no valid Python") : -1;
    return buml_file_take(text, len, json, ret, err);
}

void buml_file_close(struct buml_file *file)
{
    if (!file)
        return;
    buml_tree_release(&file->tree);
    mem_free(file->lines);
    *file = (struct buml_file){ 0 };
}

int buml_file_read(const struct buml_file *file, int from, int to, struct python_parser *parser, struct model *ret,
                   struct findings *f, struct err *err)
{
    struct err own = { 0 };
    struct model m;
    struct reader r = { .text = file->text,
                        .len = file->len,
                        .lines = file->lines,
                        .lines_len = file->lines_len,
                        .tree = file->tree,
                        .parser = parser,
                        .m = &m,
                        .f = f,
                        .err = &own };

    model_init(&m);
    if (read_section(&r, from, to) < 0) {
        model_release(&m);
        if (err)
            *err = own;
        return -1;
    }
    *ret = m;
    return 0;
}

void buml_project_release(struct buml_project *p)
{
    if (!p)
        return;
    mem_free(p->name);
    mem_free(p->owner);
    mem_free(p->description);
    str_list_release(&p->models);
    *p = (struct buml_project){ 0 };
}

int buml_file_project(const struct buml_file *file, int from, int to, struct buml_project *ret, struct err *err)
{
    struct buml_project project = { 0 };
    struct findings ignored;
    struct err own = { 0 };
    struct model m;
    struct reader r = { .text = file->text,
                        .len = file->len,
                        .lines = file->lines,
                        .lines_len = file->lines_len,
                        .tree = file->tree,
                        .m = &m,
                        .f = &ignored,
                        .err = &own,
                        .project = &project };
    int rc;

    findings_init(&ignored);
    model_init(&m);
    rc = read_section(&r, from, to);
    model_release(&m);
    findings_release(&ignored);
    if (rc < 0) {
        buml_project_release(&project);
        if (err)
            *err = own;
        return -1;
    }
    *ret = project;
    return 0;
}

int buml_read(const char *text, size_t len, struct python_parser *parser, struct model *ret, struct findings *f,
              struct err *err)
{
    struct buml_file file;
    int rc;

    if (buml_file_open(text, len, parser, &file, err) < 0)
        return -1;
    rc = buml_file_read(&file, 1, (int)file.lines_len, parser, ret, f, err);
    buml_file_close(&file);
    return rc;
}
