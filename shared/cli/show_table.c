#include "shared/cli/show_table.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"

static void add_cell(struct buf *out, const cJSON *v)
{
    char *printed = NULL;
    const char *s = "";
    size_t len;

    if (v && cJSON_IsString(v))
        s = v->valuestring;
    else if (v && !cJSON_IsNull(v))
        s = printed = cJSON_PrintUnformatted(v);
    len = s ? strlen(s) : 0;
    if (len > SHOW_TABLE_WIDTH)
        len = utf8_floor(s, SHOW_TABLE_WIDTH);
    cli_add_plain(out, s ? s : "", len, false);
    cJSON_free(printed);
}

/* Columns of a terminal, near enough: code points. */
static size_t width_of(const struct buf *b)
{
    size_t i, n = 0;

    for (i = 0; i < b->len; i++)
        n += ((unsigned char)b->data[i] & 0xc0) != 0x80;
    return n;
}

static void measure(struct buf *cell, size_t *width)
{
    if (width_of(cell) > *width)
        *width = width_of(cell);
    buf_clear(cell);
}

static void add_padded(struct buf *out, struct buf *cell, size_t width, bool last)
{
    size_t used = width_of(cell);

    buf_add(out, cell->data, cell->len);
    if (!last)
        buf_add_repeat(out, ' ', (width > used ? width - used : 0) + 2);
    buf_clear(cell);
}

void show_table(const cJSON *columns, struct buf *out)
{
    const cJSON *column = columns ? columns->child : NULL, *cell;
    size_t widths[SHOW_TABLE_COLUMNS] = { 0 }, n, rows, i, row;
    const cJSON *next[SHOW_TABLE_COLUMNS];
    auto_buf struct buf text;

    buf_init(&text, 65536);
    rows = column ? (size_t)cJSON_GetArraySize(column) : 0;
    for (n = 0; column && n < SHOW_TABLE_COLUMNS; column = column->next, n++) {
        cli_add_plain(&text, column->string ? column->string : "", column->string ? strlen(column->string) : 0, false);
        measure(&text, &widths[n]);
        next[n] = column->child;
        for (cell = column->child, i = 0; cell && i < SHOW_TABLE_ROWS; cell = cell->next, i++) {
            add_cell(&text, cell);
            measure(&text, &widths[n]);
        }
    }
    if (!n) {
        buf_add_str(out, "[empty table]\n");
        return;
    }
    for (i = 0, column = columns->child; i < n; i++, column = column->next) {
        cli_add_plain(&text, column->string ? column->string : "", column->string ? strlen(column->string) : 0, false);
        add_padded(out, &text, widths[i], i + 1 == n);
    }
    buf_add_char(out, '\n');
    for (row = 0; row < rows && row < SHOW_TABLE_ROWS; row++) {
        for (i = 0; i < n; i++) {
            add_cell(&text, next[i]);
            add_padded(out, &text, widths[i], i + 1 == n);
            next[i] = next[i] ? next[i]->next : NULL;
        }
        buf_add_char(out, '\n');
    }
    if (rows > SHOW_TABLE_ROWS || column)
        buf_add_fmt(out, "(%zu rows, %d columns in all)\n", rows, cJSON_GetArraySize(columns));
}
