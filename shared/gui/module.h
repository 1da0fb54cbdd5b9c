/* shared/gui/module.h -- the Python module of one GUI, guis/<module>.py. */
#ifndef GUI_MODULE_H
#define GUI_MODULE_H

#include "shared/base/err.h"
#include "shared/diagram/model.h"

/* Text of the module that defines `gui`; the caller frees *ret. The design is not read yet: every GUI has one module and no
 * screen, as one without design has. */
int gui_module_text(const struct gui *g, char **ret, struct err *err);

#endif
