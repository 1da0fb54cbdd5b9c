/* Settings that nobody reads, because their names are misspelt. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/config/config.h"
#include "shared/config/table.h"

#define NEAR 3 /* so many letters to one that is changed */

/* Read by the command line program, not by the service. */
static const char *const others[] = { CONFIG_ENV_PREFIX "TOKEN", CONFIG_ENV_PREFIX "URL" };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to change, add or leave out to get from one to the other (Levenshtein), one row at a time. */
static size_t distance(const char *a, const char *b)
{
    size_t row[CONFIG_NAME_MAX], j, len = strlen(b);

    for (j = 0; j <= len; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t corner = row[0]++;

        for (j = 1; j <= len; j++) {
            size_t best = least(corner + (*a != b[j - 1]), least(row[j], row[j - 1]) + 1);

            corner = row[j];
            row[j] = best;
        }
    }
    return row[len];
}

static const char *nearest(const char *name)
{
    const struct config_row *row;
    const char *found = NULL;
    size_t best = (strlen(name) - strlen(CONFIG_ENV_PREFIX)) / NEAR + 1, i;

    for (i = 0; (row = config_row_at(i)); i++) {
        size_t d = strlen(row->env) < CONFIG_NAME_MAX ? distance(name, row->env) : best;

        if (d < best) {
            best = d;
            found = row->env;
        }
    }
    return found;
}

static bool is_known(const char *name)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; i < ARRAY_LEN(others); i++)
        if (str_eq(name, others[i]))
            return true;
    for (i = 0; (row = config_row_at(i)); i++)
        if (str_eq(name, row->env))
            return true;
    return false;
}

void config_unknown_env(char *const *env, void (*found)(void *arg, const char *name, const char *meant), void *arg)
{
    for (; *env; env++) {
        char name[CONFIG_NAME_MAX];
        size_t len = strcspn(*env, "=");

        if (!str_starts(*env, CONFIG_ENV_PREFIX))
            continue;
        len = least(len, sizeof(name) - 1);
        memcpy(name, *env, len);
        name[len] = '\0';
        if (!is_known(name))
            found(arg, name, nearest(name));
    }
}
