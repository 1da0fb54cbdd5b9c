#include "shared/gui/write_json.h"

#include <math.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/read.h"
#include "shared/gui/reader.h"

struct value gui_json_object(void)
{
    return (struct value){ .kind = VALUE_OBJECT };
}

struct value gui_json_array(void)
{
    return (struct value){ .kind = VALUE_ARRAY };
}

struct value gui_json_text(struct gui_json_writer *w, const char *text)
{
    struct value v = { .kind = VALUE_STRING, .string = mem_strdup(text) };

    w->failed |= !v.string;
    return v.string ? v : (struct value){ .kind = VALUE_NULL };
}

/* Room for one more; capacities are powers of two. */
static bool grow(struct gui_json_writer *w, struct value *v)
{
    size_t want = v->len ? 2 * v->len : 1;
    void *items, *keys;

    if (v->len & (v->len - 1))
        return true;
    items = mem_resize(v->items, want, sizeof(*v->items));
    if (items)
        v->items = items;
    keys = v->kind == VALUE_OBJECT && items ? mem_resize(v->keys, want, sizeof(*v->keys)) : NULL;
    if (keys)
        v->keys = keys;
    if (items && (keys || v->kind != VALUE_OBJECT))
        return true;
    w->failed = true;
    return false;
}

void gui_json_put(struct gui_json_writer *w, struct value *object, const char *key, struct value v)
{
    size_t i;
    char *copy;

    for (i = 0; i < object->len; i++)
        if (strcmp(object->keys[i], key) == 0) {
            value_release(&object->items[i]);
            object->items[i] = v;
            return;
        }
    copy = mem_strdup(key);
    if (!copy || !grow(w, object)) {
        w->failed = true;
        mem_free(copy);
        value_release(&v);
        return;
    }
    object->keys[object->len] = copy;
    object->items[object->len++] = v;
}

void gui_json_add(struct gui_json_writer *w, struct value *array, struct value v)
{
    if (grow(w, array))
        array->items[array->len++] = v;
    else
        value_release(&v);
}

void gui_json_put_text(struct gui_json_writer *w, struct value *object, const char *key, const char *text)
{
    if (text)
        gui_json_put(w, object, key, gui_json_text(w, text));
}

void gui_json_put_number(struct gui_json_writer *w, struct value *object, const char *key, double v)
{
    bool whole = v > -9e15 && v < 9e15 && (double)(int64_t)v == v && !(v == 0 && signbit(v));

    gui_json_put(w, object, key,
                 whole ? (struct value){ .kind = VALUE_INT, .integer = (int64_t)v }
                       : (struct value){ .kind = VALUE_DOUBLE, .number = v });
}

void gui_json_put_bool(struct gui_json_writer *w, struct value *object, const char *key, bool v)
{
    gui_json_put(w, object, key, (struct value){ .kind = VALUE_BOOL, .boolean = v });
}

bool gui_json_has(const struct value *attributes, const char *const *keys)
{
    return gui_first(attributes, keys) != NULL;
}

static struct value textnode(struct gui_json_writer *w, const char *text)
{
    struct value node = gui_json_object();

    gui_json_put_text(w, &node, "type", "textnode");
    gui_json_put_text(w, &node, "content", text);
    return node;
}

void gui_json_put_words(struct gui_json_writer *w, struct value *c, const char *text)
{
    struct value list = gui_json_array();

    if (!text || !*text)
        return;
    gui_json_add(w, &list, textnode(w, text));
    gui_json_put(w, c, "components", list);
}

/* The text under key, unless it is empty. */
void gui_json_put_said(struct gui_json_writer *w, struct value *to, const char *key, const char *text)
{
    if (text && *text)
        gui_json_put_text(w, to, key, text);
}
