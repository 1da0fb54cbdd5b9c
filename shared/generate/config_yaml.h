/* shared/generate/config_yaml.h -- the parts of config.yaml that other files of this room share
 * (section 6.5). */
#ifndef GENERATE_CONFIG_YAML_H
#define GENERATE_CONFIG_YAML_H

#include "shared/base/err.h"
#include "shared/diagram/model.h"
#include "shared/generate/generate.h"
#include "shared/generate/yaml_tree.h"

/* The default tree: db.monitoring and db.streamlit are off in sessions [D2]. *ret is the caller's
 * (ytree_release). */
int config_yaml_default(const struct model *m, bool session, struct ytree *ret, struct err *err);

/* The same text with `database` renamed `file` in SQLite list items. The caller frees *ret. */
int config_yaml_repair(const char *text, char **ret, struct err *err);

/* True when o asks for a value that a given file has to be changed for. */
bool config_overrides_any(const struct generate_options *o);

/* Sets host, port and credentials in a tree whose root is a mapping or empty. */
int config_override_tree(struct ytree *root, const struct generate_options *o, struct err *err);

#endif
