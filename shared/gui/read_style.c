/* Styles: rules of single elements become their styling, all others the stylesheet. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

static const char *const direct_attributes[] = { "width",      "height",           "min-height", "padding",    "margin",
                                                 "background", "background-color", "color",      "text-align", NULL };

/* ---- selectors ----------------------------------------------------------------------------------------------------
 */

static bool is_selector_char(unsigned char c)
{
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c >= 0x80;
}

#define SELECTOR_ID 2 /* GrapesJS: type of a selector that names an element */

void gui_add_selector(struct buf *out, const struct value *selector)
{
    bool object = selector->kind == VALUE_OBJECT;
    const char *name = TEXT(object ? value_get(selector, "name") : selector);

    if (!name || !*name)
        return;
    if (object && gui_int(value_get(selector, "type"), 0) == SELECTOR_ID && *name != '#') {
        buf_add_char(out, '#');
        buf_add_str(out, name);
        return;
    }
    if (*name == '.' || *name == '#') {
        buf_add_str(out, name);
        return;
    }
    for (buf_add_char(out, '.'); *name; name++) {
        if (!is_selector_char((unsigned char)*name))
            buf_add_char(out, '\\');
        buf_add_char(out, *name);
    }
}

bool gui_is_element_rule(const struct value *rule, struct buf *ret_id)
{
    const struct value *selectors = value_get(rule, "selectors");

    buf_clear(ret_id);
    if (!selectors || selectors->kind != VALUE_ARRAY || selectors->len != 1 ||
        FIRST(rule, "selectorsAdd", "state", "mediaText", "atRuleType"))
        return false;
    gui_add_selector(ret_id, &selectors->items[0]);
    return ret_id->len && ret_id->data[0] == '#';
}

static int add_rule(struct gui_reader *r, const char *id, const struct value *style)
{
    void *array = r->rule_styles;
    size_t place;
    int added = map_put(&r->rules, id, strlen(id), r->rules_len, &place);

    if (added < 0 || mem_grow(&array, r->rules_len, &r->rules_cap, sizeof(struct value *)) < 0)
        return err_nomem(r->err);
    r->rule_styles = array;
    if (added)
        r->rules_len++;
    r->rule_styles[place] = style;
    return 0;
}

int gui_reader_collect_rules(struct gui_reader *r, const struct value *styles)
{
    auto_buf struct buf id;
    size_t i;

    buf_init(&id, SIZE_MAX / 2);
    for (i = 0; styles && styles->kind == VALUE_ARRAY && i < styles->len; i++) {
        const struct value *rule = &styles->items[i];
        bool element = gui_is_element_rule(rule, &id);

        if (buf_failed(&id))
            return err_nomem(r->err);
        if (element && add_rule(r, id.data + 1, value_get(rule, "style")) < 0)
            return -1;
    }
    return 0;
}

/* ---- declarations -------------------------------------------------------------------------------------------------
 */

#define DECLARATION_COST 32 /* bytes that a declaration counts beside its text: it is looked up and copied */

/* A rule may style any number of elements: what that costs is counted. */
static int spend(struct gui_reader *r, size_t bytes)
{
    r->style_bytes += bytes;
    if (r->style_bytes > GUI_STYLE_MAX)
        return err_set(r->err, ERR_BAD_REQUEST, 0, "The design's styles add up to more than %d bytes.", GUI_STYLE_MAX);
    return 0;
}

static int declare(struct gui_reader *r, struct style_block *b, const char *property, size_t property_len,
                   const char *value, size_t value_len)
{
    auto_free char *key = NULL, *text = NULL;

    if (spend(r, property_len + value_len + DECLARATION_COST) < 0)
        return -1;
    key = mem_dup(property, property_len);
    text = mem_dup(value, value_len);
    return key && text && gui_style_declare(b, key, text) == 0 ? 0 : err_nomem(r->err);
}

/* Copies are trimmed, so the span has to be found first. */
static int declare_trimmed(struct gui_reader *r, struct style_block *b, const char *property, const char *value)
{
    size_t property_len, value_len;

    property = text_trim_span(property, &property_len);
    value = text_trim_span(value, &value_len);
    return declare(r, b, property, property_len, value, value_len);
}

