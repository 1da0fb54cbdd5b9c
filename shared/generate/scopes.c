#include "shared/generate/scopes.h"

#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/map.h"
#include "shared/diagram/text.h"
#include "shared/generate/program.h"
#include "shared/python/dedent.h"
#include "shared/python/parser.h"

struct piece {
    const char *source, *function;
    char **scoped; /* in the model */
    bool *apart;   /* likewise; NULL: custom code, which is a single def, needs no module */
    struct python_facts facts;
};

struct use { /* of one name, by how many pieces */
    size_t binders, readers;
};

struct scopes {
    struct piece *pieces;
    size_t len, cap;
    struct map names; /* to uses */
    struct use *uses;
    size_t uses_cap;
    struct map objects; /* aliases of the diagram's objects */
    struct python_parser *parser;
    struct err *err;
};

/* ---- what there is
 * ----------------------------------------------------------------------------------------------- */

static int add_piece(struct scopes *s, const struct piece *piece)
{
    void *array = s->pieces;

    if (mem_grow(&array, s->len, &s->cap, sizeof(*s->pieces)) < 0)
        return err_nomem(s->err);
    s->pieces = array;
    s->pieces[s->len++] = *piece;
    return 0;
}

static int add_actions(struct scopes *s, const struct action_list *l)
{
    size_t i;

    for (i = 0; i < l->len; i++) {
        struct action *a = &l->items[i];
        struct piece piece = { .source = a->text, .function = a->code_function, .scoped = &a->scoped };

        if (a->kind == ACTION_CODE && add_piece(s, &piece) < 0)
            return -1;
    }
    return 0;
}

static int collect_pieces(struct scopes *s, struct model *m)
{
    size_t i, j, k;

    for (i = 0; i < m->states_len; i++) {
        if (add_actions(s, &m->states[i].body) < 0 || add_actions(s, &m->states[i].fallback) < 0)
            return -1;
        for (j = 0; j < m->states[i].transitions_len; j++)
            for (k = 0; k < m->states[i].transitions[j].conditions_len; k++) {
                struct condition *c = &m->states[i].transitions[j].conditions[k];
                struct piece piece = {
                    .source = c->source, .function = c->function, .scoped = &c->scoped, .apart = &c->apart
                };

                if (add_piece(s, &piece) < 0)
                    return -1;
            }
    }
    return 0;
}

static int add_object(struct scopes *s, char *steal_name)
{
    int added = steal_name ? map_put(&s->objects, steal_name, strlen(steal_name), 0, NULL) : -1;

    mem_free(steal_name);
    return added < 0 ? err_nomem(s->err) : 0;
}

static int collect_objects(struct scopes *s, const struct model *m)
{
    size_t i;
    int r = 0;

    for (i = 0; i < m->llms_len && r == 0; i++)
        r = add_object(s, name_safe(m->llms[i].name));
    for (i = 0; i < m->rags_len && r == 0; i++)
        r = add_object(s, name_safe(m->rags[i].name));
    for (i = 0; i < m->guis_len && r == 0; i++)
        r = add_object(s, name_safe(m->guis[i].gui_id));
    for (i = 0; i < m->intents_len && r == 0; i++)
        r = add_object(s, text_as_identifier(m->intents[i].name));
    for (i = 0; i < m->states_len && r == 0; i++)
        r = add_object(s, text_as_identifier(m->states[i].name));
    return r;
}

static int add_use(struct scopes *s, const struct python_name *n)
{
    void *array = s->uses;
    size_t at = s->names.len;

    if (mem_grow(&array, at, &s->uses_cap, sizeof(*s->uses)) < 0)
        return err_nomem(s->err);
    s->uses = array;
    switch (map_put(&s->names, n->name, strlen(n->name), at, &at)) {
    case -1:
        return err_nomem(s->err);
    case 1:
        s->uses[at] = (struct use){ 0 };
        break;
    default:
        break;
    }
    s->uses[at].binders += n->flags & PYTHON_BINDS ? 1 : 0;
    s->uses[at].readers += n->flags & PYTHON_READS || (n->flags & (PYTHON_READS_IN | PYTHON_BINDS)) == PYTHON_READS_IN;
    return 0;
}

static int collect_uses(struct scopes *s)
{
    size_t i, k;

    for (i = 0; i < s->len; i++) {
        struct piece *p = &s->pieces[i];

        if (python_parse(s->parser, p->source, strlen(p->source), &p->facts, s->err) < 0)
            return -1;
        for (k = 0; k < p->facts.names_len; k++)
            if (add_use(s, &p->facts.names[k]) < 0)
                return -1;
    }
    return 0;
}

/* ---- who gets in the way of whom
 * --------------------------------------------------------------------------------- */

/* What file, image, table and plot replies look for in the whole program [V8]. */
static bool is_reply_object(const char *name)
{
    return str_eq(name, "reply_file_obj") || str_eq(name, "reply_image_arr") || str_eq(name, "reply_df") ||
           str_eq(name, "reply_plot");
}

/* Means something in the program without this code. */
static bool exists(const struct scopes *s, const char *name)
{
    return name_is_reserved(name) || program_is_published(name) || map_get(&s->objects, name, strlen(name)) != MAP_NONE;
}

