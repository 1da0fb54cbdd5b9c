/* Which class a component of the design becomes, and the classes that take a few lines. */
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

#define WORDS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

static const char *const text_tags[] = { "p",    "span", "label", "strong", "em",   "small", "h1",   "h2",   "h3",
                                         "h4",   "h5",   "h6",    "strike", "u",    "s",     "del",  "ins",  "mark",
                                         "code", "kbd",  "samp",  "var",    "sub",  "sup",   "abbr", "cite", "q",
                                         "dfn",  "time", "b",     "i",      "text", "tspan", NULL };
static const char *const container_tags[] = { "div", "section", "main", "header", "footer", "nav",   "article", "aside",
                                              "ul",  "ol",      "li",   "form",   "tbody",  "thead", "tr",      NULL };
static const char *const container_types[] = { "container", "default",       "row",          "column",
                                               "wrapper",   "grid",          "list",         "flex",
                                               "tabs",      "tab-container", "tab-contents", "tab-content",
                                               "tab",       "form",          "cell",         NULL };
static const char *const input_words[] = { "input", "textarea", "select", "checkbox", "radio", NULL };
static const char *const head_tags[] = { "meta", "title", "link", "script", "style", "base", NULL };

/* An element with the arguments that follow: pairs of argument name and text, ended by NULL. Frees it on failure. */
static struct gui_object *with_texts(struct gui_reader *r, struct gui_object *o, const char *const *pairs)
{
    for (; o && *pairs; pairs += 2)
        if (gui_reader_text(r, o, pairs[0], pairs[1]) < 0) {
            gui_object_free(o);
            return NULL;
        }
    return o;
}
#define WITH_TEXTS(r, o, ...) with_texts((r), (o), (const char *const[]){ __VA_ARGS__, NULL })

static int read_words(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    auto_buf struct buf content;

    buf_init(&content, SIZE_MAX / 2);
    if (gui_component_text(r, c->json, &content) < 0)
        return -1;
    *ret = WITH_TEXTS(r, gui_reader_element(r, c, GUI_WORDS, "Text", NULL), "content", content.data, "description",
                      "Text element");
    return *ret ? 0 : -1;
}

static int read_image(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const struct value *src = FIRST(c->attributes, "src", "data-src");
    const char *alt = TEXT(FIRST(c->attributes, "alt"));

    *ret = WITH_TEXTS(r, gui_reader_element(r, c, GUI_IMAGE, "Image", "img"), "description",
                      alt ? alt : "Image component", "source", gui_string(src ? src : FIRST(c->json, "src")));
    return *ret ? 0 : -1;
}

static int read_link(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const char *url, *target, *rel, *title = TEXT(FIRST(c->attributes, "title"));
    auto_buf struct buf label;

    buf_init(&label, SIZE_MAX / 2);
    if (gui_link_label(r, c, &label) < 0)
        return -1;
    gui_link_target(c, &url, &target, &rel);
    *ret = WITH_TEXTS(r, gui_reader_element(r, c, GUI_LINK, "Link", "a"), "description", title ? title : "Link element",
                      "label", label.data, "url", url, "target", target, "rel", rel);
    return *ret ? 0 : -1;
}

static int read_embedded(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const struct value *src = FIRST(c->attributes, "src", "data-src");
    const char *title = TEXT(FIRST(c->attributes, "title", "aria-label"));
    const char *type = *c->type ? c->type : *c->tag ? c->tag : gui_string(FIRST(c->attributes, "data-content-type"));

    *ret = WITH_TEXTS(r, gui_reader_element(r, c, GUI_EMBEDDED, "EmbeddedContent", "iframe"), "description",
                      title ? title : "Embedded content", "source", gui_string(src ? src : FIRST(c->json, "src")),
                      "content_type", type);
    return *ret ? 0 : -1;
}

