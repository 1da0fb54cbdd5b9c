/* The design as a whole: its size, its rules, its pages; components are read_component.c's. */
#include "shared/gui/read.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"

static void reader_release(struct gui_reader *r)
{
    map_release(&r->names);
    map_release(&r->rules);
    map_release(&r->pages);
    mem_free(r->next);
    mem_free(r->rule_styles);
    mem_free(r->navigations);
}

/* ---- size ---------------------------------------------------------------------------------------------------------
 */

/* Nothing else looks at how deep components lie: whoever walks them later may recurse. */
static int measure(const struct value *components, int depth, size_t *count, struct err *err)
{
    size_t i;

    if (!components || components->kind != VALUE_ARRAY)
        return 0;
    if (depth > GUI_DEPTH_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "The design is nested deeper than %d components.", GUI_DEPTH_MAX);
    for (i = 0; i < components->len; i++) {
        if (++*count > GUI_OBJECTS_MAX)
            return err_set(err, ERR_BAD_REQUEST, 0, "The design has more than %d components.", GUI_OBJECTS_MAX);
        if (measure(value_get(&components->items[i], "components"), depth + 1, count, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- pages --------------------------------------------------------------------------------------------------------
 */

/* Where a page or frame stands, for those that have no name. */
struct frame {
    const struct value *page, *wrapper;
    const char *page_name; /* NULL: it has none */
    char *fallback;        /* owned */
};

static int name_frame(struct gui_reader *r, struct frame *f, size_t page, size_t frame, size_t frames)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (f->page_name)
        buf_add_str(&text, f->page_name);
    else
        buf_add_fmt(&text, "Page_%zu", page + 1);
    if (frames > 1)
        buf_add_fmt(&text, "_%zu", frame + 1);
    f->fallback = buf_steal(&text, NULL);
    return f->fallback ? 0 : err_nomem(r->err);
}

/* "/" and the page's name in lower case with - for blanks. */
static int set_route(struct gui_reader *r, const char *name, struct gui_object *screen)
{
    auto_free char *lower = text_lower(name);
    auto_buf struct buf route;
    char *c;

    buf_init(&route, SIZE_MAX / 2);
    for (c = lower; c && *c; c++)
        if (*c == ' ')
            *c = '-';
    buf_add_char(&route, '/');
    return !lower || buf_add_str(&route, lower) < 0 ? err_nomem(r->err)
                                                    : gui_reader_text(r, screen, "route_path", route.data);
}

static int set_size(struct gui_reader *r, const struct value *attributes, struct gui_object *screen)
{
    static const char *const sizes[] = { "Small", "Medium", "Large", "xLarge" }; /* the metamodel knows no other */
    const char *given = gui_string(FIRST(attributes, "screen-size", "viewport-size")), *size = "Medium";
    size_t i;

    for (i = 0; given && i < ARRAY_LEN(sizes); i++)
        if (strcmp(sizes[i], given) == 0)
            size = sizes[i];
    if (gui_reader_text(r, screen, "screen_size", size) < 0 ||
        gui_reader_text(r, screen, "x_dpi", TEXT(FIRST(attributes, "x-dpi", "dpi"))) < 0)
        return -1;
    return gui_reader_text(r, screen, "y_dpi", TEXT(FIRST(attributes, "y-dpi", "dpi")));
}

static int name_screen(struct gui_reader *r, const struct frame *f, size_t number, struct gui_object *screen)
{
    struct component wrapper = gui_component_of(f->wrapper);
    char fallback[32];

    snprintf(fallback, sizeof(fallback), "Page_%zu", number + 1); /* for names without a letter of ours */
    if (!f->wrapper || f->wrapper->kind != VALUE_OBJECT || !f->wrapper->len)
        return gui_reader_name(r, f->fallback, fallback, screen);
    return gui_reader_component_name(r, &wrapper, f->fallback, screen);
}

/* Buttons name a page by its id, with page: in front or not. */
static int index_page(struct gui_reader *r, const char *id, size_t screen)
{
    auto_buf struct buf key;

    buf_init(&key, SIZE_MAX / 2);
    buf_add_str(&key, "page:");
    if (buf_add_str(&key, id) < 0 || map_put(&r->pages, id, strlen(id), screen, NULL) < 0 ||
        map_put(&r->pages, key.data, key.len, screen, NULL) < 0)
        return err_nomem(r->err);
    return 0;
}

static int fill_screen(struct gui_reader *r, const struct frame *f, struct gui_object *module,
                       struct gui_object *screen)
{
    struct component wrapper = gui_component_of(f->wrapper);
    const char *id = TEXT(FIRST(f->page, "id"));

    if (name_screen(r, f, module->parts_len, screen) < 0 ||
        gui_reader_text(r, screen, "description", f->page_name ? f->page_name : f->fallback) < 0 ||
        set_route(r, f->page_name ? f->page_name : f->fallback, screen) < 0 ||
        set_size(r, value_get(f->page, "attributes"), screen) < 0 ||
        gui_reader_style(r, &wrapper, &screen->styling) < 0)
        return -1;
    if (!module->parts_len)
        gui_set_bool(screen, "is_main_page", true);
    if (id) {
        screen->component_id = mem_strdup(id);
        if (!screen->component_id)
            return err_nomem(r->err);
    }
    return gui_read_components(r, value_get(f->wrapper, "components"), screen);
}

static int read_frame(struct gui_reader *r, const struct frame *f, struct gui_object *module)
{
    struct gui_object *screen = gui_reader_object(r, GUI_SCREEN);

    if (!screen)
        return -1;
    if (fill_screen(r, f, module, screen) < 0) {
        gui_object_free(screen);
        return -1;
    }
    return gui_reader_part(r, module, screen);
}

static int read_page(struct gui_reader *r, const struct value *page, size_t number, struct gui_object *module)
{
    const struct value *frames = value_get(page, "frames");
    const char *id = TEXT(FIRST(page, "id"));
    size_t i, len = frames && frames->kind == VALUE_ARRAY ? frames->len : 0;

    for (i = 0; i < len; i++) {
        struct frame f = { .page = page, .page_name = gui_string(FIRST(page, "name")) };
        int rc;

        f.wrapper = value_get(&frames->items[i], "component");
        rc = name_frame(r, &f, number, i, len);
        if (rc == 0)
            rc = read_frame(r, &f, module);
        mem_free(f.fallback);
        if (rc < 0)
            return -1;
    }
    return id && len ? index_page(r, id, module->parts_len - 1) : 0; /* of several frames the last counts */
}

/* ---- navigation ---------------------------------------------------------------------------------------------------
 */

static int index_screens(const struct gui_object *module, struct map *ret)
{
    size_t i;

    for (i = 0; i < module->parts_len; i++) {
        const char *name = gui_text(module->parts[i], "name");

        if (map_put(ret, name, strlen(name), i, NULL) < 0)
            return -1;
    }
    return 0;
}

static int resolve_targets(struct gui_reader *r, const struct gui_object *module)
{
    struct map names;
    size_t i;
    int rc;

    map_init(&names);
    rc = index_screens(module, &names);
    for (i = 0; rc == 0 && i < r->navigations_len; i++) {
        const struct gui_navigation *n = &r->navigations[i];
        size_t screen = map_get(&r->pages, n->target, strlen(n->target));

        if (screen == MAP_NONE)
            screen = map_get(&names, n->target, strlen(n->target));
        if (screen == MAP_NONE)
            continue;
        gui_set_screen(n->button, "targetScreen", screen);
        gui_set_screen(n->button->event->parts[0], "target_screen", screen);
    }
    map_release(&names);
    return rc < 0 ? err_nomem(r->err) : 0;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static int read_pages(struct gui_reader *r, const struct value *pages, struct gui_object *module)
{
    size_t count = 0, i, j, len = pages && pages->kind == VALUE_ARRAY ? pages->len : 0;

    for (i = 0; i < len; i++) {
        const struct value *frames = value_get(&pages->items[i], "frames");

        for (j = 0; frames && frames->kind == VALUE_ARRAY && j < frames->len; j++)
            if (measure(value_get(value_get(&frames->items[j], "component"), "components"), 1, &count, r->err) < 0)
                return -1;
    }
    for (i = 0; i < len; i++)
        if (read_page(r, &pages->items[i], i, module) < 0)
            return -1;
    return resolve_targets(r, module);
}

static int fill_model(struct gui_reader *r, const struct value *design, struct gui_object *model)
{
    const struct value *given = value_get(design, "title");
    const char *title = given ? TEXT(given) : "GUI";
    auto_buf struct buf sheet, module_name;

    buf_init(&sheet, SIZE_MAX / 2);
    buf_init(&module_name, SIZE_MAX / 2);
    if (gui_reader_clean_name(r, title, "GUI", model) < 0 ||
        gui_reader_text(r, model, "description", title && *title ? title : "Generated GUI") < 0 ||
        gui_reader_text(r, model, "versionCode", "1.0") < 0 || gui_reader_text(r, model, "versionName", "1.0") < 0 ||
        gui_stylesheet(r, value_get(design, "styles"), &sheet) < 0 ||
        gui_reader_text(r, model, "stylesheet", sheet.len ? sheet.data : NULL) < 0 ||
        gui_reader_collect_rules(r, value_get(design, "styles")) < 0 ||
        read_pages(r, value_get(design, "pages"), model->parts[0]) < 0)
        return -1;
    buf_add_str(&module_name, gui_text(model, "name"));
    if (buf_add_str(&module_name, "_Module") < 0)
        return err_nomem(r->err);
    return gui_reader_name(r, module_name.data, "Module", model->parts[0]);
}

int gui_read(const struct value *design, struct gui_object **ret, struct err *err)
{
    struct gui_reader r = { .err = err };
    struct gui_object *model, *module;
    int rc = -1;

    map_init(&r.names);
    map_init(&r.rules);
    map_init(&r.pages);
    model = gui_reader_object(&r, GUI_MODEL);
    module = model ? gui_reader_object(&r, GUI_MODULE) : NULL;
    if (module && gui_reader_part(&r, model, module) == 0)
        rc = fill_model(&r, design, model);
    reader_release(&r);
    if (rc < 0)
        gui_object_free(model);
    else
        *ret = model;
    return rc;
}
