/* shared/cli/compile_command.h -- what commands on diagrams share: read, compile, say what is wrong, write. */
#ifndef CLI_COMPILE_COMMAND_H
#define CLI_COMPILE_COMMAND_H

#include "shared/base/buf.h"
#include "shared/cli/cli.h"
#include "shared/generate/compile.h"

/* Compiles the diagram file. CLI_OK and *ret (compiled_release), also when the diagram is refused (findings.errors);
 * else the exit status, and what went wrong was said. */
int cli_compile(const char *path, const struct generate_options *o, struct compiled *ret);

/* One line per finding: "error where: message (rule N)". Errors to out, warnings too. */
void cli_print_findings(const struct findings *f, FILE *out);

/* Writes the result to path, or to standard output when that is NULL or "-". Exit status; what went wrong was said. */
int cli_write_result(const char *path, const struct buf *text);

#endif
