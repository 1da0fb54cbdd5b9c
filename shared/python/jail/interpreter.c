#include "shared/python/jail/jail.h"

#include <stdbool.h>
#include <string.h>

#include "shared/base/str.h"

#define FILE_NAME "<code>"
#define TREE_RECURSION 4000 /* the tree's own limit is three times this; judging keeps CPython's default */

static PyObject *compile_text(const char *source, int flag)
{
    PyCompilerFlags flags = _PyCompilerFlags_INIT;

    /* As for compile() of a str: a coding cookie is a comment, a byte order mark an invalid
     * character. */
    flags.cf_flags = flag | PyCF_IGNORE_COOKIE;
    return Py_CompileStringExFlags(source, FILE_NAME, Py_file_input, &flags, 0);
}

/* Whatever compiling imports lazily has to be there before files cannot be opened any more. */
static int warm_up(void)
{
    static const char *const sources[] = {
        "'\\N{LATIN SMALL LETTER A}'", /* unicodedata */
        "\xc3\xa9 = '\xef\xac\x81'",   /* normalised identifier */
        "if '1' is '1': '\\d'",        /* warnings */
        "def f(:",                     /* syntax error */
        "return",                      /* symbol table error */
        "x = 1e400j + 10**5 * 'ab'",
    };
    size_t i;

    for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct verdict v;

        interpreter_judge(sources[i], strlen(sources[i]), &v);
        Py_XDECREF(interpreter_tree(sources[i]));
        PyErr_Clear();
    }
    return 0;
}

static int load_types(struct node_types *types)
{
    const struct {
        const char *name;
        PyTypeObject **slot;
    } rows[] = {
        { "AST", &types->node },
        { "FunctionDef", &types->function },
        { "AsyncFunctionDef", &types->async_function },
        { "Import", &types->import },
        { "ImportFrom", &types->import_from },
        { "Call", &types->call },
        { "Name", &types->name },
        { "Constant", &types->constant },
        { "Global", &types->global },
        { "ClassDef", &types->class },
        { "expr", &types->expression },
    };
    PyObject *module = PyImport_ImportModule("_ast");
    size_t i;

    for (i = 0; module && i < sizeof(rows) / sizeof(rows[0]); i++) {
        PyObject *type = PyObject_GetAttrString(module, rows[i].name);

        if (!type || !PyType_Check(type))
            return -1;
        *rows[i].slot = (PyTypeObject *)type;
    }
    return module ? 0 : -1;
}

static int load_symbol_bits(PyObject *module, struct symbol_bits *bits)
{
    const struct {
        const char *name;
        long *slot;
    } rows[] = {
        { "DEF_GLOBAL", &bits->global },
        { "DEF_LOCAL", &bits->local },
        { "DEF_IMPORT", &bits->import },
        { "USE", &bits->use },
        { "SCOPE_OFF", &bits->scope_shift },
        { "SCOPE_MASK", &bits->scope_mask },
        { "GLOBAL_EXPLICIT", &bits->global_explicit },
        { "GLOBAL_IMPLICIT", &bits->global_implicit },
        { "TYPE_CLASS", &bits->class_table },
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        PyObject *value = PyObject_GetAttrString(module, rows[i].name);

        *rows[i].slot = value ? PyLong_AsLong(value) : -1;
        Py_XDECREF(value);
        if (*rows[i].slot < 0)
            return -1;
    }
    return 0;
}

static int load_symbols(struct node_types *types)
{
    PyObject *module = PyImport_ImportModule("_symtable");

    if (!module || load_symbol_bits(module, &types->bits) < 0)
        return -1;
    types->symtable = PyObject_GetAttrString(module, "symtable");
    return types->symtable ? 0 : -1;
}

