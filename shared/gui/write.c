/* The project: title, pages, styles. */
#include "shared/gui/write.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/write_json.h"

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* As it was typed, which the description says; nothing where the name is only the default. */
static void put_title(struct gui_json_writer *w, struct value *design)
{
    const char *name = gui_text(w->model, "name"), *description = gui_text(w->model, "description");

    if (is(name, "GUI") && is(description, "GUI"))
        return;
    if (is(name, "GUI") && is(description, "Generated GUI"))
        gui_json_put_text(w, design, "title", "");
    else
        gui_json_put_text(w, design, "title", description ? description : name);
}

static struct value frame_of(struct gui_json_writer *w, const struct gui_object *screen)
{
    struct value wrapper = gui_json_object(), frame = gui_json_object();

    gui_json_put_text(w, &wrapper, "type", "wrapper");
    gui_json_put_text(w, &wrapper, "name", gui_text(screen, "name"));
    if (screen->styling)
        gui_json_put(w, &wrapper, "style", gui_json_style(w, screen->styling));
    gui_json_put(w, &wrapper, "components", gui_json_components(w, screen));
    gui_json_put(w, &frame, "component", wrapper);
    return frame;
}

static struct value page_of(struct gui_json_writer *w, const struct gui_object *screen, const char *id,
                            struct value frames)
{
    struct value page = gui_json_object(), attributes = gui_json_object();

    gui_json_put_text(w, &page, "id", id);
    gui_json_put_text(w, &page, "name", gui_text(screen, "description"));
    gui_json_put_text(w, &attributes, "screen-size", gui_text(screen, "screen_size"));
    gui_json_put_text(w, &attributes, "x-dpi", gui_text(screen, "x_dpi"));
    gui_json_put_text(w, &attributes, "y-dpi", gui_text(screen, "y_dpi"));
    gui_json_put(w, &page, "attributes", attributes);
    gui_json_put(w, &page, "frames", frames);
    return page;
}

static const char *id_of(const struct gui_object *screen)
{
    return screen->page_id ? screen->page_id : screen->component_id;
}

/* The first screen of a project is its main page, but a text may have it anywhere: screens stand there by name. */
static const struct gui_object *main_screen(const struct gui_object *model)
{
    size_t i, k;

    for (i = 0; i < model->parts_len; i++)
        for (k = 0; k < model->parts[i]->parts_len; k++) {
            const struct gui_slot *slot = gui_slot(model->parts[i]->parts[k], "is_main_page");

            if (slot && slot->flag)
                return model->parts[i]->parts[k];
        }
    return NULL;
}

/* Screens of one id are the frames of one page: the index behind those that begin at i. *ret_main: is it one of them?
 */
static size_t page_end(const struct gui_object *module, size_t i, const struct gui_object *main, bool *ret_main)
{
    const char *id = id_of(module->parts[i]);
    size_t k = i;

    *ret_main = false;
    do
        *ret_main |= module->parts[k++] == main;
    while (k < module->parts_len && id && id_of(module->parts[k]) && strcmp(id, id_of(module->parts[k])) == 0);
    return k;
}

/* The pages of a module: only the one of the main screen, or all others. */
static void add_pages(struct gui_json_writer *w, const struct gui_object *module, const struct gui_object *main,
                      bool main_page, struct value *pages)
{
    size_t i, k, n;
    bool has_main;

    for (i = 0; i < module->parts_len; i = k) {
        struct value frames = gui_json_array();

        k = page_end(module, i, main, &has_main);
        if (has_main != main_page)
            continue;
        if (has_main)
            gui_json_add(w, &frames, frame_of(w, main));
        for (n = i; n < k; n++)
            if (module->parts[n] != main)
                gui_json_add(w, &frames, frame_of(w, module->parts[n]));
        gui_json_add(w, pages, page_of(w, has_main ? main : module->parts[i], id_of(module->parts[i]), frames));
    }
}

static struct value write_design(struct gui_json_writer *w)
{
    struct value design = gui_json_object(), pages = gui_json_array(), styles = gui_json_array();
    const struct gui_object *main = main_screen(w->model);
    const char *sheet = gui_text(w->model, "stylesheet");
    size_t i;

    put_title(w, &design);
    for (i = 0; i < w->model->parts_len; i++)
        add_pages(w, w->model->parts[i], main, true, &pages);
    for (i = 0; i < w->model->parts_len; i++)
        add_pages(w, w->model->parts[i], main, false, &pages);
    if (sheet)
        gui_json_rules(w, sheet, &styles);
    gui_json_put(w, &design, "pages", pages);
    gui_json_put(w, &design, "styles", styles);
    gui_json_put(w, &design, "assets", gui_json_array());
    gui_json_put(w, &design, "symbols", gui_json_array());
    gui_json_put_text(w, &design, "version", "0.21.13");
    return design;
}

static bool has_screens(const struct gui_object *model)
{
    size_t i, n = 0;

    for (i = 0; i < model->parts_len; i++)
        n += model->parts[i]->parts_len;
    return n > 0 || gui_text(model, "stylesheet");
}

int gui_write(const struct gui_object *model, struct value *ret, struct err *err)
{
    struct gui_json_writer w = { .model = model };
    struct value design = { .kind = VALUE_NULL };
    size_t i;

    if (has_screens(model) || !is(gui_text(model, "name"), "GUI") || !is(gui_text(model, "description"), "GUI"))
        design = write_design(&w);
    for (i = 0; i < GUI__KINDS; i++)
        gui_object_free(w.defaults[i]);
    if (w.failed) {
        value_release(&design);
        return err_nomem(err);
    }
    *ret = design;
    return 0;
}
