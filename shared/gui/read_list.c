/* Lists of data: what they show of a class. Nothing resolves it in an agent; it is kept for the editor. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

/* A field may be written as in a class: visibility in front, type behind. The caller frees; NULL out of memory. */
static char *field_name(const char *text, size_t len)
{
    auto_free char *copy = mem_dup(text, len), *trimmed = copy ? text_trim(copy) : NULL;
    char *name = trimmed, *type;

    if (!name)
        return NULL;
    if (*name && strchr("+-#", *name))
        name++;
    type = strchr(name, ':');
    if (type)
        *type = '\0';
    return text_trim(name);
}

static int set_field(struct gui_reader *r, struct gui_object *source, const char *argument, const struct value *v)
{
    const char *text = gui_string(v);
    auto_free char *name = text ? field_name(text, strlen(text)) : NULL;

    if (!text)
        return 0;
    return name ? gui_reader_text(r, source, argument, *name ? name : NULL) : err_nomem(r->err);
}

static int add_field(struct gui_reader *r, struct gui_object *source, const char *text, size_t len)
{
    auto_free char *name = field_name(text, len);

    if (!name || (*name && gui_add_text(source, "field_names", name) < 0))
        return err_nomem(r->err);
    return 0;
}

static int add_fields(struct gui_reader *r, struct gui_object *source, const struct value *v)
{
    const char *text = gui_string(v);
    size_t i, len;

    for (; text && *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        if (add_field(r, source, text, len) < 0)
            return -1;
    }
    for (i = 0; v && v->kind == VALUE_ARRAY && i < v->len; i++) {
        const char *item = TEXT(&v->items[i]);

        if (item && add_field(r, source, item, strlen(item)) < 0)
            return -1;
    }
    return 0;
}

static int add_source(struct gui_reader *r, const struct component *c, const char *name, struct gui_object *list)
{
    struct gui_object *source = gui_reader_object(r, GUI_SOURCE);

    if (!source)
        return -1;
    if (gui_reader_plain_name(r, name, "Source", source) < 0 ||
        add_fields(r, source, FIRST(c->attributes, "fields", "data-fields")) < 0 ||
        set_field(r, source, "label_field_name", FIRST(c->attributes, "label-field", "data-label-field")) < 0 ||
        set_field(r, source, "value_field_name", FIRST(c->attributes, "data-field", "value-field")) < 0) {
        gui_object_free(source);
        return -1;
    }
    return gui_reader_part(r, list, source);
}

int gui_read_data_list(struct gui_reader *r, const struct component *c, struct gui_object **ret)
{
    const char *name = gui_string(FIRST(c->attributes, "data-source", "data-bind"));
    struct gui_object *list = gui_reader_element(r, c, GUI_DATA_LIST, "DataList", "ul");

    if (!list)
        return -1;
    if (gui_reader_text(r, list, "description", "Data list component") < 0 ||
        (name && add_source(r, c, name, list) < 0)) {
        gui_object_free(list);
        return -1;
    }
    *ret = list;
    return 0;
}
