/* Text and links that lie inside of a component. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

static const char *const link_types[] = { "link", "link-button", NULL };
static const char *const link_tags[] = { "a", NULL };
static const char *const item_tags[] = { "ul", "ol", "li", NULL };
static const char *const list_tags[] = { "ul", "ol", NULL };

/* ---- text ---------------------------------------------------------------------------------------------------------
 */

/* Bytes of the white space character at s, 0 when it is none. */
static size_t space_at(const char *s, size_t len)
{
    char one[5] = "";
    size_t width;

    if (!len || utf8_decode(s, len, &width) < 0 || width >= sizeof(one))
        return 0;
    memcpy(one, s, width);
    return text_is_blank(one) ? width : 0;
}

/* Trims what out has from start on; runs of blanks and tabs become one blank, lines without text vanish. */
static void tidy(struct buf *out, size_t start)
{
    const char *from;
    char *to;
    size_t len, i, n = 0;

    if (buf_failed(out) || out->len == start)
        return;
    to = out->data + start;
    from = text_trim_span(to, &len);
    memmove(to, from, len);
    for (i = 0; i < len; n++) {
        size_t next, last, width;

        to[n] = to[i] == '\t' ? ' ' : to[i];
        if (to[n] == ' ') {
            while (i < len && (to[i] == ' ' || to[i] == '\t'))
                i++;
        } else if (to[i] == '\n') {
            for (last = i, next = i; (width = space_at(to + next, len - next)); next += width)
                if (to[next] == '\n')
                    last = next;
            i = last + 1;
        } else {
            i++;
        }
    }
    to[n] = '\0';
    out->len = start + n;
}

static void add_scalar(struct buf *out, const struct value *v)
{
    const char *text = gui_says(v) ? TEXT(v) : NULL;

    if (text)
        buf_add_str(out, text);
}

static void add_text(struct buf *out, const struct value *json)
{
    const struct value *children = value_get(json, "components");
    size_t start = out->len, i;

    add_scalar(out, value_get(json, "content"));
    for (i = 0; children && children->kind == VALUE_ARRAY && i < children->len; i++) {
        struct component child = gui_component_of(&children->items[i]);

        if (gui_word_in(child.type, (const char *const[]){ "textnode", NULL }))
            add_scalar(out, value_get(child.json, "content"));
        else if (gui_word_in(child.tag, (const char *const[]){ "br", NULL }))
            buf_add_char(out, '\n');
        else
            add_text(out, child.json);
    }
    tidy(out, start);
}

int gui_component_text(struct gui_reader *r, const struct value *json, struct buf *out)
{
    buf_clear(out);
    add_text(out, json);
    return buf_failed(out) ? err_nomem(r->err) : 0;
}

/* ---- links --------------------------------------------------------------------------------------------------------
 */

int gui_link_label(struct gui_reader *r, const struct component *c, struct buf *out)
{
    if (gui_component_text(r, c->json, out) < 0)
        return -1;
    if (!out->len)
        add_scalar(out, FIRST(c->attributes, "title", "aria-label", "data-label"));
    return buf_failed(out) ? err_nomem(r->err) : 0;
}

void gui_link_target(const struct component *c, const char **ret_url, const char **ret_target, const char **ret_rel)
{
    *ret_url = gui_string(FIRST(c->attributes, "href", "data-href"));
    *ret_target = gui_string(FIRST(c->attributes, "target", "data-target"));
    *ret_rel = gui_string(FIRST(c->attributes, "rel"));
}

static bool is_link(const struct component *c)
{
    return gui_word_in(c->tag, link_tags) || gui_word_in(c->type, link_types);
}

static const struct value *children_of(const struct component *c)
{
    const struct value *children = value_get(c->json, "components");

    return children && children->kind == VALUE_ARRAY && children->len ? children : NULL;
}

/* Only lists, boxes and links; *links is set when there is a link. */
static bool is_menu_part(const struct value *json, bool *links)
{
    struct component c = gui_component_of(json);
    const struct value *children = children_of(&c);
    size_t i;

    if (json->kind != VALUE_OBJECT)
        return false;
    if (is_link(&c)) {
        *links = true;
        return true;
    }
    if (!children)
        return gui_word_in(c.tag, list_tags);
    if (!gui_word_in(c.tag, item_tags) && gui_is_text(&c))
        return false;
    for (i = 0; i < children->len; i++)
        if (!is_menu_part(&children->items[i], links))
            return false;
    return true;
}

bool gui_is_menu(const struct component *c)
{
    const struct value *children = children_of(c);
    bool links = false;
    size_t i;

    for (i = 0; children && i < children->len; i++)
        if (!is_menu_part(&children->items[i], &links))
            return false;
    return links;
}

static int add_menu_item(struct gui_reader *r, struct gui_object *menu, const char *label, const struct component *link)
{
    struct gui_object *item = gui_reader_object(r, GUI_MENU_ITEM);
    const char *url = NULL, *target = NULL, *rel = NULL;

    if (!item)
        return -1;
    if (link)
        gui_link_target(link, &url, &target, &rel);
    if (gui_reader_text(r, item, "label", label) < 0 || gui_reader_text(r, item, "url", url) < 0 ||
        gui_reader_text(r, item, "target", target) < 0 || gui_reader_text(r, item, "rel", rel) < 0) {
        gui_object_free(item);
        return -1;
    }
    return gui_reader_part(r, menu, item);
}

static int add_links(struct gui_reader *r, const struct component *c, struct gui_object *menu)
{
    const struct value *children = children_of(c);
    size_t i;

    for (i = 0; children && i < children->len; i++) {
        struct component child = gui_component_of(&children->items[i]);
        auto_buf struct buf label;

        buf_init(&label, SIZE_MAX / 2);
        if (!is_link(&child)) {
            if (add_links(r, &child, menu) < 0)
                return -1;
        } else if (gui_link_label(r, &child, &label) < 0 ||
                   add_menu_item(r, menu, label.len ? label.data : "Menu Item", &child) < 0) {
            return -1;
        }
    }
    return 0;
}

int gui_read_menu_items(struct gui_reader *r, const struct component *c, struct gui_object *menu)
{
    if (add_links(r, c, menu) < 0)
        return -1;
    return menu->parts_len ? 0 : add_menu_item(r, menu, "Menu", NULL);
}
