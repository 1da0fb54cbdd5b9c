/* shared/gui/write.h -- a GUI of the metamodel -> GrapesJS project JSON (section 7.4 of the B-UML contract). Pure. */
#ifndef GUI_WRITE_H
#define GUI_WRITE_H

#include "shared/base/err.h"
#include "shared/gui/gui.h"
#include "shared/json/value.h"

/* model: of kind GUI_MODEL. 0 and *ret (value_release; VALUE_NULL for a GUI without screens), or -1. */
int gui_write(const struct gui_object *model, struct value *ret, struct err *err);

#endif
