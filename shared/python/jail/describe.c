#include "shared/python/jail/jail.h"

#include <stdbool.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "shared/python/answer.h"

/* The tree is walked with a stack on the heap: its depth is a stranger's choice. Nodes come in
 * source order but for what ast itself puts later (decorators after the body). Nothing changes the
 * tree meanwhile, so references are borrowed. */

struct walk {
    const struct node_types *types;
    PyObject **stack;
    size_t len, cap;
    struct buf imports, calls;
    uint32_t imports_len, calls_len;
};

static bool is(PyObject *node, PyTypeObject *type)
{
    return Py_TYPE(node) == type;
}

static uint32_t number(PyObject *node, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(node, attribute);
    long n = value && PyLong_Check(value) ? PyLong_AsLong(value) : 0;

    Py_XDECREF(value);
    PyErr_Clear();
    return n > 0 && n < INT_MAX ? (uint32_t)n : 0;
}

/* A str attribute, borrowed from the node (which keeps it); NULL when it is something else. */
static const char *text(PyObject *node, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(node, attribute);
    const char *s = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;

    Py_XDECREF(value);
    PyErr_Clear();
    return s;
}

static void note(struct buf *list, uint32_t *count, const char *name, uint32_t line)
{
    if (!name)
        return;
    wire_put_str(list, name);
    wire_put_u32(list, line);
    (*count)++;
}

static void note_imports(struct walk *w, PyObject *node)
{
    PyObject *names = PyObject_GetAttrString(node, "names");
    Py_ssize_t i;

    for (i = 0; names && i < PyList_GET_SIZE(names); i++)
        note(&w->imports, &w->imports_len, text(PyList_GET_ITEM(names, i), "name"), number(node, "lineno"));
    Py_XDECREF(names);
    PyErr_Clear();
}

static void note_call(struct walk *w, PyObject *node)
{
    PyObject *callee = PyObject_GetAttrString(node, "func");

    if (callee && is(callee, w->types->name))
        note(&w->calls, &w->calls_len, text(callee, "id"), number(node, "lineno"));
    Py_XDECREF(callee);
    PyErr_Clear();
}

static int push(struct walk *w, PyObject *node)
{
    void *array = w->stack;

    if (mem_grow(&array, w->len, &w->cap, sizeof(PyObject *)) < 0)
        return -1;
    w->stack = array;
    w->stack[w->len++] = node;
    return 0;
}

static void note_node(struct walk *w, PyObject *node)
{
    const struct node_types *t = w->types;

    if (is(node, t->import))
        note_imports(w, node);
    else if (is(node, t->import_from))
        note(&w->imports, &w->imports_len, text(node, "module"), number(node, "lineno"));
    else if (is(node, t->call))
        note_call(w, node);
}

/* Members of a node are what its dict holds, in the order of its fields: nothing is looked up by
 * name. */
static int push_members(struct walk *w, PyObject *node)
{
    PyTypeObject *base = w->types->node;
    PyObject *dict = PyObject_GenericGetDict(node, NULL), *value;
    size_t from = w->len, i;
    Py_ssize_t at = 0, k;
    int r = dict ? 0 : -1;

    while (r == 0 && PyDict_Next(dict, &at, NULL, &value)) {
        if (!PyList_CheckExact(value)) {
            r = PyObject_TypeCheck(value, base) ? push(w, value) : 0;
            continue;
        }
        for (k = 0; r == 0 && k < PyList_GET_SIZE(value); k++)
            if (PyObject_TypeCheck(PyList_GET_ITEM(value, k), base))
                r = push(w, PyList_GET_ITEM(value, k));
    }
    Py_XDECREF(dict);
    for (i = 0; r == 0 && i < (w->len - from) / 2; i++) { /* the first member is visited first */
        PyObject *swap = w->stack[from + i];

        w->stack[from + i] = w->stack[w->len - 1 - i];
        w->stack[w->len - 1 - i] = swap;
    }
    return r;
}

static int walk(struct walk *w, PyObject *module)
{
    int r = push(w, module);

    while (r == 0 && w->len) {
        PyObject *node = w->stack[--w->len];

        note_node(w, node);
        r = push_members(w, node);
    }
    return r;
}

/* A global statement that is neither in a function nor in a class: 1, 0, -1 out of memory. */
static int global_statement(const struct node_types *t, PyObject *module)
{
    struct walk w = { .types = t };
    int r = push(&w, module), found = 0;

    while (r == 0 && !found && w.len) {
        PyObject *node = w.stack[--w.len];

        found = is(node, t->global);
        if (!is(node, t->function) && !is(node, t->async_function) && !is(node, t->class) &&
            !PyObject_TypeCheck(node, t->expression))
            r = push_members(&w, node);
    }
    mem_free(w.stack);
    return r < 0 ? -1 : found;
}

