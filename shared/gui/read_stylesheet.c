/* The stylesheet: every rule that is not of exactly one element, as CSS text. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/reader.h"

/* property:value;property:value -- without what the editor keeps for itself. */
static void add_declarations(struct buf *out, const struct value *style)
{
    bool any = false;
    size_t i;

    for (i = 0; style && style->kind == VALUE_OBJECT && i < style->len; i++) {
        const char *value = TEXT(&style->items[i]);

        if (!value || !*value || strncmp(style->keys[i], "__", 2) == 0)
            continue;
        if (any)
            buf_add_char(out, ';');
        any = true;
        buf_add_str(out, style->keys[i]);
        buf_add_char(out, ':');
        buf_add_str(out, value);
    }
}

/* .a.b:state, more selectors */
static void add_selectors(struct buf *out, const struct value *rule)
{
    const struct value *selectors = value_get(rule, "selectors");
    const char *state = gui_string(FIRST(rule, "state")), *more = gui_string(FIRST(rule, "selectorsAdd"));
    size_t start = out->len, i;

    for (i = 0; selectors && selectors->kind == VALUE_ARRAY && i < selectors->len; i++)
        gui_add_selector(out, &selectors->items[i]);
    if (out->len > start && state) {
        buf_add_char(out, ':');
        buf_add_str(out, state);
    }
    if (more) {
        if (out->len > start)
            buf_add_str(out, ", ");
        buf_add_str(out, more);
    }
}

/* @type condition; empty for a rule outside of any. */
static void add_at_rule(struct buf *out, const struct value *rule)
{
    const char *condition = gui_string(FIRST(rule, "mediaText")), *type = gui_string(FIRST(rule, "atRuleType"));

    if (!type && !condition)
        return;
    buf_add_char(out, '@');
    buf_add_str(out, type ? type : "media");
    if (condition && !FIRST(rule, "singleAtRule")) {
        buf_add_char(out, ' ');
        buf_add_str(out, condition);
    }
}

struct sheet {
    struct buf *out;
    struct buf open; /* the at-rule whose block is open, "" for none */
    struct buf at, selectors, declarations;
    bool failed;
};

static void close_block(struct sheet *s)
{
    if (s->open.len)
        buf_add_str(s->out, "}\n");
    buf_clear(&s->open);
}

static void add_braced(struct buf *out, const struct buf *head, const struct buf *body)
{
    buf_add(out, head->data, head->len);
    buf_add_char(out, '{');
    buf_add(out, body->data, body->len);
    buf_add_char(out, '}');
}

static void add_sheet_rule(struct sheet *s, const struct value *rule)
{
    buf_clear(&s->at);
    buf_clear(&s->selectors);
    buf_clear(&s->declarations);
    add_declarations(&s->declarations, value_get(rule, "style"));
    add_at_rule(&s->at, rule);
    add_selectors(&s->selectors, rule);
    s->failed |= buf_failed(&s->at) || buf_failed(&s->selectors) || buf_failed(&s->declarations);
    if (s->at.len && FIRST(rule, "singleAtRule")) { /* @font-face and the like have no selector */
        close_block(s);
        add_braced(s->out, &s->at, &s->declarations);
        buf_add_char(s->out, '\n');
        return;
    }
    if (!s->selectors.len || !s->declarations.len)
        return;
    if (s->at.len != s->open.len || (s->at.len && memcmp(s->at.data, s->open.data, s->at.len) != 0))
        close_block(s);
    if (s->at.len && !s->open.len) {
        buf_add(&s->open, s->at.data, s->at.len);
        buf_add(s->out, s->at.data, s->at.len);
        buf_add_char(s->out, '{');
    }
    add_braced(s->out, &s->selectors, &s->declarations);
    if (!s->open.len)
        buf_add_char(s->out, '\n');
}

int gui_stylesheet(struct gui_reader *r, const struct value *styles, struct buf *out)
{
    struct sheet s = { .out = out };
    struct buf *const parts[] = { &s.open, &s.at, &s.selectors, &s.declarations };
    size_t i;

    for (i = 0; i < ARRAY_LEN(parts); i++)
        buf_init(parts[i], SIZE_MAX / 2);
    for (i = 0; styles && styles->kind == VALUE_ARRAY && i < styles->len; i++) {
        const struct value *rule = &styles->items[i];
        bool element = gui_is_element_rule(rule, &s.at);

        s.failed |= buf_failed(&s.at) || buf_failed(&s.open); /* clearing a buffer forgets it */
        if (rule->kind == VALUE_OBJECT && !element)
            add_sheet_rule(&s, rule);
    }
    s.failed |= buf_failed(&s.open);
    close_block(&s);
    for (i = 0; i < ARRAY_LEN(parts); i++)
        buf_release(parts[i]);
    return s.failed || buf_failed(out) ? err_nomem(r->err) : 0;
}
