/* supervisor/holder/tree.h -- answers to files requests: listings and contents of the work directory.
 * Blocking, written for a child process that does nothing else. The directory belongs to a hostile program that
 * may change it at any moment: one component at a time, no links, regular files of the session only. */
#ifndef HOLDER_TREE_H
#define HOLDER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"

#define TREE_ENTRIES_MAX 10000
#define TREE_DEPTH_MAX 64
#define TREE_LIST_MAX ((uint64_t)64 << 20)   /* all contents of a listing */
#define TREE_WALK_MAX ((uint64_t)512 << 20)  /* all contents of an archive */
#define TREE_CONTENT_MAX ((uint64_t)8 << 20) /* content of one entry of a listing */

struct tree {
    int root;    /* the work directory */
    int sock;    /* where the answer goes, blocking */
    uid_t owner; /* files of others are not shown */
};

/* HOLD_LIST: entries with the contents of files up to per_file bytes. 0, or -1 and err: the peer is gone. */
int tree_list(const struct tree *t, uint64_t per_file, struct err *err);

/* HOLD_WALK: entries, each file followed by its content. */
int tree_walk(const struct tree *t, struct err *err);

/* HOLD_READ: one file; an answer of HOLD_FAILED is success here. */
int tree_read(const struct tree *t, const char *path, struct err *err);

#endif