static Py_ssize_t length(PyObject *node, const char *attribute)
{
    PyObject *list = PyObject_GetAttrString(node, attribute);
    Py_ssize_t n = list && PyList_Check(list) ? PyList_GET_SIZE(list) : 0;

    Py_XDECREF(list);
    PyErr_Clear();
    return n;
}

static bool has(PyObject *node, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(node, attribute);
    bool yes = value && value != Py_None;

    Py_XDECREF(value);
    PyErr_Clear();
    return yes;
}

/* kw_defaults has None where a keyword-only parameter has no default. */
static bool keywords_required(PyObject *args)
{
    PyObject *defaults = PyObject_GetAttrString(args, "kw_defaults");
    bool yes = false;
    Py_ssize_t i;

    for (i = 0; defaults && i < PyList_GET_SIZE(defaults); i++)
        yes = yes || PyList_GET_ITEM(defaults, i) == Py_None;
    Py_XDECREF(defaults);
    PyErr_Clear();
    return yes;
}

static void put_function(struct buf *out, PyObject *node, bool async)
{
    PyObject *args = PyObject_GetAttrString(node, "args");
    PyObject *ordinary = args ? PyObject_GetAttrString(args, "args") : NULL;
    const char *first = NULL;
    Py_ssize_t all, optional;
    uint8_t flags = 0;

    if (!ordinary || !PyList_Check(ordinary)) {
        out->failed = true;
        Py_XDECREF(args);
        Py_XDECREF(ordinary);
        return;
    }
    if (PyList_GET_SIZE(ordinary))
        first = text(PyList_GET_ITEM(ordinary, 0), "arg");
    all = length(args, "posonlyargs") + PyList_GET_SIZE(ordinary);
    optional = length(args, "defaults");
    flags |= async ? FUNCTION_ASYNC : 0;
    flags |= has(args, "vararg") ? FUNCTION_VARARGS : 0;
    flags |= keywords_required(args) ? FUNCTION_KEYWORDS_REQUIRED : 0;
    flags |= first ? FUNCTION_HAS_FIRST : 0;
    wire_put_str(out, text(node, "name"));
    wire_put_u8(out, flags);
    wire_put_u32(out, number(node, "lineno"));
    wire_put_u32(out, (uint32_t)(all - optional));
    wire_put_u32(out, (uint32_t)optional);
    wire_put_str(out, first);
    Py_DECREF(ordinary);
    Py_DECREF(args);
}

static void put_functions(const struct node_types *t, struct buf *out, PyObject *module, PyObject *body)
{
    Py_ssize_t n = PyList_GET_SIZE(body), i;
    int global = global_statement(t, module);
    uint32_t count = 0;

    out->failed = out->failed || global < 0;

    for (i = 0; i < n; i++) {
        PyObject *node = PyList_GET_ITEM(body, i);

        count += is(node, t->function) || is(node, t->async_function);
    }
    wire_put_u32(out, (uint32_t)n);
    wire_put_u8(out, (uint8_t)((n && is(PyList_GET_ITEM(body, 0), t->function) ? SOURCE_FIRST_IS_DEF : 0) |
                               (global > 0 ? SOURCE_GLOBAL_STATEMENT : 0)));
    wire_put_u32(out, count);
    for (i = 0; i < n; i++) {
        PyObject *node = PyList_GET_ITEM(body, i);

        if (is(node, t->function) || is(node, t->async_function))
            put_function(out, node, is(node, t->async_function));
    }
}

static int put_uses(struct buf *out, uint32_t count, const struct buf *list)
{
    wire_put_u32(out, count);
    if (list->failed)
        return -1;
    return buf_add(out, list->data, list->len);
}

int describe_facts(const struct node_types *types, PyObject *module, const char *source, struct buf *out)
{
    PyObject *body = PyObject_GetAttrString(module, "body");
    struct walk w = { .types = types };
    int r = -1;

    buf_init(&w.imports, out->max);
    buf_init(&w.calls, out->max);
    if (body && PyList_Check(body) && walk(&w, module) == 0) {
        put_functions(types, out, module, body);
        r = put_uses(out, w.imports_len, &w.imports);
        r = put_uses(out, w.calls_len, &w.calls) < 0 || r < 0 || buf_failed(out) ? -1 : 0;
        r = r < 0 ? -1 : describe_names(types, source, out);
    }
    PyErr_Clear();
    buf_release(&w.imports);
    buf_release(&w.calls);
    mem_free(w.stack);
    Py_XDECREF(body);
    return r;
}
