#include "shared/python/jail/jail.h"

#include <stdbool.h>
#include <string.h>

#include "shared/base/str.h"

#define CHUNK (256u << 10)
#define DEPTH_MAX 980 /* of the JSON: its reader takes 1000 */
#define TOTAL_MAX (64u << 20)

enum { LINE, COLUMN, END_LINE, END_COLUMN, PLACES };

struct writer {
    const struct node_types *types;
    PyObject *places[PLACES]; /* names of attributes */
    struct buf out;
    size_t sent;
    int (*emit)(const void *data, size_t len);
};

static int flush(struct writer *w, size_t at_least)
{
    if (buf_failed(&w->out))
        return -1;
    if (w->out.len < at_least || !w->out.len)
        return 0;
    w->sent += w->out.len;
    if (w->sent > TOTAL_MAX || w->emit(w->out.data, w->out.len) < 0)
        return -1;
    buf_clear(&w->out);
    return 0;
}

static int write_value(struct writer *w, PyObject *value, int depth);

static void write_bytes(struct writer *w, PyObject *value)
{
    Py_ssize_t n = PyBytes_GET_SIZE(value), i;
    const char *data = PyBytes_AS_STRING(value);

    buf_add_char(&w->out, '"');
    for (i = 0; i < n; i++)
        buf_add_fmt(&w->out, "%02x", (unsigned char)data[i]);
    buf_add_char(&w->out, '"');
}

/* JSON text of ours holds neither NUL nor half a surrogate pair; true when one had to be replaced.
 */
static bool write_text(struct writer *w, PyObject *value)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(value), i;
    struct buf utf8;
    bool replaced = false;

    if (PyUnicode_IS_ASCII(value) && !memchr(PyUnicode_DATA(value), 0, (size_t)n)) {
        buf_add_json_str(&w->out, PyUnicode_DATA(value), (size_t)n);
        return false;
    }
    buf_init(&utf8, 8u << 20);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(value, i);
        char out[4];

        if (c == 0 || (c >= 0xd800 && c < 0xe000)) {
            c = 0xfffd;
            replaced = true;
        }
        buf_add(&utf8, out, utf8_encode(c, out));
    }
    if (buf_failed(&utf8))
        w->out.failed = true;
    else
        buf_add_json_str(&w->out, utf8.data ? utf8.data : "", utf8.len);
    buf_release(&utf8);
    return replaced;
}

/* Integers of thousands of digits are refused by str(); their hexadecimal form always works. */
static int write_number(struct writer *w, PyObject *value)
{
    PyObject *s = PyObject_Repr(value);

    if (!s && PyLong_Check(value)) {
        PyErr_Clear();
        s = PyNumber_ToBase(value, 16);
    }
    if (!s)
        return -1;
    write_text(w, s);
    Py_DECREF(s);
    return 0;
}

static int write_constant(struct writer *w, PyObject *value)
{
    buf_add_fmt(&w->out, ",\"t\":\"%s\",\"v\":", Py_TYPE(value)->tp_name);
    if (value == Py_None || value == Py_Ellipsis)
        buf_add_str(&w->out, "null");
    else if (PyBool_Check(value))
        buf_add_str(&w->out, value == Py_True ? "true" : "false");
    else if (PyBytes_Check(value))
        write_bytes(w, value);
    else if (!PyUnicode_Check(value))
        return write_number(w, value);
    else if (write_text(w, value))
        buf_add_str(&w->out, ",\"x\":1");
    return 0;
}

static long place_of(const struct writer *w, PyObject *node, int place)
{
    PyObject *value = PyObject_GetAttr(node, w->places[place]);
    long number = value && PyLong_Check(value) ? PyLong_AsLong(value) : -1;

    Py_XDECREF(value);
    PyErr_Clear();
    return number;
}

/* Most nodes end on the line they begin on. */
static void write_position(struct writer *w, PyObject *node)
{
    long line = place_of(w, node, LINE), end_line;

    if (line < 0)
        return;
    end_line = place_of(w, node, END_LINE);
    buf_add_fmt(&w->out, ",\"l\":%ld,\"c\":%ld", line, place_of(w, node, COLUMN));
    if (end_line >= 0 && end_line != line)
        buf_add_fmt(&w->out, ",\"el\":%ld", end_line);
    if (end_line >= 0)
        buf_add_fmt(&w->out, ",\"ec\":%ld", place_of(w, node, END_COLUMN));
}

