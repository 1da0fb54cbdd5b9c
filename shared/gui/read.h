/* shared/gui/read.h -- the design of a GUI, as the web editor (GrapesJS) saves it -> the metamodel's tree (gui.h).
 * The design is hostile: parts of the wrong shape are passed over or take their default, and what would cost more than
 * its size is refused. Rules: sections 7.2 and 7.3 of the B-UML contract. */
#ifndef GUI_READ_H
#define GUI_READ_H

#include "shared/base/err.h"
#include "shared/gui/gui.h"
#include "shared/json/value.h"

#define GUI_DEPTH_MAX 100      /* components inside components */
#define GUI_OBJECTS_MAX 20000  /* components, and objects made of them */
#define GUI_STYLE_MAX 16777216 /* bytes of rules, counted for each element they style */

/* A tree with root GUI_MODEL; the caller frees *ret. design NULL or no object: a GUI without screens.
 * -1: ERR_BAD_REQUEST naming the limit, or out of memory. */
int gui_read(const struct value *design, struct gui_object **ret, struct err *err);

#endif
