/* shared/generate/config_yaml.h -- the parts of config.yaml that other files of this room share
 * (section 6.5). */
#ifndef GENERATE_CONFIG_YAML_H
#define GENERATE_CONFIG_YAML_H

#include "shared/base/err.h"
#include "shared/diagram/model.h"
#include "shared/generate/generate.h"
#include "shared/generate/yaml_tree.h"

/* The same text with `database` renamed `file` in SQLite list items. The caller frees *ret. */
int config_yaml_repair(const char *text, char **ret, struct err *err);

/* The text with the entry in place of a db1 that is missing, empty or holds placeholders (YOUR-...). Other text is kept
 * where that is possible; a text that is no mapping is returned as it is. The caller frees *ret. */
int config_yaml_set_db1(const char *text, const struct sql_entry *entry, char **ret, struct err *err);
int config_db1_tree(struct ytree *root, const struct sql_entry *entry, struct err *err); /* the same in a tree */

/* A line of a text, for edits that leave the others alone. */
struct config_line {
    const char *start;
    size_t len;    /* without its end */
    size_t indent; /* blanks in front */
    bool blank;
};
const char *config_line_read(const char *text, struct config_line *ret); /* returns where the next one begins */
bool config_line_opens(const struct config_line *l);                     /* it is only "- word:" */

/* True when o asks for a value that a given file has to be changed for. */
bool config_overrides_any(const struct generate_options *o);

/* Sets host, port and credentials in a tree whose root is a mapping or empty. */
int config_override_tree(struct ytree *root, const struct generate_options *o, struct err *err);

#endif