static int declare_object(struct gui_reader *r, struct style_block *b, const struct value *style)
{
    size_t i;

    for (i = 0; i < style->len; i++) {
        const char *value = TEXT(&style->items[i]);

        if (value && declare_trimmed(r, b, style->keys[i], value) < 0)
            return -1;
    }
    return 0;
}

/* End of the declaration at s: a semicolon outside of quotes and brackets, or the end of the text. */
static const char *declaration_end(const char *s)
{
    unsigned open = 0;
    char quote = 0;

    for (; *s; s++) {
        if (*s == '\\' && s[1])
            s++;
        else if (quote)
            quote = *s == quote ? 0 : quote;
        else if (*s == '"' || *s == '\'')
            quote = *s;
        else if (*s == '(')
            open++;
        else if (*s == ')')
            open -= open > 0;
        else if (*s == ';' && !open)
            break;
    }
    return s;
}

static int declare_text(struct gui_reader *r, struct style_block *b, const char *css)
{
    while (*css) {
        const char *end = declaration_end(css), *colon = memchr(css, ':', (size_t)(end - css));

        if (colon) {
            auto_free char *property = mem_dup(css, (size_t)(colon - css));
            auto_free char *value = mem_dup(colon + 1, (size_t)(end - colon - 1));

            if (!property || !value)
                return err_nomem(r->err);
            if (declare_trimmed(r, b, property, value) < 0)
                return -1;
        }
        css = *end ? end + 1 : end;
    }
    return 0;
}

static int declare_any(struct gui_reader *r, struct style_block *b, const struct value *style)
{
    if (!gui_says(style))
        return 0;
    if (style->kind == VALUE_OBJECT)
        return declare_object(r, b, style);
    return style->kind == VALUE_STRING ? declare_text(r, b, style->string) : 0;
}

static int declare_attributes(struct gui_reader *r, struct style_block *b, const struct component *c)
{
    const char *const *key;

    for (key = direct_attributes; *key; key++) {
        const char *value = TEXT(FIRST(c->attributes, *key));

        if (value && declare_trimmed(r, b, *key, value) < 0)
            return -1;
    }
    return 0;
}

/* ---- styling ------------------------------------------------------------------------------------------------------
 */

int gui_reader_style_object(struct gui_reader *r, const struct value *style, struct gui_styling **ret)
{
    struct gui_styling *s = gui_styling_new();
    struct style_block b;
    int rc;

    if (!s)
        return err_nomem(r->err);
    gui_style_begin(&b, s);
    rc = style && style->kind == VALUE_OBJECT ? declare_object(r, &b, style) : 0;
    gui_style_end(&b);
    if (rc < 0)
        gui_styling_free(s);
    else
        *ret = s;
    return rc;
}

static int declare_own(struct gui_reader *r, const struct component *c, struct gui_styling *s)
{
    struct style_block b;
    int rc;

    gui_style_begin(&b, s);
    rc = declare_any(r, &b, value_get(c->json, "style"));
    if (rc == 0)
        rc = declare_any(r, &b, value_get(c->attributes, "style"));
    if (rc == 0)
        rc = declare_attributes(r, &b, c);
    gui_style_end(&b);
    return rc;
}

int gui_reader_style(struct gui_reader *r, const struct component *c, struct gui_styling **ret)
{
    const char *id = TEXT(FIRST(c->attributes, "id"));
    size_t rule = id ? map_get(&r->rules, id, strlen(id)) : MAP_NONE;
    struct gui_styling *s = NULL;

    *ret = NULL;
    if (rule == MAP_NONE && !FIRST(c->json, "style") && !FIRST(c->attributes, "style") &&
        !gui_first(c->attributes, direct_attributes))
        return 0;
    if (gui_reader_style_object(r, rule == MAP_NONE ? NULL : r->rule_styles[rule], &s) < 0)
        return -1;
    if (declare_own(r, c, s) < 0) {
        gui_styling_free(s);
        return -1;
    }
    *ret = s;
    return 0;
}
