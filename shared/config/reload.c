/* The settings of a running process, read anew: all of them, or none. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"

#define VALUE_MAX 70000
#define NAMES_MAX 300 /* bytes of the sentence that are for names */

static bool is_text(const struct config_row *row)
{
    return row->kind >= CONFIG_WORD;
}

/* Compared as text, the form in which all kinds can be written. 1 differs, 0 equal, -1 out of memory. */
static int differs(const struct config *a, const struct config *b, const struct config_row *row)
{
    auto_buf struct buf was;
    auto_buf struct buf is;
    int r;

    buf_init(&was, VALUE_MAX);
    buf_init(&is, VALUE_MAX);
    config_row_format(a, row, &was);
    config_row_format(b, row, &is);
    if (buf_failed(&was) || buf_failed(&is))
        return -1;
    r = was.len != is.len || (was.len && memcmp(was.data, is.data, was.len) != 0);
    if (row->flags & CONFIG_SECRET) {
        mem_wipe(was.data, was.cap);
        mem_wipe(is.data, is.cap);
    }
    return r;
}

static int check_fixed(const struct config *now, const struct config *next, struct err *err)
{
    const struct config_row *row;
    auto_buf struct buf names;
    size_t i, n = 0;

    buf_init(&names, 8192);
    for (i = 0; (row = config_row_at(i)); i++) {
        int r = row->flags & CONFIG_RESTART ? differs(now, next, row) : 0;

        if (r < 0)
            return err_nomem(err);
        if (r > 0 && names.len < NAMES_MAX)
            buf_add_fmt(&names, "%s%s", n++ ? ", " : "", row->env);
    }
    if (!n)
        return 0;
    return err_set(err, ERR_CONFLICT, 0, "nothing was changed: %s can only change with a restart",
                   buf_failed(&names) ? "some settings" : names.data);
}

static void exchange(struct config *a, struct config *b, const struct config_row *row)
{
    size_t size = is_text(row)               ? sizeof(char *)
                  : row->kind == CONFIG_BOOL ? sizeof(bool)
                  : row->kind == CONFIG_INT  ? sizeof(int64_t)
                  : row->kind == CONFIG_REAL ? sizeof(double)
                                             : sizeof(int);
    char kept[sizeof(double) > sizeof(char *) ? sizeof(double) : sizeof(char *)];
    char *at_a = (char *)a + row->slot, *at_b = (char *)b + row->slot;

    memcpy(kept, at_a, size);
    memcpy(at_a, at_b, size);
    memcpy(at_b, kept, size);
}

int config_reload(struct config *c, const char *file, struct err *err)
{
    const struct config_row *row;
    struct config next;
    size_t i;

    if (config_load(&next, file, err) < 0)
        return -1;
    if (check_fixed(c, &next, err) < 0) {
        config_release(&next);
        return -1;
    }
    /* Those that cannot change keep their memory: others may have borrowed it. */
    for (i = 0; (row = config_row_at(i)); i++) {
        if (row->flags & CONFIG_RESTART)
            continue;
        exchange(c, &next, row);
        if (i < CONFIG_SETTINGS_MAX)
            c->sources[i] = next.sources[i];
    }
    config_release(&next);
    return 0;
}
