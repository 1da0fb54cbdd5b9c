#include "shared/python/answer.h"

#include <limits.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"

/* ANSWER_FACTS on the wire (the jail's facts.c writes it):
 *   u32 statements, u8 flags,
 *   u32 count, then per function: str name, u8 flags, u32 line, u32 required, u32 optional, str
 * first ordinary, u32 count, then per import: str module, u32 line, u32 count, then per call: str
 * name, u32 line, u32 count, then per name of the top level: str name, u8 flags */

void python_facts_release(struct python_facts *f)
{
    size_t i;

    if (!f)
        return;
    mem_free(f->error);
    for (i = 0; i < f->functions_len; i++) {
        mem_free(f->functions[i].name);
        mem_free(f->functions[i].first_ordinary);
    }
    for (i = 0; i < f->imports_len; i++)
        mem_free(f->imports[i].name);
    for (i = 0; i < f->calls_len; i++)
        mem_free(f->calls[i].name);
    mem_free(f->functions);
    mem_free(f->imports);
    mem_free(f->calls);
    for (i = 0; i < f->names_len; i++)
        mem_free(f->names[i].name);
    mem_free(f->names);
    *f = (struct python_facts){ 0 };
}

static int get_int(struct wire_in *in)
{
    uint32_t v = wire_get_u32(in);

    if (v > INT_MAX)
        in->bad = true;
    return in->bad ? 0 : (int)v;
}

/* Copies the next string: 0, -1 malformed (in->bad) or out of memory. */
static int get_text(struct wire_in *in, char **ret)
{
    const char *s = wire_get_str(in, PYTHON_SOURCE_MAX);

    if (in->bad)
        return -1;
    *ret = mem_strdup(s);
    return *ret ? 0 : -1;
}

static int get_function(struct wire_in *in, struct python_function *f)
{
    uint8_t flags;

    if (get_text(in, &f->name) < 0)
        return -1;
    flags = wire_get_u8(in);
    f->async = flags & FUNCTION_ASYNC;
    f->varargs = flags & FUNCTION_VARARGS;
    f->keywords_required = flags & FUNCTION_KEYWORDS_REQUIRED;
    f->line = get_int(in);
    f->required = (size_t)get_int(in);
    f->optional = (size_t)get_int(in);
    if (flags & FUNCTION_HAS_FIRST)
        return get_text(in, &f->first_ordinary);
    wire_get_str(in, 0);
    return in->bad ? -1 : 0;
}

/* The array grows as elements really come, so a lying count costs nothing. */
static int get_functions(struct wire_in *in, struct python_facts *f)
{
    uint32_t n = wire_get_u32(in), i;
    size_t cap = 0;

    for (i = 0; i < n && !in->bad; i++) {
        void *array = f->functions;

        if (mem_grow(&array, f->functions_len, &cap, sizeof(*f->functions)) < 0)
            return -1;
        f->functions = array;
        f->functions[f->functions_len] = (struct python_function){ 0 };
        if (get_function(in, &f->functions[f->functions_len++]) < 0)
            return -1;
    }
    return in->bad ? -1 : 0;
}

static int get_uses(struct wire_in *in, struct python_name_use **uses, size_t *len)
{
    uint32_t n = wire_get_u32(in), i;
    size_t cap = 0;

    for (i = 0; i < n && !in->bad; i++) {
        void *array = *uses;

        if (mem_grow(&array, *len, &cap, sizeof(**uses)) < 0)
            return -1;
        *uses = array;
        (*uses)[*len] = (struct python_name_use){ 0 };
        if (get_text(in, &(*uses)[(*len)++].name) < 0)
            return -1;
        (*uses)[*len - 1].line = get_int(in);
    }
    return in->bad ? -1 : 0;
}

static int get_names(struct wire_in *in, struct python_facts *f)
{
    uint32_t n = wire_get_u32(in), i;
    size_t cap = 0;

    for (i = 0; i < n && !in->bad; i++) {
        void *array = f->names;

        if (mem_grow(&array, f->names_len, &cap, sizeof(*f->names)) < 0)
            return -1;
        f->names = array;
        f->names[f->names_len] = (struct python_name){ 0 };
        if (get_text(in, &f->names[f->names_len++].name) < 0)
            return -1;
        f->names[f->names_len - 1].flags = wire_get_u8(in);
    }
    return in->bad ? -1 : 0;
}

static int get_invalid(struct wire_in *in, struct python_facts *f)
{
    f->error_line = get_int(in);
    f->error_column = get_int(in);
    if (f->error_line < 1)
        f->error_line = 1;
    return get_text(in, &f->error);
}

static int get_facts(struct wire_in *in, struct python_facts *f)
{
    uint8_t flags;

    f->statements = wire_get_u32(in);
    flags = wire_get_u8(in);
    f->first_is_def = flags & SOURCE_FIRST_IS_DEF;
    f->global_statement = flags & SOURCE_GLOBAL_STATEMENT;
    if (get_functions(in, f) < 0 || get_uses(in, &f->imports, &f->imports_len) < 0)
        return -1;
    return get_uses(in, &f->calls, &f->calls_len) < 0 ? -1 : get_names(in, f);
}

int python_answer_decode(enum python_answer type, const void *data, size_t len, struct python_facts *ret,
                         struct err *err)
{
    struct python_facts f = { 0 };
    struct wire_in in;
    int r = 0;

    if (type != ANSWER_FACTS && type != ANSWER_VALID && type != ANSWER_INVALID)
        return err_set(err, ERR_UPSTREAM, 0, "the Python checker answered with message %d", (int)type);
    wire_start(&in, data, len);
    f.valid = type != ANSWER_INVALID;
    if (type == ANSWER_FACTS)
        r = get_facts(&in, &f);
    else if (type == ANSWER_INVALID)
        r = get_invalid(&in, &f);
    if (r == 0 && wire_end(&in) == 0) {
        *ret = f;
        return 0;
    }
    python_facts_release(&f);
    if (r < 0 && !in.bad)
        return err_nomem(err);
    return err_set(err, ERR_UPSTREAM, 0, "the Python checker gave a malformed answer");
}
