/* Styling as CSS properties, the stylesheet as the editor's rules. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/write_json.h"

/* A property that nobody reads: a styling without fields is another thing than none. */
#define NO_PROPERTY "--unstyled"

static void put_lower(struct gui_json_writer *w, struct value *to, const char *property, const char *member)
{
    auto_free char *word = member ? text_lower(member) : NULL;

    w->failed |= member && !word;
    gui_json_put_text(w, to, property, word);
}

static bool same_member(const char *one, const char *two)
{
    return one == two || (one && two && strcmp(one, two) == 0);
}

/* Members that these properties do not read back as, each by a property of ours. */
static void put_own_members(struct gui_json_writer *w, const struct gui_styling *s, struct value *style)
{
    struct gui_styling *read = gui_styling_new();
    struct style_block b;
    size_t i;

    w->failed |= !read;
    if (w->failed) { /* what is written is not whole */
        gui_styling_free(read);
        return;
    }
    gui_style_begin(&b, read);
    for (i = 0; i < style->len; i++)
        w->failed |= gui_style_declare(&b, style->keys[i], style->items[i].string) < 0;
    gui_style_end(&b);
    if (!same_member(read->unit_size, s->unit_size))
        gui_json_put_text(w, style, "--buml-unit-size", s->unit_size ? s->unit_size : "NONE");
    if (!same_member(read->alignment, s->alignment))
        gui_json_put_text(w, style, "--buml-alignment", s->alignment);
    if (!same_member(read->layout_type, s->layout_type))
        gui_json_put_text(w, style, "--buml-layout-type", s->layout_type ? s->layout_type : "NONE");
    gui_styling_free(read);
}

struct value gui_json_style(struct gui_json_writer *w, const struct gui_styling *s)
{
    struct value style = gui_json_object();
    const struct style_field *field;
    char number[32];
    size_t i;

    for (i = 0; (field = gui_style_field(i)); i++)
        if (field->property && s->texts[i])
            gui_json_put_text(w, &style, field->property, s->texts[i]);
    put_lower(w, &style, "position", s->p_type);
    put_lower(w, &style, "text-align", s->alignment);
    if (s->has_z_index) {
        snprintf(number, sizeof(number), "%" PRId64, s->z_index);
        gui_json_put_text(w, &style, "z-index", number);
    }
    put_own_members(w, s, &style);
    if (!style.len)
        gui_json_put_text(w, &style, NO_PROPERTY, "1");
    return style;
}

/* ---- stylesheet ---------------------------------------------------------------------------------------------------
 */

/* Where one of the characters comes next, outside of quotes, brackets and escapes; the end of the text otherwise. */
static const char *find(const char *s, const char *end, const char *wanted)
{
    unsigned open = 0;
    char quote = 0;

    for (; s < end; s++) {
        if (*s == '\\' && s + 1 < end)
            s++;
        else if (quote)
            quote = *s == quote ? 0 : quote;
        else if (!open && strchr(wanted, *s))
            return s;
        else if (*s == '"' || *s == '\'')
            quote = *s;
        else if (*s == '(')
            open++;
        else if (*s == ')')
            open -= open > 0;
    }
    return end;
}

/* The brace that closes the block whose text begins at s. */
static const char *block_end(const char *s, const char *end)
{
    unsigned depth = 0;

    for (s = find(s, end, "{}"); s < end; s = find(s + 1, end, "{}")) {
        if (*s == '{')
            depth++;
        else if (!depth--)
            return s;
    }
    return end;
}

static void put_span(struct gui_json_writer *w, struct value *to, const char *key, const char *s, size_t len)
{
    auto_free char *copy = mem_dup(s, len);

    w->failed |= !copy;
    gui_json_put_text(w, to, key, copy);
}

static struct value declarations(struct gui_json_writer *w, const char *s, const char *end)
{
    struct value style = gui_json_object();

