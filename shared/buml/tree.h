/* shared/buml/tree.h -- the syntax tree of a Python file as typed nodes, made of the jail's answer (python_tree() in
 * shared/python/parser.h). The tree owns its nodes and their texts in one arena; buml_tree_release() frees all of it.
 */
#ifndef BUML_TREE_H
#define BUML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"

struct arena_block;

struct arena { /* memory that is freed all at once */
    struct arena_block *blocks;
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned; NULL out of memory */
char *arena_text(struct arena *a, const char *s, size_t len);
void arena_release(struct arena *a);

/* Kinds that the reader tells apart; the others are NODE_OTHER with their fields. */
enum node_kind {
    NODE_OTHER,
    /* statements */
    NODE_MODULE,
    NODE_EXPR,
    NODE_ASSIGN,
    NODE_ANN_ASSIGN,
    NODE_AUG_ASSIGN,
    NODE_FUNCTION,
    NODE_ASYNC_FUNCTION,
    NODE_CLASS,
    NODE_IF,
    NODE_FOR,
    NODE_WHILE,
    NODE_TRY,
    NODE_WITH,
    NODE_MATCH,
    NODE_IMPORT,
    NODE_IMPORT_FROM,
    NODE_RETURN,
    NODE_PASS,
    /* expressions */
    NODE_CALL,
    NODE_NAME,
    NODE_ATTRIBUTE,
    NODE_CONSTANT,
    NODE_LIST,
    NODE_TUPLE,
    NODE_SET,
    NODE_DICT,
    NODE_BIN_OP,
    NODE_UNARY_OP,
    NODE_SUBSCRIPT,
    NODE_STARRED,
    NODE_LAMBDA,
    NODE_NAMED,
    NODE_JOINED,
    NODE_FORMATTED,
    NODE__KINDS
};

enum node_part {
    PART_OTHER,
    PART_BODY,
    PART_ORELSE,
    PART_FINALBODY,
    PART_HANDLERS,
    PART_CASES,
    PART_ITEMS,
    PART_TARGETS,
    PART_TARGET,
    PART_VALUE,
    PART_VALUES,
    PART_KEYS,
    PART_ELTS,
    PART_FUNC,
    PART_ARGS,
    PART_KEYWORDS,
    PART_LEFT,
    PART_RIGHT,
    PART_OPERAND,
    PART_SLICE,
    PART_ITER,
    PART_NAMES,
    PART_DECORATORS,
    PART_DEFAULTS,
    NODE__PARTS
};

enum literal {
    LITERAL_TEXT,
    LITERAL_BYTES,
    LITERAL_INT,
    LITERAL_FLOAT,
    LITERAL_COMPLEX,
    LITERAL_BOOL,
    LITERAL_NONE,
    LITERAL_ELLIPSIS
};

struct node_list {
    enum node_part part;
    struct node *
        *items; /* of PART_OTHER, PART_KEYS and PART_NAMES some may be NULL: what is no node, **more of a dict */
    size_t len;
};

struct node {
    enum node_kind kind;
    int line, column, end_line, end_column; /* lines from 1, columns in bytes from 0; line 0: it has no place */
    const char *type;                       /* CPython's class, for sentences: "While" */
    const char *name;                       /* id, attr, name, arg, module or operator; NULL */
    const char *alias;                      /* of an import; NULL */
    enum literal literal;                   /* of a constant: */
    bool truth;                             /* LITERAL_BOOL; {value!r} of an f-string */
    bool replaced;                          /* LITERAL_TEXT held NUL or half characters, now U+FFFD */
    const char *text;                       /* LITERAL_TEXT, numbers as Python writes them */
    struct node_list *lists;
    size_t lists_len;
};

struct tree {
    struct arena arena;
    struct node *module;
    size_t nodes;
};

/* json: an answer of python_tree(). -1: ERR_BAD_REQUEST naming the limit (BUML_NODES_MAX; BUML_DEPTH_MAX, where what a
 * chain of calls or sums hangs on counts once), ERR_UPSTREAM when it is no tree, or out of memory. */
int buml_tree_read(const char *json, struct tree *ret, struct err *err);
void buml_tree_release(struct tree *t);

/* The field's nodes, and its only or first one; none: len 0 and NULL. */
const struct node_list *node_list(const struct node *n, enum node_part part);
const struct node *node_child(const struct node *n, enum node_part part);

size_t node_count(const struct node *n); /* with all below */
int node_depth(const struct node *n);    /* counted as above */

#endif
