/* shared/base/path.h -- paths that stem from diagrams: normalised, inside their root, file-safe.
 * Source of the rules: the agent diagram contract, section 8.3. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

#include "shared/base/err.h"

#define PATH_STEM_MAX 100    /* bytes of a file-safe stem */
#define PATH_SEGMENT_MAX 255 /* bytes of one name, as file systems have it */
#define PATH_MAX_BYTES 3000  /* of a relative path: its root has to fit before it in PATH_MAX */

/* Trim, '\' to '/', no drive letter, no leading slash, no empty or '.' segment. The caller frees *ret.
 * -1 (ERR_BAD_REQUEST, names the path) for '..' segments, names or paths too long, and when nothing is left. */
int path_normalise(const char *raw, char **ret, struct err *err);

/* 0 when path is already as path_normalise() writes it (relative, clean); else -1. For paths a peer sent. */
int path_check(const char *path, size_t len);

/* As path_check() for paths that are only looked up: agents give their files names with a backslash, too, which is an
 * ordinary character to this system. */
int path_check_found(const char *path, size_t len);

/* File-safe stem of a name: only A-Z a-z 0-9 _ . , no leading dot, "unnamed" for empty, at most
 * PATH_STEM_MAX bytes (longer: cut, "_" and 8 hex digits of a hash). NULL when out of memory; the caller frees. */
char *path_stem(const char *name);

#endif
