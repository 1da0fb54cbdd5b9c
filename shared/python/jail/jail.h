/* shared/python/jail/jail.h -- the parts of agentsim-pyparse. One process, one interpreter, one question at a time.
 * Order at the start: interpreter_start() reads what it needs from disk, walls_raise() takes every power away,
 * then sources of strangers come in. Everything here dies with the process; a failure at the start is its end. */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H

#include <Python.h>

#include "shared/base/buf.h"

/* Classes of the ast module and what symbol tables are read with, looked up once before the walls stand. */
struct node_types {
    PyTypeObject *node, *function, *async_function, *import, *import_from, *call, *name, *constant, *global, *class,
        *expression;
    PyObject *symtable; /* the function of that name */
    struct symbol_bits {
        long global, local, import, use, scope_shift, scope_mask, global_explicit, global_implicit, class_table;
    } bits;
};

/* interpreter.c: CPython without site, user modules or environment, able to compile anything without a
 * further import. 0, or -1 with a line on standard error. */
int interpreter_start(struct node_types *ret);

struct verdict {
    bool valid;
    int line, column; /* from 1; column 0 = unknown */
    char message[400];
};

/* Does compile(source, ..., "exec") accept it? Nothing is executed. */
void interpreter_judge(const char *source, size_t len, struct verdict *ret);

/* ast.parse() of a source that was judged valid; new reference, NULL when it is too large or deep (no exception set).
 */
PyObject *interpreter_tree(const char *source);

/* walls.c: resource limits, no new privileges, system call filter. 0, or -1 with a line on standard error. */
int walls_raise(void);

/* describe.c: a module's facts in wire form (answer.h): 0, -1 too large or deep. */
int describe_facts(const struct node_types *types, PyObject *module, const char *source, struct buf *out);

/* scopes.c: the part of them about names of the top level. */
int describe_names(const struct node_types *types, const char *source, struct buf *out);

/* tree.c: a module as JSON text, handed to emit in pieces: 0, -1 too large, too deep, or emit failed. */
int tree_write(const struct node_types *types, PyObject *module, int (*emit)(const void *data, size_t len));

#endif
