/* shared/buml/reader_gui.h -- inside of read_gui.c: its tables, and styling. */
#ifndef BUML_READER_GUI_H
#define BUML_READER_GUI_H

#include "shared/buml/reader.h"
#include "shared/gui/gui.h"

/* Positional arguments of a class in Python's order, NULL at the end; NULL: no such class. */
const char *const *buml_gui_positions(const char *class);
const char *const *buml_gui_enumeration(const char *name); /* its members, NULL at the end; NULL: none */
const char *buml_gui_member(const struct thing *t, const char *enumeration); /* a constant; NULL: not of it */

/* The text of a value, numbers as digits; NULL: none. */
const char *buml_gui_text(const struct thing *v, char number[static 40]);

/* Adds what a Styling, or a Layout, says; *styling NULL is made. 0, or -1 (r->err). */
int buml_gui_styling(struct reader *r, const char *gui_id, const struct thing *t, struct gui_styling **styling);
int buml_gui_layout(struct reader *r, const char *gui_id, const struct thing *t, struct gui_styling **styling);

#endif