    while (s < end) {
        const char *stop = find(s, end, ";"), *colon = memchr(s, ':', (size_t)(stop - s));

        if (colon) {
            auto_free char *property = mem_dup(s, (size_t)(colon - s));

            w->failed |= !property;
            if (property)
                put_span(w, &style, property, colon + 1, (size_t)(stop - colon - 1));
        }
        s = stop < end ? stop + 1 : end;
    }
    return style;
}

static size_t name_len(const char *s, const char *end)
{
    size_t n = 0;

    while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_'))
        n++;
    return n;
}

/* .a.b:state -- or #a:state, which is no rule of the element alone. False: something else. */
static bool put_simple(struct gui_json_writer *w, struct value *rule, const char *s, const char *end, bool in_block)
{
    struct value list = gui_json_array();
    bool id = false;
    size_t n;

    while (s < end && (*s == '.' || (*s == '#' && !list.len)) && (n = name_len(s + 1, end))) {
        struct value selector = gui_json_object();

        id |= *s == '#';
        put_span(w, &selector, "name", *s == '#' ? s : s + 1, *s == '#' ? n + 1 : n);
        gui_json_add(w, &list, selector);
        s += n + 1;
    }
    n = s < end && *s == ':' ? name_len(s + 1, end) : 0;
    if (!list.len || s + n + (n > 0) != end || (id && !n && !in_block)) {
        value_release(&list);
        return false;
    }
    gui_json_put(w, rule, "selectors", list);
    if (n)
        put_span(w, rule, "state", s + 1, n);
    return true;
}

static struct value rule_of(struct gui_json_writer *w, const char *s, const char *brace, const char *close,
                            bool in_block)
{
    struct value rule = gui_json_object();

    if (!put_simple(w, &rule, s, brace, in_block)) {
        gui_json_put(w, &rule, "selectors", gui_json_array());
        put_span(w, &rule, "selectorsAdd", s, (size_t)(brace - s));
    }
    gui_json_put(w, &rule, "style", declarations(w, brace + 1, close));
    return rule;
}

/* @type condition { rules }, or one without selector: @font-face { declarations } */
static void add_block(struct gui_json_writer *w, const char *s, const char *brace, const char *close,
                      struct value *styles)
{
    const char *inner = find(brace + 1, close, "{"), *type_end = s + 1 + name_len(s + 1, brace);
    const char *type = s + 1;

    if (inner == close) {
        struct value rule = gui_json_object();

        gui_json_put(w, &rule, "selectors", gui_json_array());
        put_span(w, &rule, "atRuleType", s + 1, (size_t)(brace - s - 1));
        gui_json_put_bool(w, &rule, "singleAtRule", true);
        gui_json_put(w, &rule, "style", declarations(w, brace + 1, close));
        gui_json_add(w, styles, rule);
        return;
    }
    for (s = brace + 1; s < close; s = inner + 1) {
        const char *open = find(s, close, "{");
        struct value rule;

        inner = open < close ? block_end(open + 1, close) : close;
        if (open == close)
            break;
        rule = rule_of(w, s, open, inner, true);
        put_span(w, &rule, "atRuleType", type, (size_t)(type_end - type));
        if (type_end < brace && *type_end == ' ')
            put_span(w, &rule, "mediaText", type_end + 1, (size_t)(brace - type_end - 1));
        gui_json_add(w, styles, rule);
    }
}

void gui_json_rules(struct gui_json_writer *w, const char *sheet, struct value *styles)
{
    const char *s = sheet, *end = sheet + strlen(sheet), *brace, *close;

    for (; s < end; s = close < end ? close + 1 : end) {
        s += strspn(s, "\n");
        brace = find(s, end, "{");
        if (brace == end)
            return;
        close = block_end(brace + 1, end);
        if (*s == '@')
            add_block(w, s, brace, close, styles);
        else
            gui_json_add(w, styles, rule_of(w, s, brace, close, false));
    }
}
