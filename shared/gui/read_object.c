/* Objects made for a component: counted, named, with what the editor knows of them. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

#define ATTRIBUTE_DEPTH_MAX 40 /* of a value in custom_attributes */

struct component gui_component_of(const struct value *json)
{
    struct component c = { .json = json, .attributes = value_get(json, "attributes") };
    const char *type = gui_string(value_get(json, "type")), *tag = gui_string(value_get(json, "tagName"));

    if (c.attributes && c.attributes->kind != VALUE_OBJECT)
        c.attributes = NULL;
    c.type = type ? type : "";
    c.tag = tag ? tag : "";
    return c;
}

struct gui_object *gui_reader_object(struct gui_reader *r, enum gui_kind kind)
{
    struct gui_object *o;

    if (++r->objects > GUI_OBJECTS_MAX) {
        err_set(r->err, ERR_BAD_REQUEST, 0, "The design has more than %d parts.", GUI_OBJECTS_MAX);
        return NULL;
    }
    o = gui_object_new(kind);
    if (!o)
        err_nomem(r->err);
    return o;
}

int gui_reader_text(struct gui_reader *r, struct gui_object *o, const char *argument, const char *text)
{
    return gui_set_text(o, argument, text) < 0 ? err_nomem(r->err) : 0;
}

int gui_reader_part(struct gui_reader *r, struct gui_object *o, struct gui_object *steal_part)
{
    if (gui_add_part(o, steal_part) == 0)
        return 0;
    gui_object_free(steal_part);
    return err_nomem(r->err);
}

/* ---- names --------------------------------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* ASCII letters, digits and single inner _; a first digit gets n_. Empty when nothing is left. */
static void sanitise(const char *raw, struct buf *out)
{
    bool gap = false;

    buf_clear(out);
    for (; *raw; raw++) {
        if (!is_word(*raw)) {
            gap = true;
            continue;
        }
        if (!out->len && *raw <= '9')
            buf_add_str(out, "n_");
        else if (out->len && gap)
            buf_add_char(out, '_');
        gap = false;
        buf_add_char(out, *raw);
    }
}

/* 1 free and now taken, 0 taken already (*ret_place says where its next number is), -1 out of memory. */
static int take_name(struct gui_reader *r, const struct buf *name, size_t *ret_place)
{
    void *array = r->next;
    int added;

    if (buf_failed(name) || mem_grow(&array, r->next_len, &r->next_cap, sizeof(*r->next)) < 0)
        return -1;
    r->next = array;
    added = map_put(&r->names, name->data, name->len, r->next_len, ret_place);
    if (added == 1)
        r->next[r->next_len++] = 2;
    return added;
}

int gui_reader_name(struct gui_reader *r, const char *raw, const char *fallback, struct gui_object *o)
{
    auto_buf struct buf name, numbered;
    size_t place, other;
    int added;

    buf_init(&name, SIZE_MAX / 2);
    buf_init(&numbered, SIZE_MAX / 2);
    sanitise(raw ? raw : "", &name);
    if (!name.len && !buf_failed(&name))
        sanitise(fallback, &name);
    if (!name.len && !buf_failed(&name))
        buf_add_str(&name, "Element");
    added = take_name(r, &name, &place);
    if (added == 1)
        return gui_reader_text(r, o, "name", name.data);
    while (added == 0) { /* numbers tried once are never free again, so each is tried once */
        buf_clear(&numbered);
        buf_add_fmt(&numbered, "%s_%zu", name.data, r->next[place]++);
        added = take_name(r, &numbered, &other);
    }
    return added < 0 ? err_nomem(r->err) : gui_reader_text(r, o, "name", numbered.data);
}

int gui_reader_clean_name(struct gui_reader *r, const char *raw, const char *fallback, struct gui_object *o)
{
    auto_buf struct buf name;

    buf_init(&name, SIZE_MAX / 2);
    sanitise(raw ? raw : "", &name);
    if (buf_failed(&name))
        return err_nomem(r->err);
    return gui_reader_text(r, o, "name", name.len ? name.data : fallback);
}

int gui_reader_plain_name(struct gui_reader *r, const char *raw, const char *fallback, struct gui_object *o)
{
    auto_free char *name = mem_strdup(raw && !text_is_blank(raw) ? raw : fallback);
    char *c;

    for (c = name; c && *c; c++)
        if (*c == ' ' || *c == '-')
            *c = '_';
    return name ? gui_reader_text(r, o, "name", name) : err_nomem(r->err);
}

int gui_reader_component_name(struct gui_reader *r, const struct component *c, const char *fallback,
                              struct gui_object *o)
{
    static const char *const attributes[] = { "data-field-name", "id",    "name",        "data-name",
                                              "label",           "title", "chart-title", NULL };
    static const char *const members[] = { "name", "tagName", "type", NULL };
    const char *const *key;
    const char *raw = NULL;
    struct scalar tmp;

