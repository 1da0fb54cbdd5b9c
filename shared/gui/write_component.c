/* Components of a screen or container. Kinds of objects are told by type and tag as the reader asks for them; places
 * among siblings are kept, with comments where the design had something that is no component. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/gui/reader.h"
#include "shared/gui/write_json.h"

#define GAP_MAX 1000 /* places left free before a component */

static const char *const box_tags[] = { "div", "section", "main", "header", "footer", "nav",   "article", "aside",
                                        "ul",  "ol",      "li",   "form",   "tbody",  "thead", "tr",      NULL };
static const char *const list_tags[] = { "nav", "ul", "ol", NULL };

static const char *const types[GUI__KINDS] = {
    [GUI_WORDS] = "text",
    [GUI_IMAGE] = "image",
    [GUI_LINK] = "link",
    [GUI_BUTTON] = "action-button",
    [GUI_INPUT] = "input",
    [GUI_FORM] = "form",
    [GUI_ALERT] = "gui-alert",
    [GUI_MENU] = "menu",
    [GUI_DATA_LIST] = "data-list",
    [GUI_LINE_CHART] = "line-chart",
    [GUI_BAR_CHART] = "bar-chart",
    [GUI_PIE_CHART] = "pie-chart",
    [GUI_RADAR_CHART] = "radar-chart",
    [GUI_RADIAL_CHART] = "radial-bar-chart",
    [GUI_TABLE] = "table",
    [GUI_METRIC_CARD] = "metric-card",
    [GUI_MAP] = "map",
    [GUI_AGENT] = "agent-component",
};

static struct value comment(struct gui_json_writer *w)
{
    struct value c = gui_json_object();

    gui_json_put_text(w, &c, "type", "comment");
    return c;
}

/* ---- type and tag -------------------------------------------------------------------------------------------------
 */

/* "section container" and "x-y component" say what a box or an unknown component was: a word, and how it was known. */
static void put_box_type(struct gui_json_writer *w, const struct gui_object *o, struct value *c)
{
    const char *description = gui_text(o, "description"), *tag = o->tag_name;
    const char *blank = description ? strrchr(description, ' ') : NULL;
    bool box = o->kind == GUI_CONTAINER && !(blank && strcmp(blank, " component") == 0);
    auto_free char *word = blank ? mem_dup(description, (size_t)(blank - description)) : NULL;

    w->failed |= blank && !word;
    if (tag && (!word || strcasecmp(word, tag) == 0)) {
        gui_json_put_text(w, c, "tagName", tag);
        if (box && !gui_word_in(tag, box_tags))
            gui_json_put_text(w, c, "type", "container");
    } else if (word && *word) {
        gui_json_put_text(w, c, "type", word);
    } else if (box) {
        gui_json_put_text(w, c, "type", "container");
    }
}

static void put_type(struct gui_json_writer *w, const struct gui_object *o, const struct value *attributes,
                     struct value *c)
{
    const char *type = types[o->kind], *content = o->kind == GUI_EMBEDDED ? gui_text(o, "content_type") : NULL;

    if (o->kind == GUI_CONTAINER || o->kind == GUI_COMPONENT) {
        put_box_type(w, o, c);
        return;
    }
    if (o->kind == GUI_INPUT && o->tag_name && strcasecmp(o->tag_name, "form") == 0)
        type = "gui-input-text";
    if (o->kind == GUI_EMBEDDED)
        type = content && (!o->tag_name || strcmp(content, o->tag_name) != 0) ? content : NULL;
    gui_json_put_text(w, c, "type", type);
    /* an address beside the attributes joins those of a component that says its tag */
    if (!(o->kind == GUI_IMAGE && o->tag_name && strcmp(o->tag_name, "img") == 0 && !value_get(attributes, "src")))
        gui_json_put_text(w, c, "tagName", o->kind == GUI_EMBEDDED && !o->tag_name ? "iframe" : o->tag_name);
}

/* ---- one component ------------------------------------------------------------------------------------------------
 */

