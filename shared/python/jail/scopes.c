#include "shared/python/jail/jail.h"

#include <stdbool.h>

#include "shared/ipc/wire.h"
#include "shared/python/parser.h"

/* CPython's own symbol tables say which names a source binds and which it takes from its module. Read with a list of
 * tables to come, not by recursion. */

struct names {
    const struct symbol_bits *bits;
    PyObject *found; /* dict: name -> flags */
    PyObject *tables;
};

enum table { TABLE_TOP, TABLE_CLASS, TABLE_OTHER };

static int flags_of(const struct symbol_bits *bits, long symbol, enum table table)
{
    long scope = symbol >> bits->scope_shift & bits->scope_mask;
    int flags = 0;

    if (table == TABLE_TOP) {
        flags |= symbol & (bits->local | bits->import) ? PYTHON_BINDS : 0;
        flags |= symbol & bits->use ? PYTHON_READS : 0;
        flags |= symbol & bits->global ? PYTHON_DECLARES : 0;
    } else {
        flags |= scope == bits->global_implicit ? PYTHON_READS_IN : 0;
        if (scope == bits->global_explicit)
            flags |= PYTHON_DECLARES | (symbol & bits->use ? PYTHON_READS_IN : 0);
        if (table == TABLE_CLASS && symbol & bits->local && symbol & bits->use)
            flags |= PYTHON_READS_CLASS;
    }
    return flags;
}

static int note(struct names *n, PyObject *name, int flags)
{
    PyObject *known = PyDict_GetItemWithError(n->found, name), *value;
    int r;

    if (!flags)
        return 0;
    value = PyLong_FromLong(flags | (known ? PyLong_AsLong(known) : 0));
    r = value ? PyDict_SetItem(n->found, name, value) : -1;
    Py_XDECREF(value);
    return r;
}

static enum table kind_of(const struct names *n, PyObject *table)
{
    PyObject *type = PyObject_GetAttrString(table, "type");
    long kind = type ? PyLong_AsLong(type) : -1;

    Py_XDECREF(type);
    return kind == n->bits->class_table ? TABLE_CLASS : TABLE_OTHER;
}

static int note_table(struct names *n, PyObject *table, enum table kind)
{
    PyObject *symbols = PyObject_GetAttrString(table, "symbols"), *children, *name, *symbol;
    Py_ssize_t at = 0;
    int r = symbols ? 0 : -1;

    while (r == 0 && PyDict_Next(symbols, &at, &name, &symbol))
        r = note(n, name, flags_of(n->bits, PyLong_AsLong(symbol), kind));
    Py_XDECREF(symbols);
    children = r == 0 ? PyObject_GetAttrString(table, "children") : NULL;
    if (!children)
        return -1;
    at = PyList_GET_SIZE(n->tables);
    r = PyList_SetSlice(n->tables, at, at, children);
    Py_DECREF(children);
    return r;
}

static int collect(struct names *n, PyObject *top)
{
    Py_ssize_t i;

    if (note_table(n, top, TABLE_TOP) < 0)
        return -1;
    for (i = 0; i < PyList_GET_SIZE(n->tables); i++)
        if (note_table(n, PyList_GET_ITEM(n->tables, i), kind_of(n, PyList_GET_ITEM(n->tables, i))) < 0)
            return -1;
    return 0;
}

static int put_names(PyObject *found, struct buf *out)
{
    PyObject *name, *flags;
    Py_ssize_t at = 0;

    wire_put_u32(out, (uint32_t)PyDict_GET_SIZE(found));
    while (PyDict_Next(found, &at, &name, &flags)) {
        const char *text = PyUnicode_AsUTF8(name);

        if (!text)
            return -1;
        wire_put_str(out, text);
        wire_put_u8(out, (uint8_t)PyLong_AsLong(flags));
    }
    return buf_failed(out) ? -1 : 0;
}

int describe_names(const struct node_types *types, const char *source, struct buf *out)
{
    struct names n = { &types->bits, PyDict_New(), PyList_New(0) };
    PyObject *top = PyObject_CallFunction(types->symtable, "sss", source, "<code>", "exec");
    int r = -1;

    if (n.found && n.tables && top && collect(&n, top) == 0)
        r = put_names(n.found, out);
    Py_XDECREF(top);
    Py_XDECREF(n.tables);
    Py_XDECREF(n.found);
    PyErr_Clear();
    return r;
}
