/* shared/generate/yaml_tree.h -- one YAML document as a tree: read within bounds, changed by path,
 * written again. Read is what PyYAML's safe_load reads: one document, plain tags only, aliases
 * expanded, merges ("<<") resolved, of equal keys the last value at the first place. Bounded in
 * bytes, depth and nodes after expansion, so hostile text costs little. A node owns all below it;
 * ytree_release() frees. Errors are ERR_BAD_REQUEST and name the line, else the machine failed. */
#ifndef GENERATE_YAML_TREE_H
#define GENERATE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"

#define YTREE_BYTES_MAX (1u << 20) /* of the text, and of all scalars after expansion */
#define YTREE_DEPTH_MAX 64
#define YTREE_NODES_MAX 50000u

enum ytree_kind { YTREE_SCALAR, YTREE_MAPPING, YTREE_SEQUENCE };

struct ytree {
    enum ytree_kind kind;
    char *text;          /* scalar: its value */
    bool plain;          /* scalar: written without quotes, so 5 is a number and yes a boolean */
    struct ytree *items; /* mapping: key, value, key, value ...; sequence: its items */
    size_t len, cap;
};

int ytree_parse(const char *text, size_t len, struct ytree *ret, struct err *err);
void ytree_release(struct ytree *t);

/* Block style, UTF-8, no line longer for being broken; texts double-quoted. The caller frees *ret.
 */
int ytree_write(const struct ytree *t, char **ret, struct err *err);

bool ytree_equal(const struct ytree *a, const struct ytree *b);
bool ytree_is_null(const struct ytree *t); /* a plain scalar that reads as nothing */

/* yaml_plain.c. Whether PyYAML can make a value of what is written without quotes: not of 2020-02-30, 0x_, or =, which
 * only a key may be. */
bool ytree_plain_is_sound(const char *text, bool key);
struct ytree *ytree_get(const struct ytree *mapping, const char *key); /* borrowed; NULL: absent or no mapping */

/* Value below key, added when absent (an empty mapping). Borrowed until the mapping changes; NULL
 * out of memory. */
struct ytree *ytree_add(struct ytree *mapping, const char *key, struct err *err);
void ytree_make_mapping(struct ytree *t); /* empties t */
int ytree_make_scalar(struct ytree *t, const char *text, bool plain, struct err *err);
struct ytree *ytree_grow(struct ytree *t); /* one item more, empty; NULL out of memory */
struct ytree *ytree_append(struct ytree *sequence,
                           struct err *err); /* makes t a sequence when it is an empty mapping */

#endif
