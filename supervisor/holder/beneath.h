/* supervisor/holder/beneath.h -- files below the session's work directory, of which a hostile
 * program owns every name: no links are followed, nothing outside is reached, only regular files of
 * the session are opened. */
#ifndef HOLDER_BENEATH_H
#define HOLDER_BENEATH_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "shared/base/err.h"

/* Opens path (path_check()ed) below root with openat() flags: descriptor, or -1 with errno.
 * ELOOP: a link is in the way. */
int beneath_open(int root, const char *path, int flags, mode_t mode);

/* Opens an existing regular file of owner for reading: descriptor and its status, or -1 and err
 * (ERR_NOT_FOUND for whatever is no such file). */
int beneath_open_file(int root, const char *path, uid_t owner, struct stat *ret_st, struct err *err);

/* Makes the directory path and those above it: 0, or -1 with errno. An existing one is fine. */
int beneath_mkdir(int root, const char *path);

/* Creates the directories above path, then opens it for appending: descriptor, or -1 with errno. */
int beneath_append(int root, const char *path);

#endif
