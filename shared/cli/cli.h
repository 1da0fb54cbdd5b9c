/* shared/cli/cli.h -- `agentsim`: one table of commands; each row's options feed both parsing and help.
 * Exit status: the four below, with the same meaning for every command; `agentsim --help` prints them.
 * Results go to standard output, what went wrong to standard error. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "shared/base/err.h"
#include "shared/config/config.h"

enum {
    CLI_OK = 0,
    CLI_NO = 1,    /* findings, a bad setting, a refused session, a conversation that went otherwise, no service */
    CLI_USAGE = 2, /* wrong use, or a file that cannot be read: diagram, scenario, settings */
    CLI_FAILED = 3 /* this machine: no memory, a result that cannot be written */
};

#define CLI_OPTIONS_MAX 12
#define CLI_DIAGRAM_MAX (50u << 20) /* as the service: 50 MiB */

struct cli_option {
    const char *name;  /* "output", given as --output VALUE or --output=VALUE */
    char letter;       /* 'o', given as -o VALUE; 0 = none */
    const char *value; /* "DIR" in help; NULL = a switch */
    const char *help;
};

struct cli_input {
    const char *values[CLI_OPTIONS_MAX]; /* in the order of the command's options: NULL = not given; a switch is "" */
    char *const *args;                   /* what is no option */
    int args_len;
};

struct cli_command {
    const char *name, *arguments, *summary;
    const char *details;              /* more lines of help, may be NULL */
    const struct cli_option *options; /* ended by a row without name, NULL = none */
    int args_min, args_max;
    int (*run)(const struct cli_input *in);
};

int cli_main(int argc, char **argv);

/* options.c. Fills ret from argv (the words behind the command's name, NULL-terminated; reordered in place: options
 * may follow arguments; "--" ends them). 0, or -1 and err: unknown option, missing value, wrong number of arguments. */
int cli_parse(const struct cli_command *c, int argc, char **argv, struct cli_input *ret, struct err *err);
void cli_print_help(const struct cli_command *c, FILE *out);

/* request.c. A diagram file ("-" = standard input) as the service's request object: a bare model gets its envelope, a
 * missing title is the file's name when title is wanted. To be freed with cJSON_Delete(). NULL: said on standard error,
 * *ret_status is the exit status. */
cJSON *cli_read_request(const char *path, bool want_title, int *ret_status);

/* The file's bytes ("-" = standard input) behind what text holds, up to its ceiling. -1: err names the path. */
struct buf;
int cli_read_file(const char *path, struct buf *text, struct err *err);

/* "line 2, column 19" of a byte of text; columns count characters. */
#define CLI_PLACE_MAX 64
void cli_place(const struct buf *text, size_t offset, char out[static CLI_PLACE_MAX]);

/* Path of another of our programs: beside this one, else below the installed prefix. Caller frees; NULL out of memory.
 */
char *cli_program_path(const char *name);

/* The settings of file; NULL = the default one if this user may read it. CLI_OK, or the exit status once what is wrong
 * was said on standard error, behind the words of before: CLI_NO for a bad value, CLI_USAGE for a file that cannot be
 * read. */
int cli_load_config(struct config *ret, const char *file, const char *before);

/* As that, for commands that look after a service whose settings are broken: bad values are told to faults and left
 * out. */
int cli_load_rest(struct config *ret, const char *file, const struct config_faults *faults);

/* "agentsim: <message>" on standard error; returns status. */
int cli_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Text of strangers for a terminal or a log line: control characters are shown as \xNN, line breaks kept if asked. */
struct buf;
void cli_add_plain(struct buf *out, const char *s, size_t len, bool keep_lines);

extern const struct cli_command cli_generate, cli_validate, cli_inspect, cli_export, cli_import, cli_chat, cli_config,
    cli_doctor, cli_status, cli_sessions, cli_kill, cli_drain, cli_reload, cli_test;

#endif
