/* shared/cli/show_table.h -- a column-oriented table, {"column": {"row": value}}, as aligned text. Pure. */
#ifndef CLI_SHOW_TABLE_H
#define CLI_SHOW_TABLE_H

#include <cjson/cJSON.h>

#include "shared/base/buf.h"

#define SHOW_TABLE_ROWS 50 /* more are counted, not shown */
#define SHOW_TABLE_COLUMNS 20
#define SHOW_TABLE_WIDTH 40 /* bytes of one cell */

void show_table(const cJSON *columns, struct buf *out);

#endif
