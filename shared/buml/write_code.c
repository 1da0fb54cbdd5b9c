/* Which user code can stand in the file as what it is. Looked at as text: that it is valid Python was asked before. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/buml/writer.h"

static const char *const builtin_annotations[] = { "None", "bool",   "dict", "float", "int",
                                                   "list", "object", "str",  "tuple", NULL };

static size_t word_len(const char *s)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_' ||
           (n > 0 && s[n] >= '0' && s[n] <= '9'))
        n++;
    return n;
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " ");
}

static bool word_is_in(const char *s, size_t len, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == len && memcmp(*words, s, len) == 0)
            return true;
    return false;
}

/* The end of an annotation that evaluates in every file; NULL: another one. */
static const char *skip_annotation(const char *s, bool *annotated)
{
    size_t len;

    s = skip_blanks(s);
    len = word_len(s);
    if (word_is_in(s, len, buml_annotation_names()))
        *annotated = true;
    else if (!word_is_in(s, len, builtin_annotations))
        return NULL;
    return skip_blanks(s + len);
}

/* Parameters from behind the opening parenthesis, to behind the closing one. */
static const char *skip_parameters(const char *s, bool *annotated)
{
    s = skip_blanks(s);
    while (*s != ')') {
        size_t len = word_len(s);

        if (!len)
            return NULL;
        s = skip_blanks(s + len);
        if (*s == ':' && !(s = skip_annotation(s + 1, annotated)))
            return NULL;
        if (*s == ',')
            s = skip_blanks(s + 1);
        else if (*s != ')')
            return NULL;
    }
    return s + 1;
}

/* "def name(parameters) -> type:" at s; where its block begins, NULL: something else. */
static const char *skip_head(const char *s, const char **ret_name, size_t *ret_len, bool *annotated)
{
    if (!str_starts(s, "def "))
        return NULL;
    *ret_name = skip_blanks(s + 4);
    *ret_len = word_len(*ret_name);
    s = skip_blanks(*ret_name + *ret_len);
    if (!*ret_len || *s != '(')
        return NULL;
    s = skip_parameters(s + 1, annotated);
    if (!s)
        return NULL;
    s = skip_blanks(s);
    if (s[0] == '-' && s[1] == '>' && !(s = skip_annotation(s + 2, annotated)))
        return NULL;
    return *s == ':' ? s + 1 : NULL;
}

static bool is_plain_text(const char *s)
{
    for (; *s; s++)
        if ((*s < 0x20 || *s > 0x7e) && *s != '\n' && *s != '\t')
            return false;
    return true;
}

/* Every further line is of the block, and the last one ends where its last statement does, but for line breaks: what
 * readers cut out of the file is all of it. */
static bool is_one_block(const char *block)
{
    const char *line = block, *end, *stop = block + strlen(block);

    while (stop > block && stop[-1] == '\n')
        stop--;
    while ((end = memchr(line, '\n', (size_t)(stop - line)))) {
        line = end + 1;
        if (*line != '\n' && *line != ' ' && *line != '\t')
            return false;
    }
    return stop > line && !memchr(line, '#', (size_t)(stop - line)) && !strchr(" \t;\\", stop[-1]);
}

int buml_plain_function(const char *source, char **ret, bool *ret_annotated)
{
    bool annotated = false;
    const char *name, *block;
    size_t len;

    if (!is_plain_text(source))
        return 0;
    block = skip_head(source, &name, &len, &annotated);
    if (!block || !is_one_block(block) || str_starts(name, "_agent_gui_"))
        return 0;
    *ret = mem_dup(name, len);
    if (!*ret)
        return -1;
    *ret_annotated = annotated;
    return 1;
}