    for (key = attributes; *key && !raw; key++) {
        raw = gui_scalar(FIRST(c->attributes, *key), &tmp);
        if (raw && key == attributes && text_is_blank(raw))
            raw = NULL;
    }
    for (key = members; *key && !raw; key++)
        raw = gui_string(FIRST(c->json, *key));
    if (!raw)
        raw = gui_scalar(FIRST(value_get(c->json, "custom"), "displayName"), &tmp);
    return gui_reader_name(r, raw, fallback, o);
}

/* ---- metadata -----------------------------------------------------------------------------------------------------
 */

static int set_copy(char **slot, const char *text)
{
    *slot = mem_strdup(text);
    return text && !*slot ? -1 : 0;
}

/* Tag of a component that has none, by its type alone. */
static const char *tag_of_type(const char *type)
{
    static const struct {
        const char *types[6], *tag;
    } rows[] = {
        { { "button", "tab", NULL }, "button" },
        { { "link", "link-button", NULL }, "a" },
        { { "checkbox", NULL }, "input" },
        { { "map", NULL }, "iframe" },
        { { "tabs", "tab-container", "tab-contents", "tab-content", NULL }, "div" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (gui_word_in(type, rows[i].types))
            return rows[i].tag;
    return NULL;
}

static bool writable(const struct value *v, int depth)
{
    size_t i;

    if (v->kind == VALUE_DOUBLE)
        return v->number - v->number == 0; /* finite */
    if (depth > ATTRIBUTE_DEPTH_MAX)
        return false;
    for (i = 0; i < v->len; i++)
        if (!writable(&v->items[i], depth + 1))
            return false;
    return true;
}

static int add_attribute(struct value *to, const char *key, const struct value *v)
{
    to->keys[to->len] = mem_strdup(key);
    if (!to->keys[to->len])
        return -1;
    to->len++; /* the value is null until it is copied */
    return value_copy(v, &to->items[to->len - 1]);
}

/* All attributes but class. An address kept beside the attributes joins them, so that it survives a round trip. */
static int copy_attributes(const struct component *c, const char *tag, struct value *ret)
{
    const struct value *from = c->attributes, *src = value_get(c->json, "src");
    size_t len = from ? from->len : 0, i;

    if (!gui_string(src) || value_get(from, "src") || !tag || (strcmp(tag, "img") != 0 && strcmp(tag, "iframe") != 0))
        src = NULL;
    if (!len && !src)
        return 0;
    ret->kind = VALUE_OBJECT;
    ret->keys = mem_zalloc(len + 1, sizeof(*ret->keys));
    ret->items = mem_zalloc(len + 1, sizeof(*ret->items));
    if (!ret->keys || !ret->items)
        return -1;
    for (i = 0; i < len; i++)
        if (strcmp(from->keys[i], "class") != 0 && writable(&from->items[i], 0) &&
            add_attribute(ret, from->keys[i], &from->items[i]) < 0)
            return -1;
    return src ? add_attribute(ret, "src", src) : 0;
}

static int split_classes(const char *text, struct str_list *ret)
{
    static const char blanks[] = " \t\n\r\f\v";

    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t len = strcspn(text, blanks);
        auto_free char *name = mem_dup(text, len);

        if (!name || str_list_add(ret, name) < 0)
            return -1;
        text += len;
    }
    return 0;
}

static int copy_classes(const struct component *c, struct str_list *ret)
{
    const struct value *classes = value_get(c->json, "classes");
    const char *attribute = gui_string(value_get(c->attributes, "class"));
    size_t i;

    if (!classes || classes->kind != VALUE_ARRAY)
        return attribute ? split_classes(attribute, ret) : 0;
    for (i = 0; i < classes->len; i++) {
        const struct value *one = &classes->items[i];
        const char *name = one->kind == VALUE_OBJECT ? gui_string(value_get(one, "name")) : gui_string(one);

        if (name && *name && str_list_add(ret, name) < 0)
            return -1;
    }
    return 0;
}

static int set_metadata(struct gui_object *o, const struct component *c, const char *tag)
{
    const char *own = *c->tag ? c->tag : tag_of_type(c->type);

    if (set_copy(&o->component_id, TEXT(gui_attribute_or_member(c, "id", "id"))) < 0 ||
        set_copy(&o->tag_name, own ? own : tag) < 0 || copy_classes(c, &o->css_classes) < 0)
        return -1;
    return copy_attributes(c, own, &o->attributes);
}

struct gui_object *gui_reader_element(struct gui_reader *r, const struct component *c, enum gui_kind kind,
                                      const char *fallback, const char *tag)
{
    struct gui_object *o = gui_reader_object(r, kind);

    if (!o)
        return NULL;
    if (gui_reader_component_name(r, c, fallback, o) == 0 && gui_reader_style(r, c, &o->styling) == 0) {
        if (set_metadata(o, c, tag) == 0)
            return o;
        err_nomem(r->err);
    }
    gui_object_free(o);
    return NULL;
}