static bool clashes(const struct scopes *s, const struct python_name *n)
{
    const struct use *use = &s->uses[map_get(&s->names, n->name, strlen(n->name))];
    size_t others = use->readers - (n->flags & PYTHON_READS ? 1 : 0);

    if (!(n->flags & PYTHON_BINDS) || n->flags & PYTHON_DECLARES || is_reply_object(n->name))
        return false;
    return (n->flags & PYTHON_READS_IN && use->binders > 1) || (others && exists(s, n->name));
}

static bool needs_scope(const struct scopes *s, const struct piece *p)
{
    size_t i;

    for (i = 0; i < p->facts.names_len; i++)
        if (clashes(s, &p->facts.names[i]))
            return true;
    return false;
}

/* ---- the function
 * ----------------------------------------------------------------------------------------------- */

static bool stays_global(const struct python_name *n)
{
    return n->flags & PYTHON_BINDS && (n->flags & PYTHON_DECLARES || is_reply_object(n->name));
}

/* What the source reads before it binds it itself, as far as it is there already. */
static bool is_parameter(const struct python_name *n)
{
    return (n->flags & (PYTHON_BINDS | PYTHON_READS)) == (PYTHON_BINDS | PYTHON_READS) && !stays_global(n) &&
           (program_is_published(n->name) || name_is_reserved(n->name));
}

static void write_block(struct buf *out, const struct piece *p, const char *block)
{
    size_t i, count = 0;

    buf_add_char(out, '(');
    for (i = 0; i < p->facts.names_len; i++)
        if (is_parameter(&p->facts.names[i]))
            buf_add_fmt(out, "%s%s=%s", count++ ? ", " : "", p->facts.names[i].name, p->facts.names[i].name);
    buf_add_str(out, "):\n");
    for (i = 0, count = 0; i < p->facts.names_len; i++)
        if (stays_global(&p->facts.names[i]))
            buf_add_fmt(out, "%s%s", count++ ? ", " : "    global ", p->facts.names[i].name);
    buf_add_str(out, count ? "\n" : "");
    buf_add_str(out, block);
}

/* Line ends that are none for the function around would move code out of it. */
static bool is_unusual(const char *source)
{
    const char *s = source;

    if (strchr(source, '\f'))
        return true;
    while ((s = strchr(s, '\r')))
        if (*++s != '\n')
            return true;
    return false;
}

static int is_valid(const struct scopes *s, const char *block, const char *function)
{
    struct python_facts facts = { 0 };
    auto_buf struct buf text;
    int valid;

    buf_init(&text, PYTHON_SOURCE_MAX);
    if (buf_add_fmt(&text, "def scope%s    return %s\n", block, function) < 0)
        return 0;
    if (python_check(s->parser, text.data, text.len, &facts, s->err) < 0)
        return -1;
    valid = facts.valid;
    python_facts_release(&facts);
    return valid;
}

static int give_scope(struct scopes *s, struct piece *p)
{
    auto_free char *block = is_unusual(p->source) ? NULL : python_indent(p->source);
    struct buf out;
    int valid;

    if (!block)
        return is_unusual(p->source) ? 0 : err_nomem(s->err);
    buf_init(&out, SIZE_MAX / 2);
    write_block(&out, p, block);
    valid = buf_failed(&out) ? err_nomem(s->err) : is_valid(s, out.data, p->function);
    if (valid > 0)
        *p->scoped = buf_steal(&out, NULL);
    buf_release(&out);
    return valid < 0 ? -1 : 0;
}

/* ---- all of them
 * ------------------------------------------------------------------------------------------------- */

static void scopes_release(struct scopes *s)
{
    size_t i;

    for (i = 0; i < s->len; i++)
        python_facts_release(&s->pieces[i].facts);
    mem_free(s->pieces);
    mem_free(s->uses);
    map_release(&s->names);
    map_release(&s->objects);
}

static bool is_sound(const struct piece *p)
{
    static const char future[] = "__future__";
    size_t i;

    for (i = 0; i < p->facts.imports_len; i++)
        if (str_starts(p->facts.imports[i].name, future))
            return false;
    return !p->facts.global_statement;
}

/* The body of a class does not see the names of the function around it. */
static bool changes_in_function(const struct piece *p)
{
    size_t i;

    for (i = 0; i < p->facts.names_len; i++)
        if (p->facts.names[i].flags & PYTHON_BINDS && p->facts.names[i].flags & PYTHON_READS_CLASS)
            return true;
    return false;
}

static int decide(struct scopes *s, struct piece *p, bool *sound)
{
    bool alone = is_sound(p), clashing = needs_scope(s, p);

    if (clashing && alone && !changes_in_function(p) && give_scope(s, p) < 0)
        return -1;
    if (p->apart)
        *p->apart = !alone || (clashing && !*p->scoped);
    *sound = *sound && (alone || p->apart);
    return 0;
}

int scopes_decide(struct model *m, struct python_parser *parser, bool *ret_sound, struct err *err)
{
    struct scopes s = { .parser = parser, .err = err };
    bool sound = true;
    size_t i;
    int r;

    map_init(&s.names);
    map_init(&s.objects);
    r = collect_pieces(&s, m);
    if (r == 0 && s.len)
        r = collect_objects(&s, m) < 0 ? -1 : collect_uses(&s);
    for (i = 0; i < s.len && r == 0; i++)
        r = decide(&s, &s.pieces[i], &sound);
    scopes_release(&s);
    if (r == 0)
        *ret_sound = sound;
    return r;
}
