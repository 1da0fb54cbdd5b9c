#include "shared/diagram/code.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/text.h"
#include "shared/python/parser.h"

static const char *const modules[] = {
    "os",   "subprocess", "socket",  "sys",    "ctypes",  "importlib", "shutil", "urllib",
    "http", "ftplib",     "smtplib", "pickle", "marshal", "builtins",  "pty",    "signal",
};
static const char *const builtins[] = { "exec", "eval", "__import__", "compile", "open", "breakpoint" };

static bool is_listed(const char *const *list, size_t len, const char *word, size_t word_len)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (strlen(list[i]) == word_len && memcmp(list[i], word, word_len) == 0)
            return true;
    return false;
}

#define SAY(c, f, ...) finding_add((f), FINDING_ERROR, (c)->rule, (c)->where, __VA_ARGS__)

/* ---- one function per rule; each adds what it finds
 * ------------------------------------------------------------ */

static void rule_blank(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    (void)facts;
    if (text_is_blank(c->source))
        SAY(c, f, "%s: the code is blank", c->title);
}

static void rule_syntax(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    if (str_starts(c->source, "\xef\xbb\xbf"))
        SAY(c, f, "%s: line 1: the code starts with a byte order mark (U+FEFF), which is no Python", c->title);
    else if (!facts->valid)
        SAY(c, f, "%s: line %d: the code is no valid Python: %s", c->title, facts->error_line,
            SHOWN(facts->error ? facts->error : "invalid syntax"));
}

static void rule_one_statement(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    if (facts->statements != 1)
        SAY(c, f,
            "%s: the code must be exactly one function, but it holds %zu statements at its top "
            "level",
            c->title, facts->statements);
}

static void rule_is_def(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    if (!facts->first_is_def || !facts->functions_len)
        SAY(c, f, "%s: the code must be a plain function: def name(session): ...", c->title);
}

static void rule_session(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    const struct python_function *fn = &facts->functions[0];

    if (!fn->first_ordinary)
        SAY(c, f, "%s: line %d: function \"%s\" needs a first parameter named session", c->title, fn->line,
            SHOWN(fn->name));
    else if (strcmp(fn->first_ordinary, "session") != 0)
        SAY(c, f, "%s: line %d: the first parameter of function \"%s\" must be named session, not \"%s\"", c->title,
            fn->line, SHOWN(fn->name), SHOWN(fn->first_ordinary));
}

static void rule_imports(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    size_t i;

    for (i = 0; i < facts->imports_len; i++) {
        const char *name = facts->imports[i].name;

        if (is_listed(modules, ARRAY_LEN(modules), name, strcspn(name, ".")))
            SAY(c, f, "%s: line %d: importing the module \"%s\" is not allowed here", c->title, facts->imports[i].line,
                SHOWN(name));
    }
}

static void rule_calls(const struct code *c, const struct python_facts *facts, struct findings *f)
{
    size_t i;

    for (i = 0; i < facts->calls_len; i++) {
        const char *name = facts->calls[i].name;

        if (is_listed(builtins, ARRAY_LEN(builtins), name, strlen(name)))
            SAY(c, f, "%s: line %d: calling the built-in function %s() is not allowed here", c->title,
                facts->calls[i].line, SHOWN(name));
    }
}

static const struct {
    unsigned kinds;
    bool session, stops;
    void (*check)(const struct code *, const struct python_facts *, struct findings *);
} rules[] = {
    /* 1 */ { CODE_CUSTOM | CODE_CONDITION, false, true, rule_blank },
    /* 2 */ { CODE_CUSTOM | CODE_TOOL | CODE_CONDITION, false, true, rule_syntax },
    /* 3 */ { CODE_CUSTOM, false, true, rule_one_statement },
    /* 4 */ { CODE_CUSTOM, false, true, rule_is_def },
    /* 5 */ { CODE_CUSTOM, false, true, rule_session },
    /* 6 */ { CODE_CUSTOM | CODE_TOOL | CODE_CONDITION, true, false, rule_imports },
    /* 7 */ { CODE_CUSTOM | CODE_TOOL | CODE_CONDITION, true, false, rule_calls },
};

/* Which piece the parser gave up on, when it is the piece's doing. */
static int given_up(const struct code *c, struct findings *f, const struct err *err)
{
    if (err && err->kind == ERR_BAD_REQUEST)
        SAY(c, f, "%s: %s", c->title, err->msg);
    return -1;
}

int code_check(const struct code *c, struct python_parser *parser, struct findings *f, struct python_facts *ret_facts,
               struct err *err)
{
    struct python_facts facts = { 0 };
    size_t before = f->errors, len = strlen(c->source), i;

    if (len > PYTHON_SOURCE_MAX) {
        SAY(c, f, "%s: the code is longer than %u MiB", c->title, PYTHON_SOURCE_MAX >> 20);
        if (ret_facts)
            *ret_facts = facts;
        return 1;
    }
    if (!text_is_blank(c->source) && python_parse(parser, c->source, len, &facts, err) < 0)
        return given_up(c, f, err);
    for (i = 0; i < ARRAY_LEN(rules); i++) {
        if (!(rules[i].kinds & c->kind) || (rules[i].session && !c->session))
            continue;
        rules[i].check(c, &facts, f);
        if (rules[i].stops && f->errors > before)
            break;
    }
    if (ret_facts)
        *ret_facts = facts;
    else
        python_facts_release(&facts);
    return (int)(f->errors - before);
}
