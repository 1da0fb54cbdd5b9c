/* shared/cli/unpack.h -- a bundle becomes files below one directory; nothing is ever written outside of it. */
#ifndef CLI_UNPACK_H
#define CLI_UNPACK_H

#include "shared/base/err.h"
#include "shared/generate/generate.h"

/* Creates directory (its parent must exist) and writes every file, replacing those of the same name; links below it
 * are never followed. 0, or -1 and err; what was written until then stays. */
int cli_unpack(const struct bundle *b, const char *directory, struct err *err);

#endif
