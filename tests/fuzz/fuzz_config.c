/* The settings file, and single values. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

/* What a row took comes back the same when it is written and read again. */
static void write_and_read(struct config *c)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++) {
        auto_buf struct buf b;
        struct err err;

        buf_init(&b, 1 << 20);
        config_row_format(c, row, &b);
        must(!buf_failed(&b));
        must(config_row_set(c, row, b.data ? b.data : "", &err) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_dup(data, size);
    const struct config_row *row;
    struct config c;
    struct err err = { 0 };
    size_t i;

    if (config_load_env(&c, &err) < 0)
        abort();
    if (config_parse_yaml(&c, text, size, "fuzz.yaml", NULL, &err) < 0)
        must(err.kind != ERR_NONE && *err.msg);
    for (i = 0; size < 200 && (row = config_row_at(i)); i++)
        config_row_set(&c, row, text, &err);
    write_and_read(&c);
    config_release(&c);
    return 0;
}
