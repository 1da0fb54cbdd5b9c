/* tests/support/gui.h -- designs of GUIs in tests, written with ' instead of ". */
#ifndef TESTS_SUPPORT_GUI_H
#define TESTS_SUPPORT_GUI_H

#include "shared/gui/gui.h"

/* The design's tree; fails the test when it is refused. gui_object_free() frees. */
struct gui_object *test_gui(const char *design);

/* The design as a value, for calls that may fail; value_release() frees. */
struct value test_design(const char *design);

/* Python of a whole design, and of one page that holds these components. mem_free() frees. */
char *test_gui_python(const char *design);
char *test_components_python(const char *components);

/* Python of components, and what has to stand in it. */
struct gui_row {
    const char *component, *part;
};
void expect_rows(const struct gui_row *rows, size_t len);

void assert_has(const char *text, const char *part);
void assert_lacks(const char *text, const char *part);

#endif
