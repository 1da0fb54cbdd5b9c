/* tests/support/settings.h -- one setting of a test's service, through the checks that a file's settings pass. */
#ifndef TESTS_SETTINGS_H
#define TESTS_SETTINGS_H

#include "shared/config/table.h"

/* By name in the environment or in the file. */
static inline int put_setting(struct config *c, const char *key, const char *value, struct err *err)
{
    const struct config_row *row = config_row_find(key);

    return row ? config_row_set(c, row, value, err) : err_set(err, ERR_BAD_REQUEST, 0, "unknown setting \"%s\"", key);
}

#endif
