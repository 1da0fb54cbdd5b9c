#include "shared/gui/gui.h"

#include <assert.h>
#include <string.h>

#include "shared/base/mem.h"

struct gui_object *gui_object_new(enum gui_kind kind)
{
    struct gui_object *o = mem_zalloc(1, sizeof(*o));

    if (!o)
        return NULL;
    o->kind = kind;
    o->slots = mem_zalloc(gui_class(kind)->arguments_len, sizeof(*o->slots));
    if (!o->slots) {
        mem_free(o);
        return NULL;
    }
    return o;
}

static void release_slots(struct gui_object *o)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    for (i = 0; o->slots && i < c->arguments_len; i++)
        if (o->slots[i].set && c->arguments[i].type == GUI_TEXT)
            mem_free(o->slots[i].text);
        else if (o->slots[i].set && c->arguments[i].type == GUI_TEXTS)
            str_list_release(&o->slots[i].texts);
    mem_free(o->slots);
}

void gui_object_free(struct gui_object *o)
{
    size_t i;

    if (!o)
        return;
    for (i = 0; i < o->parts_len; i++)
        gui_object_free(o->parts[i]);
    mem_free(o->parts);
    release_slots(o);
    gui_styling_free(o->styling);
    gui_object_free(o->event);
    mem_free(o->component_id);
    mem_free(o->tag_name);
    mem_free(o->page_id);
    str_list_release(&o->css_classes);
    value_release(&o->attributes);
    mem_free(o);
}

int gui_add_part(struct gui_object *o, struct gui_object *part)
{
    void *array = o->parts;

    if (mem_grow(&array, o->parts_len, &o->parts_cap, sizeof(struct gui_object *)) < 0)
        return -1;
    o->parts = array;
    o->parts[o->parts_len++] = part;
    return 0;
}

const struct gui_slot *gui_slot(const struct gui_object *o, const char *argument)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    for (i = 0; i < c->arguments_len; i++)
        if (strcmp(c->arguments[i].name, argument) == 0)
            return o->slots[i].set ? &o->slots[i] : NULL;
    return NULL;
}

static struct gui_slot *slot_for(struct gui_object *o, const char *argument, enum gui_type type)
{
    const struct gui_class *c = gui_class(o->kind);
    size_t i;

    for (i = 0; i < c->arguments_len; i++)
        if (strcmp(c->arguments[i].name, argument) == 0) {
            assert(c->arguments[i].type == type);
            return &o->slots[i];
        }
    assert(false && "a class has no such argument");
    return NULL;
}

int gui_set_text(struct gui_object *o, const char *argument, const char *text)
{
    struct gui_slot *slot = slot_for(o, argument, GUI_TEXT);
    char *copy = mem_strdup(text);

    if (text && !copy)
        return -1;
    mem_free(slot->text);
    slot->text = copy;
    slot->set = copy;
    return 0;
}

int gui_add_text(struct gui_object *o, const char *argument, const char *text)
{
    struct gui_slot *slot = slot_for(o, argument, GUI_TEXTS);

    slot->set = true;
    return str_list_add(&slot->texts, text);
}

void gui_set_int(struct gui_object *o, const char *argument, int64_t v)
{
    *slot_for(o, argument, GUI_INT) = (struct gui_slot){ .set = true, .integer = v };
}

void gui_set_float(struct gui_object *o, const char *argument, double v)
{
    *slot_for(o, argument, GUI_FLOAT) = (struct gui_slot){ .set = true, .number = v };
}

void gui_set_bool(struct gui_object *o, const char *argument, bool v)
{
    *slot_for(o, argument, GUI_BOOL) = (struct gui_slot){ .set = true, .flag = v };
}

void gui_set_member(struct gui_object *o, const char *argument, const char *member)
{
    *slot_for(o, argument, GUI_MEMBER) = (struct gui_slot){ .set = true, .member = member };
}

void gui_set_screen(struct gui_object *o, const char *argument, size_t screen)
{
    *slot_for(o, argument, GUI_TARGET) = (struct gui_slot){ .set = screen != GUI_NO_SCREEN, .screen = screen };
}

const char *gui_text(const struct gui_object *o, const char *argument)
{
    const struct gui_slot *slot = gui_slot(o, argument);

    return slot ? slot->text : NULL;
}

bool gui_flag(const struct gui_object *o, const char *argument)
{
    const struct gui_slot *s = gui_slot(o, argument);

    return s && s->set && s->flag;
}

const char *gui_member(const struct gui_object *o, const char *argument)
{
    const struct gui_slot *s = gui_slot(o, argument);

    return s && s->set ? s->member : NULL;
}

int gui_by_order(const void *a, const void *b)
{
    const struct gui_object *one = *(struct gui_object *const *)a, *two = *(struct gui_object *const *)b;
    const char *name = gui_text(one, "name"), *other = gui_text(two, "name");

    if (one->ordered != two->ordered)
        return one->ordered ? -1 : 1;
    if (one->ordered && one->order != two->order)
        return one->order < two->order ? -1 : 1;
    return strcmp(name ? name : "", other ? other : "");
}