static PyStatus configure(PyConfig *config)
{
    PyPreConfig pre;
    PyStatus status;

    PyPreConfig_InitIsolatedConfig(&pre);
    pre.utf8_mode = 1;
    status = Py_PreInitialize(&pre);
    if (PyStatus_Exception(status))
        return status;
    PyConfig_InitIsolatedConfig(config);
    config->site_import = 0;
    config->install_signal_handlers = 0;
    config->write_bytecode = 0;
    config->pathconfig_warnings = 0;
    config->parse_argv = 0;
    /* Found by its own path, a pyvenv.cfg beside this program would choose the library. */
    status = PyConfig_SetString(config, &config->program_name, L"/usr/bin/python3.11");
    if (PyStatus_Exception(status))
        return status;
    return PyWideStringList_Append(&config->warnoptions, L"ignore");
}

int interpreter_start(struct node_types *ret)
{
    PyConfig config;
    PyStatus status = configure(&config);

    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        fprintf(stderr, "agentsim-pyparse: %s\n", status.err_msg ? status.err_msg : "Python does not start");
        return -1;
    }
    if (load_types(ret) < 0 || load_symbols(ret) < 0 || warm_up() < 0) {
        PyErr_Print();
        return -1;
    }
    return 0;
}

static void set_message(struct verdict *v, const char *text, size_t len)
{
    size_t n = len;

    if (n >= sizeof(v->message))
        n = utf8_floor(text, sizeof(v->message) - 1);
    memcpy(v->message, text, n);
    v->message[n] = '\0';
    if (strlen(v->message) < n) /* a NUL of the source, quoted by CPython */
        v->message[strlen(v->message)] = '\0';
}

static int get_number(PyObject *exception, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(exception, attribute);
    long n = value && PyLong_Check(value) ? PyLong_AsLong(value) : 0;

    Py_XDECREF(value);
    PyErr_Clear();
    return n > 0 && n < INT_MAX ? (int)n : 0;
}

/* Turns the exception that is set into a verdict. Reading it can itself run out of memory or depth.
 */
static void take_exception(struct verdict *v)
{
    PyObject *type, *value, *trace, *text = NULL;
    Py_ssize_t len;
    const char *s;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    v->line = 1;
    if (value && PyObject_TypeCheck(value, (PyTypeObject *)PyExc_SyntaxError)) {
        text = PyObject_GetAttrString(value, "msg");
        v->line = get_number(value, "lineno");
        v->column = get_number(value, "offset");
    } else if (value) {
        text = PyObject_Str(value);
    }
    s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    if (s && len)
        set_message(v, s, (size_t)len);
    else if (type && PyErr_GivenExceptionMatches(type, PyExc_MemoryError))
        snprintf(v->message, sizeof(v->message), "too complex: out of memory");
    else
        snprintf(v->message, sizeof(v->message), "invalid syntax");
    if (v->line < 1)
        v->line = 1;
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static int line_of(const char *source, size_t at)
{
    int line = 1;
    size_t i;

    for (i = 0; i < at; i++)
        line += source[i] == '\n' || (source[i] == '\r' && source[i + 1] != '\n');
    return line;
}

void interpreter_judge(const char *source, size_t len, struct verdict *ret)
{
    const char *nul = memchr(source, '\0', len);
    PyObject *code;

    *ret = (struct verdict){ .line = 1 };
    if (nul) {
        ret->line = line_of(source, (size_t)(nul - source));
        snprintf(ret->message, sizeof(ret->message), "source code string cannot contain null bytes");
        return;
    }
    if (!utf8_valid(source, len)) {
        snprintf(ret->message, sizeof(ret->message), "source code is not UTF-8");
        return;
    }
    code = compile_text(source, 0);
    ret->valid = code;
    if (!code)
        take_exception(ret);
    Py_XDECREF(code);
}

PyObject *interpreter_tree(const char *source)
{
    int limit = Py_GetRecursionLimit();
    PyObject *tree;

    Py_SetRecursionLimit(TREE_RECURSION);
    tree = compile_text(source, PyCF_ONLY_AST);
    Py_SetRecursionLimit(limit);
    PyErr_Clear();
    return tree;
}
