/* shared/gui/emit.h -- a GUI of the metamodel -> the Python statements that build it (section 7.1 of the B-UML
 * contract), for guis/<module>.py and for the builder functions of a B-UML file alike. Equal trees give equal bytes.
 * Variables come from a names table of the text's own, everything else of the design only inside of literals. */
#ifndef GUI_EMIT_H
#define GUI_EMIT_H

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/gui/gui.h"

#define GUI_TEXT_MAX 4000000 /* bytes of one GUI; the checker of generated files takes a little more */

/* Appends imports and statements, each line indented by so many blanks; the model is in variable gui_model afterwards.
 * Ends with a line break. -1: ERR_BAD_REQUEST when the text grows too large, or out of memory. */
int gui_emit(const struct gui_object *model, unsigned indent, struct buf *out, struct err *err);

#endif
