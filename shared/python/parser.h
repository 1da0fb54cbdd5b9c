/* shared/python/parser.h -- asks a jailed CPython what a piece of Python is: valid or not, and its shape.
 * The jail (agentsim-pyparse, shared/python/jail/) parses and compiles, never runs or imports. It is started on first
 * use, ends itself after idling, is killed after 2 s of computing on one question and started again when it died.
 * All questions of one request together have a limit as well, or many slow pieces would hold a worker for minutes.
 * One parser per process; not shared between processes.
 * Failures (-1): ERR_BAD_REQUEST when it is the source's doing (too long, too deep, too slow, kills the jail twice),
 * ERR_UNAVAILABLE when the jail cannot be started, ERR_UPSTREAM when it answers nonsense, ERR_INTERNAL out of memory.
 */
#ifndef PYTHON_PARSER_H
#define PYTHON_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/err.h"

#define PYTHON_SOURCE_MAX (4u << 20) /* bytes of one source */
#define PYTHON_DEADLINE_MS 2000      /* of computing for one question */
#define PYTHON_PATIENCE_MS 10000     /* of waiting, when other processes keep the jail from computing */
#define PYTHON_REQUEST_MS 10000      /* of computing for all questions of one request */
#define PYTHON_REQUEST_PATIENCE_MS 30000
#define PYTHON_REQUEST_MAX \
    (32u << 20) /* bytes of all questions of one request: what programs of 4 MiB cannot need \
                 */

struct python_parser; /* opaque; owns the child process */

/* program: path of agentsim-pyparse, copied. Starts nothing yet. */
int python_parser_new(const char *program, struct python_parser **ret, struct err *err);
void python_parser_free(struct python_parser *p); /* ends the child; NULL is fine */

/* A request begins: its questions share compute_ms of the jail's time, patience_ms of ours and PYTHON_REQUEST_MAX
 * bytes. Too slow or too much code is ERR_BAD_REQUEST, a jail that does not get to compute ERR_UNAVAILABLE. Before the
 * first call there is no such limit.
 */
void python_parser_begin(struct python_parser *p, int64_t compute_ms, int64_t patience_ms);

struct python_function { /* a def at the top level of a source, in order */
    char *name;
    bool async;
    int line;
    size_t required, optional; /* ordinary positional parameters (positional-only included) without and with default */
    bool varargs, keywords_required; /* *args; keyword-only parameters without default */
    char *first_ordinary; /* name of the first parameter that is not positional-only or keyword-only; NULL = none */
};

struct python_name_use {
    char *name;
    int line;
};

/* What a source does with a name of its top level, or with a global of the program it stands in. */
enum python_name_flag {
    PYTHON_BINDS = 1,       /* bound at the top level: def, class, import, assignment ... */
    PYTHON_READS = 2,       /* read at the top level */
    PYTHON_READS_IN = 4,    /* read in a function, class or comprehension, from the module */
    PYTHON_DECLARES = 8,    /* a global statement names it */
    PYTHON_READS_CLASS = 16 /* read and bound in the body of a class, so that it may be the module's there */
};

struct python_name {
    char *name;
    unsigned flags;
};

struct python_facts {
    bool valid;            /* compiles under the runtime's CPython; false: only the error fields are set */
    char *error;           /* when not: CPython's message */
    int error_line;        /* from 1 */
    int error_column;      /* from 1, in characters; 0 = unknown */
    size_t statements;     /* top-level statements (a docstring counts, comments do not) */
    bool first_is_def;     /* the first statement is a plain def */
    bool global_statement; /* one stands outside of functions and classes */
    struct python_function *functions;
    size_t functions_len;
    struct python_name_use *imports;
    size_t imports_len; /* every imported module at any depth, dotted, as written;
                           relative imports by their module part, none without one */
    struct python_name_use *calls;
    size_t calls_len; /* every call whose callee is a bare name, at any depth */
    struct python_name *names;
    size_t names_len; /* each once, in no order */
};

/* source: UTF-8, len bytes. 0 and *ret (python_facts_release), or -1: the jail failed (time, memory, death), err says
 * so. */
int python_parse(struct python_parser *p, const char *source, size_t len, struct python_facts *ret, struct err *err);

/* The verdict alone: only valid and the error fields are filled. Half the work; for long programs of our own, which get
 * a millisecond more for every KiB. */
int python_check(struct python_parser *p, const char *source, size_t len, struct python_facts *ret, struct err *err);
void python_facts_release(struct python_facts *f);

/* The syntax tree as JSON text, for the B-UML reader. The caller frees. A source that does not compile is -1,
 * ERR_BAD_REQUEST with "line L, column C: message".
 * A node is {"_":"Call","l":line,"c":column,"el":end line,"ec":end column, then the fields of CPython's ast by name}:
 * lines from 1, columns in UTF-8 bytes from 0; nodes without fields and position (operators) are their name as a
 * string; ctx, fields that are None or an empty list, and an end line that is the first line are left out. Constant:
 * {"_":"Constant",...,"t":type,"v":value}: t is str, bytes (v in hex), int, float, complex (v as Python writes them, in
 * a string), bool, NoneType or ellipsis; "x":1 when a str held NUL or lone surrogates, which v shows as U+FFFD. */
int python_tree(struct python_parser *p, const char *source, size_t len, char **ret_json, struct err *err);

#endif
