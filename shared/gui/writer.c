#include "shared/gui/writer.h"

#include <stdint.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/emit.h"

#define WIDTH 100

/* Classes by the module the reference's importer expects them from. */
static const struct import_row {
    const char *module;
    const char *const names[26];
} rows[] = {
    { "besser.BUML.metamodel.gui",
      { "GUIModel",
        "Module",
        "Screen",
        "ViewComponent",
        "ViewContainer",
        "Button",
        "ButtonType",
        "ButtonActionType",
        "Text",
        "Image",
        "Link",
        "InputField",
        "InputFieldType",
        "SelectOption",
        "Alert",
        "AlertSeverity",
        "Form",
        "Menu",
        "MenuItem",
        "DataList",
        "DataSourceElement",
        "EmbeddedContent",
        NULL } },
    { "besser.BUML.metamodel.gui.style",
      { "Styling", "Size", "Position", "Color", "Layout", "LayoutType", "UnitSize", "PositionType", "Alignment",
        NULL } },
    { "besser.BUML.metamodel.gui.dashboard",
      { "LineChart", "BarChart", "PieChart", "RadarChart", "RadialBarChart", "Series", "Table", "ExpressionColumn",
        "MetricCard", "Map", "MapLayer", "MapLayerType", "AgentComponent", NULL } },
    { "besser.BUML.metamodel.gui.events_actions",
      { "Event", "EventType", "Transition", "Create", "Read", "Update", "Delete", "Parameter", NULL } },
};

/* Every name that may be imported, and the words the file itself needs. */
static bool is_taken(const char *word)
{
    static const char *const own[] = { "gui_model", "gui", "AgentGUI" };
    size_t i, j;

    for (i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(own[i], word) == 0)
            return true;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        for (j = 0; rows[i].names[j]; j++)
            if (strcmp(rows[i].names[j], word) == 0)
                return true;
    return false;
}

void gui_writer_init(struct writer *w, unsigned indent, struct err *err)
{
    *w = (struct writer){ .indent = indent, .err = err };
    buf_init(&w->body, SIZE_MAX / 2);
    buf_init(&w->line, SIZE_MAX / 2);
    names_init(&w->names);
    w->names.is_taken = is_taken;
}

void gui_writer_release(struct writer *w)
{
    buf_release(&w->body);
    buf_release(&w->line);
    mem_free(w->breaks);
    names_release(&w->names);
}

void gui_writer_class(struct writer *w, const char *name)
{
    size_t i, j, bit = 0;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        for (j = 0; rows[i].names[j]; j++, bit++)
            if (strcmp(rows[i].names[j], name) == 0)
                w->used[bit / 64] |= UINT64_C(1) << (bit % 64);
    buf_add_str(&w->line, name);
}

/* ---- statements ---------------------------------------------------------------------------------------------------
 */

static void note_break(struct writer *w)
{
    void *array = w->breaks;

    if (mem_grow(&array, w->breaks_len, &w->breaks_cap, sizeof(*w->breaks)) < 0) {
        w->nomem = true;
        return;
    }
    w->breaks = array;
    w->breaks[w->breaks_len++] = w->line.len;
}

struct buf *gui_writer_line(struct writer *w)
{
    w->breaks_len = 0;
    w->line.len = 0; /* a failure stays */
    return &w->line;
}

void gui_writer_open(struct writer *w, const char *variable, const char *class_name)
{
    gui_writer_line(w);
    buf_add_str(&w->line, variable);
    buf_add_str(&w->line, " = ");
    gui_writer_class(w, class_name);
    buf_add_char(&w->line, '(');
}

struct buf *gui_writer_argument(struct writer *w, const char *name)
{
    note_break(w);
    buf_add_str(&w->line, name);
    buf_add_char(&w->line, '=');
    return &w->line;
}

/* May the statement in line be added? Nothing is added any more once the text was too long. */
static bool fits(struct writer *w)
{
    w->too_long |= w->body.len + w->line.len > GUI_TEXT_MAX;
    return !w->too_long && !w->nomem && !buf_failed(&w->line);
}

static void add_arguments(struct writer *w, const char *between, const char *after)
{
    size_t i;

    for (i = 0; i < w->breaks_len; i++) {
        size_t end = i + 1 < w->breaks_len ? w->breaks[i + 1] : w->line.len;

        if (i)
            buf_add_str(&w->body, between);
        buf_add(&w->body, w->line.data + w->breaks[i], end - w->breaks[i]);
    }
    buf_add_str(&w->body, after);
}

void gui_writer_close(struct writer *w)
{
    char between[64] = ",\n";
    bool wide = w->indent + w->line.len + 2 * w->breaks_len > WIDTH;

    if (!fits(w) || !w->breaks_len)
        return;
    memset(between + 2, ' ', w->indent + 4);
    between[w->indent + 6] = '\0';
    buf_add_repeat(&w->body, ' ', w->indent);
    buf_add(&w->body, w->line.data, w->breaks[0]);
    if (!wide) {
        add_arguments(w, ", ", ")\n");
        return;
    }
    buf_add_str(&w->body, between + 1);
    add_arguments(w, between, ",\n");
    buf_add_repeat(&w->body, ' ', w->indent);
    buf_add_str(&w->body, ")\n");
}

void gui_writer_end(struct writer *w)
{
    if (!fits(w))
        return;
    buf_add_repeat(&w->body, ' ', w->indent);
    buf_add(&w->body, w->line.data, w->line.len);
    buf_add_char(&w->body, '\n');
}

void gui_writer_gap(struct writer *w)
{
    buf_add_char(&w->body, '\n');
}

/* ---- the text -----------------------------------------------------------------------------------------------------
 */

static void add_import(const struct writer *w, const struct import_row *row, size_t first_bit, struct buf *out)
{
    bool any = false;
    size_t j;

    for (j = 0; row->names[j]; j++) {
        size_t bit = first_bit + j;

        if (!(w->used[bit / 64] >> (bit % 64) & 1))
            continue;
        if (!any) {
            buf_add_repeat(out, ' ', w->indent);
            buf_add_fmt(out, "from %s import (\n", row->module);
        }
        any = true;
        buf_add_repeat(out, ' ', w->indent + 4);
        buf_add_fmt(out, "%s,\n", row->names[j]);
    }
    if (any) {
        buf_add_repeat(out, ' ', w->indent);
        buf_add_str(out, ")\n");
    }
}

int gui_writer_finish(struct writer *w, struct buf *out)
{
    size_t i, j, bit = 0;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        add_import(w, &rows[i], bit, out);
        for (j = 0; rows[i].names[j]; j++)
            bit++;
    }
    buf_add_char(out, '\n');
    buf_add(out, w->body.data, w->body.len);
    if (w->too_long)
        return err_set(w->err, ERR_BAD_REQUEST, 0, "The text of the GUI is longer than %d bytes.", GUI_TEXT_MAX);
    if (w->nomem || buf_failed(&w->line) || buf_failed(&w->body) || buf_failed(out))
        return err_nomem(w->err);
    return 0;
}