static int read_alert(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    static const char *const severities[][3] = {
        { "Info", "info", "Alert component (info)" },
        { "Success", "success", "Alert component (success)" },
        { "Warning", "warning", "Alert component (warning)" },
        { "Error", "error", "Alert component (error)" },
    };
    static const char *const keys[][2] = {
        { "data-severity", "alert-severity" },
        { "data-title", "alert-title" },
        { "data-content", "alert-content" },
        { "data-dismissible", "alert-dismissible" },
    };
    const struct value *given[ARRAY_LEN(keys)];
    const char *severity, *content;
    auto_buf struct buf text;
    size_t i, which = 0;

    buf_init(&text, SIZE_MAX / 2);
    for (i = 0; i < ARRAY_LEN(keys); i++) {
        given[i] = FIRST(c->attributes, keys[i][0], keys[i][1]);
        if (!given[i])
            given[i] = FIRST(c->json, keys[i][1]);
    }
    severity = gui_string(given[0]);
    for (i = 0; severity && i < ARRAY_LEN(severities); i++)
        if (strcmp(severity, severities[i][0]) == 0 || strcmp(severity, severities[i][1]) == 0)
            which = i;
    content = TEXT(given[2]);
    if (!content && gui_component_text(r, c->json, &text) < 0)
        return -1;
    *ret = WITH_TEXTS(r, gui_reader_element(r, c, GUI_ALERT, "Alert", "div"), "description", severities[which][2],
                      "content", content ? content : text.data, "title", TEXT(given[1]));
    if (!*ret)
        return -1;
    gui_set_member(*ret, "severity", severities[which][0]);
    if (gui_says_yes(given[3]))
        gui_set_bool(*ret, "dismissible", true);
    return 0;
}

static int read_menu(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o =
        WITH_TEXTS(r, gui_reader_element(r, c, GUI_MENU, "Menu", "nav"), "description", "Menu component");

    if (!o)
        return -1;
    if (gui_read_menu_items(r, c, o) < 0) {
        gui_object_free(o);
        return -1;
    }
    *ret = o;
    return 0;
}

/* ---- containers ---------------------------------------------------------------------------------------------------
 */

/* "<tag or type> <noun>" */
static int describe(struct gui_reader *r, const struct component *c, const char *noun, struct gui_object *o)
{
    auto_free char *word = text_lower(*c->tag ? c->tag : c->type);
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (!word || buf_add_fmt(&text, "%s %s", word, noun) < 0)
        return err_nomem(r->err);
    return gui_reader_text(r, o, "description", text.data);
}

static int read_parts(struct gui_reader *r, const struct component *c, struct gui_object *o, const char *noun,
                      struct gui_object **ret)
{
    if (describe(r, c, noun, o) < 0 || gui_read_components(r, value_get(c->json, "components"), o) < 0) {
        gui_object_free(o);
        return -1;
    }
    *ret = o;
    return 0;
}

static int read_container(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    struct gui_object *o = gui_reader_element(r, c, GUI_CONTAINER, "Container", NULL);
    auto_buf struct buf id;

    buf_init(&id, SIZE_MAX / 2);
    if (!o)
        return -1;
    if (!o->component_id) { /* something to refer to it by */
        auto_free char *name = text_lower(gui_text(o, "name"));

        if (name)
            buf_add_fmt(&id, "container_%s", name);
        o->component_id = name ? buf_steal(&id, NULL) : NULL;
        if (!o->component_id) {
            gui_object_free(o);
            return err_nomem(r->err);
        }
    }
    return read_parts(r, c, o, "container", ret);
}

static int read_other(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const struct value *parts = value_get(c->json, "components");
    bool container = parts && parts->kind == VALUE_ARRAY && parts->len;
    struct gui_object *o = gui_reader_element(r, c, container ? GUI_CONTAINER : GUI_COMPONENT,
                                              *c->tag    ? c->tag
                                              : *c->type ? c->type
                                                         : "Component",
                                              NULL);

    return o ? read_parts(r, c, o, "component", ret) : -1;
}

/* ---- dispatch -----------------------------------------------------------------------------------------------------
 */

bool gui_is_text(const struct component *c)
{
    return gui_word_in(c->type, WORDS("text")) || gui_word_in(c->tag, text_tags);
}

/* Blocks of the editor's palette that say what they are. NULL: no such attribute. */
static const struct value *palette_type(const struct component *c)
{
    const struct value *v = value_get(c->attributes, "data-gui-type");

    return v && v->kind != VALUE_NULL ? v : NULL;
}

static bool palette_is(const struct component *c, const char *type)
{
    const char *given = gui_string(palette_type(c));

    return given && strcmp(given, type) == 0;
}

static bool is_chart(const struct component *c)
{
    return gui_word_in(c->type, WORDS("line-chart", "bar-chart", "pie-chart", "radar-chart", "radial-bar-chart"));
}

static bool is_button(const struct component *c)
{
    return gui_word_in(c->type, WORDS("button", "action-button")) || gui_word_in(c->tag, WORDS("button"));
}

static bool is_alert(const struct component *c)
{
    return gui_word_in(c->type, WORDS("gui-alert")) || palette_is(c, "Alert");
}

static bool is_palette_input(const struct component *c)
{
    static const char prefix[] = "gui-input-";

    return strncasecmp(c->type, prefix, sizeof(prefix) - 1) == 0 || (palette_type(c) && !palette_is(c, "Form"));
}

