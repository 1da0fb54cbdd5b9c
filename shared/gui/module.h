/* shared/gui/module.h -- Python text of one GUI of the diagram: its own module, or a function of a B-UML file. */
#ifndef GUI_MODULE_H
#define GUI_MODULE_H

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/diagram/model.h"

/* Text of guis/<module>.py, which defines `gui`; the caller frees *ret. width: of a GUI that has none itself, NULL for
 * none. -1: ERR_BAD_REQUEST naming the GUI and the limit its design breaks, or out of memory. */
int gui_module_text(const struct gui *g, const char *width, char **ret, struct err *err);

/* Appends `def <function>():` with the same statements and `return gui_model`; function is an identifier. */
int gui_builder_text(const struct gui *g, const char *function, struct buf *out, struct err *err);

#endif
