#include "shared/gui/module.h"

#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/python/emit.h"

int gui_module_text(const struct gui *g, char **ret, struct err *err)
{
    auto_buf struct buf text;
    char *made;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_str(&text, "from baf.core.gui.agent_gui import AgentGUI\n"
                       "from besser.BUML.metamodel.gui.graphical_ui import GUIModel, Module\n"
                       "\n"
                       "gui_model = GUIModel(\n"
                       "    name='GUI',\n"
                       "    package='',\n"
                       "    versionCode='1.0',\n"
                       "    versionName='1.0',\n"
                       "    modules={Module(name='GUI_Module', screens=set())},\n"
                       "    description='GUI',\n"
                       ")\n"
                       "gui = AgentGUI(model=gui_model, gui_id=");
    py_str(&text, g->gui_id);
    buf_add_str(&text, ", persist=");
    py_bool(&text, g->persist);
    if (g->width && *g->width) {
        buf_add_str(&text, ", width=");
        py_str(&text, g->width);
    }
    buf_add_str(&text, ")\n");
    made = buf_steal(&text, NULL);
    if (!made)
        return err_nomem(err);
    *ret = made;
    return 0;
}