static bool is_form(const struct component *c)
{
    return gui_word_in(c->type, WORDS("form", "gui-form")) || gui_word_in(c->tag, WORDS("form")) ||
           palette_is(c, "Form");
}

static bool is_plain_input(const struct component *c)
{
    return gui_word_in(c->type, input_words) || gui_word_in(c->tag, input_words);
}

static bool is_table(const struct component *c)
{
    return gui_word_in(c->type, WORDS("table"));
}

static bool is_metric_card(const struct component *c)
{
    return gui_word_in(c->type, WORDS("metric-card"));
}

static bool is_agent(const struct component *c)
{
    return gui_word_in(c->type, WORDS("agent-component"));
}

static bool is_image(const struct component *c)
{
    return gui_word_in(c->type, WORDS("image")) || gui_word_in(c->tag, WORDS("img"));
}

static bool is_link_component(const struct component *c)
{
    return gui_word_in(c->type, WORDS("link", "link-button")) || gui_word_in(c->tag, WORDS("a"));
}

static bool is_map(const struct component *c)
{
    return gui_word_in(c->type, WORDS("map"));
}

static bool is_embedded(const struct component *c)
{
    return gui_word_in(c->tag, WORDS("iframe"));
}

static bool is_navigation(const struct component *c)
{
    return gui_word_in(c->type, WORDS("menu")) || (gui_word_in(c->tag, WORDS("nav", "ul", "ol")) && gui_is_menu(c));
}

static bool is_data_list(const struct component *c)
{
    static const char *const sources[] = { "data-source",     "data-bind",   "data-model",
                                           "data-collection", "data-entity", NULL };
    size_t i;

    if (gui_word_in(c->type, WORDS("list", "data-list")))
        return true;
    for (i = 0; gui_word_in(c->tag, WORDS("ul", "ol", "table")) && sources[i]; i++)
        if (value_get(c->attributes, sources[i]))
            return true;
    return false;
}

static bool is_container(const struct component *c)
{
    const char *name = gui_string(value_get(c->json, "name"));

    return gui_word_in(c->type, container_types) || gui_word_in(c->tag, container_tags) ||
           (name && gui_word_in(name, container_types));
}

static bool is_anything(const struct component *c)
{
    (void)c;
    return true;
}

/* The first row whose question is answered by yes reads the component. */
static const struct {
    bool (*is)(const struct component *c);
    component_reader *read;
} rows[] = {
    { is_chart, gui_read_chart },
    { is_table, gui_read_table },
    { is_metric_card, gui_read_metric_card },
    { is_agent, gui_read_agent },
    { is_button, gui_read_button },
    { is_alert, read_alert },
    { is_palette_input, gui_read_input },
    { is_form, gui_read_form },
    { is_plain_input, gui_read_input },
    { gui_is_text, read_words },
    { is_image, read_image },
    { is_link_component, read_link },
    { is_map, gui_read_map },
    { is_embedded, read_embedded },
    { is_navigation, read_menu },
    { is_data_list, gui_read_data_list },
    { is_container, read_container },
    { is_anything, read_other },
};

static int read_component(struct gui_reader *r, const struct component *c, double order, struct gui_object *parent)
{
    struct gui_object *o = NULL;
    size_t i = 0;

    while (!rows[i].is(c))
        i++;
    if (rows[i].read(r, c, &o) < 0)
        return -1;
    o->ordered = true;
    o->order = order;
    return gui_reader_part(r, parent, o);
}

/* What a wrapper holds stands where the wrapper stood. */
static int read_wrapper(struct gui_reader *r, const struct component *c, double order, struct gui_object *parent)
{
    size_t first = parent->parts_len, i, n;

    if (gui_read_components(r, value_get(c->json, "components"), parent) < 0)
        return -1;
    n = parent->parts_len - first;
    for (i = 0; i < n; i++)
        parent->parts[first + i]->order = order + (double)i * (n > 100 ? 1.0 / (double)n : 0.01);
    return 0;
}

int gui_read_components(struct gui_reader *r, const struct value *list, struct gui_object *parent)
{
    size_t i;

    for (i = 0; list && list->kind == VALUE_ARRAY && i < list->len; i++) {
        struct component c = gui_component_of(&list->items[i]);
        int rc = 0;

        if (c.json->kind != VALUE_OBJECT || gui_word_in(c.tag, head_tags) ||
            gui_word_in(c.type, WORDS("textnode", "comment")))
            continue;
        if (gui_word_in(c.type, WORDS("wrapper")))
            rc = read_wrapper(r, &c, (double)i, parent);
        else
            rc = read_component(r, &c, (double)i, parent);
        if (rc < 0)
            return -1;
    }
    return 0;
}
