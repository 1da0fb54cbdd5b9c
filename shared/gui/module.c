#include "shared/gui/module.h"

#include <stdint.h>

#include "shared/base/mem.h"
#include "shared/diagram/text.h"
#include "shared/gui/emit.h"
#include "shared/gui/read.h"
#include "shared/python/emit.h"

static int add_statements(const struct gui *g, unsigned indent, struct buf *out, struct err *err)
{
    struct gui_object *model = NULL;
    int rc = gui_read(&g->design, &model, err);

    if (rc == 0)
        rc = gui_emit(model, indent, out, err);
    gui_object_free(model);
    return rc < 0 && err && err->kind == ERR_BAD_REQUEST ? err_wrap(err, "GUI \"%s\"", SHOWN(g->gui_id)) : rc;
}

static void add_settings(const struct gui *g, const char *width, struct buf *out)
{
    if (g->width && *g->width)
        width = g->width;
    buf_add_str(out, "gui = AgentGUI(model=gui_model, gui_id=");
    py_str(out, g->gui_id);
    buf_add_str(out, ", persist=");
    py_bool(out, g->persist);
    if (width && *width) {
        buf_add_str(out, ", width=");
        py_str(out, width);
    }
    buf_add_str(out, ")\n");
}

int gui_module_text(const struct gui *g, const char *width, char **ret, struct err *err)
{
    auto_buf struct buf text;
    char *made;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&text, "#############\n"
                       "# GUI MODEL #\n"
                       "#############\n"
                       "\n"
                       "from baf.core.gui.agent_gui import AgentGUI\n");
    if (add_statements(g, 0, &text, err) < 0)
        return -1;
    buf_add_char(&text, '\n');
    add_settings(g, width, &text);
    made = buf_steal(&text, NULL);
    if (!made)
        return err_nomem(err);
    *ret = made;
    return 0;
}

int gui_builder_text(const struct gui *g, const char *function, struct buf *out, struct err *err)
{
    buf_add_fmt(out, "def %s():\n", function);
    if (add_statements(g, 4, out, err) < 0)
        return -1;
    return buf_add_str(out, "    return gui_model\n") < 0 ? err_nomem(err) : 0;
}
