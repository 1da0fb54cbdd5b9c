#include "tests/support/gui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/gui/emit.h"
#include "shared/gui/read.h"
#include "shared/json/json.h"
#include "tests/support/diagram.h"

struct value test_design(const char *design)
{
    char *text = quoted(design);
    struct json_error e;
    cJSON *tree = json_parse(text, strlen(text), &e);
    struct value v = { 0 };

    if (!tree)
        fail_msg("%s in %s", e.message, text);
    assert_int_equal(json_to_value(tree, &v), 0);
    cJSON_Delete(tree);
    mem_free(text);
    return v;
}

struct gui_object *test_gui(const char *design)
{
    struct value v = test_design(design);
    struct gui_object *model = NULL;
    struct err err = { 0 };

    if (gui_read(&v, &model, &err) < 0)
        fail_msg("%s", err.msg);
    value_release(&v);
    return model;
}

char *test_gui_python(const char *design)
{
    struct gui_object *model = test_gui(design);
    struct err err = { 0 };
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (gui_emit(model, 0, &text, &err) < 0)
        fail_msg("%s", err.msg);
    gui_object_free(model);
    return buf_steal(&text, NULL);
}

char *test_components_python(const char *components)
{
    struct buf design;
    char *text;

    buf_init(&design, SIZE_MAX / 2);
    buf_add_fmt(&design, "{'pages': [{'id': 'p1', 'name': 'Home', 'frames': [{'component': {'components': [%s]}}]}]}",
                components);
    text = test_gui_python(design.data);
    buf_release(&design);
    return text;
}

void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in:\n%s", part, text);
}

void expect_rows(const struct gui_row *rows, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        auto_free char *text = test_components_python(rows[i].component);

        assert_has(text, rows[i].part);
    }
}