static void put_classes(struct gui_json_writer *w, const struct str_list *classes, struct value *c)
{
    struct value list = gui_json_array();
    size_t i;

    for (i = 0; i < classes->len; i++) {
        struct value one = gui_json_object();

        gui_json_put_text(w, &one, "name", classes->items[i]);
        gui_json_add(w, &list, one);
    }
    if (list.len)
        gui_json_put(w, c, "classes", list);
}

static struct value attributes_of(struct gui_json_writer *w, const struct gui_object *o)
{
    struct value attributes = gui_json_object();
    size_t i;

    for (i = 0; o->attributes.kind == VALUE_OBJECT && i < o->attributes.len; i++) {
        struct value copy = { 0 };

        if (value_copy(&o->attributes.items[i], &copy) < 0)
            w->failed = true;
        gui_json_put(w, &attributes, o->attributes.keys[i], copy);
    }
    return attributes;
}

static void put_children(struct gui_json_writer *w, const struct gui_object *o, struct value *c)
{
    struct value children = gui_json_components(w, o);
    const char *description = gui_text(o, "description");
    bool list = o->tag_name && gui_word_in(o->tag_name, list_tags);

    /* links alone would make a menu of it, and without anything it would be no box */
    if (list || (!children.len && description && strstr(description, " component")))
        gui_json_add(w, &children, comment(w));
    if (children.len)
        gui_json_put(w, c, "components", children);
    else
        value_release(&children);
}

static struct value component(struct gui_json_writer *w, const struct gui_object *o)
{
    struct value c = gui_json_object(), attributes = attributes_of(w, o);

    gui_json_put_text(w, &c, "name", gui_text(o, "name"));
    put_type(w, o, &attributes, &c);
    if (o->component_id && !HAS(&attributes, "id"))
        gui_json_put_text(w, &c, "id", o->component_id);
    put_classes(w, &o->css_classes, &c);
    if (o->styling)
        gui_json_put(w, &c, "style", gui_json_style(w, o->styling));
    if (o->kind == GUI_CONTAINER)
        put_children(w, o, &c);
    else
        gui_json_fill(w, o, &c, &attributes);
    if (attributes.len)
        gui_json_put(w, &c, "attributes", attributes);
    else
        value_release(&attributes);
    return c;
}

/* ---- siblings -----------------------------------------------------------------------------------------------------
 */

static bool is_whole(double order)
{
    return order == (double)(int64_t)order;
}

/* Components whose places lie between two whole numbers stood in a wrapper. Their number. */
static size_t wrapped(struct gui_object *const *parts, size_t len)
{
    size_t n = 1;

    if (!parts[0]->ordered || !is_whole(parts[0]->order))
        return 1;
    while (n < len && parts[n]->ordered && !is_whole(parts[n]->order) && parts[n]->order < parts[0]->order + 1)
        n++;
    return n;
}

static void add_group(struct gui_json_writer *w, struct gui_object *const *parts, size_t n, struct value *list)
{
    struct value children = gui_json_array(), wrapper = gui_json_object();
    size_t i;

    for (i = 0; i < n; i++)
        gui_json_add(w, &children, component(w, parts[i]));
    gui_json_put_text(w, &wrapper, "type", "wrapper");
    gui_json_put(w, &wrapper, "components", children);
    gui_json_add(w, list, wrapper);
}

struct value gui_json_components(struct gui_json_writer *w, const struct gui_object *holder)
{
    auto_free struct gui_object **parts = mem_zalloc(holder->parts_len + 1, sizeof(struct gui_object *));
    struct value list = gui_json_array();
    size_t i, n;

    w->failed |= !parts;
    for (i = 0; parts && i < holder->parts_len; i++)
        parts[i] = holder->parts[i];
    if (parts)
        qsort(parts, holder->parts_len, sizeof(struct gui_object *), gui_by_order);
    for (i = 0; parts && i < holder->parts_len && !w->failed; i += n) {
        n = wrapped(parts + i, holder->parts_len - i);
        if (parts[i]->ordered && parts[i]->order > (double)list.len && parts[i]->order - (double)list.len <= GAP_MAX)
            while (!w->failed && (double)list.len + 1 <= parts[i]->order)
                gui_json_add(w, &list, comment(w));
        if (n > 1)
            add_group(w, parts + i, n, &list);
        else
            gui_json_add(w, &list, component(w, parts[i]));
    }
    return list;
}
