/* shared/config/table.h -- the rows behind config.h. Private to shared/config.
 * A setting has one name: AGENT_SIMULATOR_MAX_SESSIONS in the environment is max_sessions in the file, and a file may
 * nest at any underscore (max: {sessions: 5}). */
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/config/config.h"

#define CONFIG_ENV_PREFIX "AGENT_SIMULATOR_"
#define CONFIG_DEFAULT_FILE "/etc/agentsim/agentsim.yaml"
#define CONFIG_NAME_MAX 80 /* bytes of a name, NUL included */

enum config_kind {
    CONFIG_BOOL,
    CONFIG_INT,
    CONFIG_REAL,
    CONFIG_CHOICE, /* int: index into words */
    CONFIG_WORD,   /* text: one of words */
    CONFIG_TEXT,
    CONFIG_PATH,    /* absolute path, or empty where min is 0 */
    CONFIG_URL,     /* http:// or https:// */
    CONFIG_ORIGINS, /* comma list of origins, or * */
    CONFIG_PEERS,   /* comma list of host:port */
    CONFIG__MAX
};

enum config_flag {
    CONFIG_SECRET = 1,
    CONFIG_LENIENT = 2, /* an unknown word means the default */
    CONFIG_RESTART = 4, /* a running service keeps what it was started with (config_reload()) */
};

struct config_row {
    const char *env;
    enum config_kind kind;
    size_t slot;              /* offset in struct config */
    double min, max;          /* of the number; of the length in bytes for text */
    const char *standard;     /* default, through the same checks */
    const char *const *words; /* NULL-terminated; CONFIG_CHOICE and CONFIG_WORD */
    unsigned flags;           /* enum config_flag */
    const char *help;
};

struct config_group {
    const char *title;
    const struct config_row *rows;
    size_t len;
};

const struct config_group *config_group_at(size_t i);      /* table order; NULL past the end */
const struct config_row *config_row_at(size_t i);          /* all groups in a row; NULL past the end */
const struct config_row *config_row_find(const char *key); /* by environment name or name in the file */
size_t config_row_place(const struct config_row *row);     /* config_row_at() of it is the row */
void config_row_name(const struct config_row *row, char out[CONFIG_NAME_MAX]); /* name in the file */

/* Parses value into the row's slot: 0, or -1 with a sentence that names the setting, the value and what is allowed.
 * An empty value of anything but a text means the default. */
int config_row_set(struct config *c, const struct config_row *row, const char *value, struct err *err);

/* Remembers where the row's value came from, if value is one: an empty one may mean the default. */
void config_row_came_from(struct config *c, const struct config_row *row, const char *value, enum config_source source);
void config_row_format(const struct config *c, const struct config_row *row, struct buf *out);
void config_row_allowed(const struct config_row *row, struct buf *out); /* "a whole number from 1 to 4096" */
bool config_row_takes_empty(const struct config_row *row);              /* else an empty value means "not set" */
bool config_row_is_list(const struct config_row *row);

/* The settings of a file, each through config_row_set(). With faults, a bad one is told there and left out. */
int config_read_yaml(struct config *c, const char *path, const struct config_faults *faults, struct err *err);
int config_parse_yaml(struct config *c, const char *text, size_t len, const char *path,
                      const struct config_faults *faults, struct err *err);

/* The last step of what sets one thing: r itself, or 0 once a fault was told to somebody who wants the rest. */
int config_go_on(const struct config_faults *faults, int r, struct err *err);

#endif