/* What is not there is not written: a long file has as much of it as of everything else. */
static bool is_nothing(PyObject *value)
{
    return value == Py_None || (PyList_Check(value) && !PyList_GET_SIZE(value));
}

static int write_field(struct writer *w, PyObject *node, PyObject *name, int depth)
{
    const char *key = PyUnicode_AsUTF8(name);
    PyObject *value;
    int r = 0;

    if (!key)
        return -1;
    if (strcmp(key, "ctx") == 0)
        return 0;
    value = PyObject_GetAttr(node, name);
    if (!value)
        return -1;
    if (Py_TYPE(node) == w->types->constant && strcmp(key, "value") == 0) {
        r = write_constant(w, value);
    } else if (!is_nothing(value)) {
        buf_add_str(&w->out, ",\"");
        buf_add_str(&w->out, key);
        buf_add_str(&w->out, "\":");
        r = write_value(w, value, depth);
    }
    Py_DECREF(value);
    return r;
}

static const char *node_name(PyObject *node)
{
    const char *name = Py_TYPE(node)->tp_name, *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

/* Operators and the like have neither fields nor a place. */
static bool is_bare(PyObject *fields, PyObject *node)
{
    return PyTuple_GET_SIZE(fields) == 0 && !PyObject_HasAttrString(node, "lineno");
}

static int write_node(struct writer *w, PyObject *node, int depth)
{
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(node), "_fields");
    Py_ssize_t i;
    int r = 0;

    if (!fields)
        return -1;
    if (is_bare(fields, node)) {
        buf_add_fmt(&w->out, "\"%s\"", node_name(node));
    } else {
        buf_add_fmt(&w->out, "{\"_\":\"%s\"", node_name(node));
        write_position(w, node);
        for (i = 0; r == 0 && i < PyTuple_GET_SIZE(fields); i++)
            r = write_field(w, node, PyTuple_GET_ITEM(fields, i), depth);
        buf_add_char(&w->out, '}');
    }
    Py_DECREF(fields);
    return r == 0 ? flush(w, CHUNK) : -1;
}

static int write_list(struct writer *w, PyObject *list, int depth)
{
    Py_ssize_t i;

    buf_add_char(&w->out, '[');
    for (i = 0; i < PyList_GET_SIZE(list); i++) {
        if (i)
            buf_add_char(&w->out, ',');
        if (write_value(w, PyList_GET_ITEM(list, i), depth) < 0)
            return -1;
    }
    buf_add_char(&w->out, ']');
    return 0;
}

static int write_value(struct writer *w, PyObject *value, int depth)
{
    if (depth > DEPTH_MAX)
        return -1;
    if (PyObject_TypeCheck(value, w->types->node))
        return write_node(w, value, depth + 1);
    if (PyList_Check(value))
        return write_list(w, value, depth + 1);
    if (PyUnicode_Check(value))
        write_text(w, value);
    else if (PyLong_Check(value))
        buf_add_fmt(&w->out, "%ld", PyLong_AsLong(value));
    else
        buf_add_str(&w->out, "null");
    return 0;
}

int tree_write(const struct node_types *types, PyObject *module, int (*emit)(const void *data, size_t len))
{
    static const char *const names[PLACES] = { "lineno", "col_offset", "end_lineno", "end_col_offset" };
    struct writer w = { .types = types, .emit = emit };
    int r = 0;
    size_t i;

    buf_init(&w.out, 40u << 20); /* one text constant of the largest source, escaped, fits */
    for (i = 0; i < PLACES; i++)
        r |= (w.places[i] = PyUnicode_InternFromString(names[i])) ? 0 : -1;
    if (r == 0)
        r = write_value(&w, module, 0);
    if (r == 0)
        r = flush(&w, 1);
    for (i = 0; i < PLACES; i++)
        Py_XDECREF(w.places[i]);
    PyErr_Clear();
    buf_release(&w.out);
    return r;
}
