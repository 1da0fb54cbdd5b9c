#include "shared/python/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "shared/base/marks.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"

#define SLOTS_FIRST 64
#define NAME_ROOM ((size_t)512) /* prefix, safe form, suffix */

struct names_entry {
    char *word;
    size_t next; /* suffix to try first when this word is wanted again */
};

/* CPython 3.11, sorted: keyword.kwlist; then keyword.softkwlist and dir(builtins) with what site
 * adds. */
static const char *const keywords[] = { "False",  "None",   "True",    "and",      "as",       "assert", "async",
                                        "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                        "else",   "except", "finally", "for",      "from",     "global", "if",
                                        "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                        "pass",   "raise",  "return",  "try",      "while",    "with",   "yield" };

/* clang-format off */
static const char *const other_words[] = {
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError",
    "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning",
    "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError",
    "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError", "OverflowError",
    "PendingDeprecationWarning", "PermissionError", "ProcessLookupError", "RecursionError",
    "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration",
    "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError",
    "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError",
    "Warning", "WindowsError", "ZeroDivisionError", "_", "__build_class__", "__debug__",
    "__doc__", "__import__", "__loader__", "__name__", "__package__", "__spec__", "abs", "aiter",
    "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable",
    "case", "chr", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dict",
    "dir", "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format",
    "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int",
    "isinstance", "issubclass", "iter", "len", "license", "list", "locals", "map", "match", "max",
    "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property",
    "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
    "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip"
};
/* clang-format on */

static int compare_word(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool is_keyword(const char *s)
{
    return bsearch(s, keywords, ARRAY_LEN(keywords), sizeof(keywords[0]), compare_word);
}

/* Of all these words only those that begin with an underscore have one: most names are told apart by that. */
bool name_is_reserved(const char *s)
{
    if (*s != '_' && strchr(s, '_'))
        return false;
    return is_keyword(s) || bsearch(s, other_words, ARRAY_LEN(other_words), sizeof(other_words[0]), compare_word);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool name_is_identifier(const char *s)
{
    if (!s || (!is_letter(*s) && *s != '_'))
        return false;
    for (; *s; s++)
        if (!is_letter(*s) && !is_digit(*s) && *s != '_')
            return false;
    return true;
}

/* NFC of the part that is looked at, malloc'ed by the library; NULL when raw is no UTF-8 or memory
 * is short. */
static char *compose(const char *raw, size_t len)
{
    utf8proc_uint8_t *out = NULL;

    if (utf8proc_map((const utf8proc_uint8_t *)raw, (utf8proc_ssize_t)len, &out, UTF8PROC_STABLE | UTF8PROC_COMPOSE) <
        0)
        return NULL;
    return (char *)out;
}

/* Letters and digits in lower case with single underscores between them; out holds NAME_MAX_LEN
 * + 1. */
static void fold(const char *s, size_t len, char *out)
{
    size_t n = 0, i;
    bool gap = false;

    for (i = 0; i < len; i++) {
        char c = s[i];

        if (!is_letter(c) && !is_digit(c)) {
            gap = n > 0;
            continue;
        }
        if (n + gap >= NAME_MAX_LEN)
            break;
        if (gap)
            out[n++] = '_';
        gap = false;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[n] = '\0';
}

/* NFC is taken of a bounded part only: ordering a long run of combining marks costs time by its
 * square. */
static void stem(const char *raw, char out[NAME_MAX_LEN + 1])
{
    size_t len = strnlen(raw, NAME_RAW_MAX), i;
    char *composed = NULL;

    if (len == NAME_RAW_MAX)
        len = utf8_floor(raw, len);
    for (i = 0; i < len && (unsigned char)raw[i] < 0x80; i++)
        ;
    if (i < len && !marks_pile_up(raw, len))
        composed = compose(raw, len);
    if (composed)
        fold(composed, strlen(composed), out);
    else
        fold(raw, len, out);
    free(composed);
    if (!*out)
        memcpy(out, "unnamed", sizeof("unnamed"));
}

/* out holds NAME_MAX_LEN + 3. */
static void safe(const char *raw, char *out)
{
    size_t skip = 0, len;
    char bare[NAME_MAX_LEN + 1];

    stem(raw, bare);
    if (is_digit(bare[0])) {
        out[skip++] = 'n';
        out[skip++] = '_';
    }
    len = strlen(bare);
    memcpy(out + skip, bare, len + 1);
    if (is_keyword(out))
        (void)snprintf(out + skip + len, 2, "_");
}

char *name_safe(const char *raw)
{
    char out[NAME_MAX_LEN + 3];

    safe(raw, out);
    return mem_strdup(out);
}

void names_init(struct names *n)
{
    *n = (struct names){ 0 };
    hash_key_new(&n->key);
}

void names_release(struct names *n)
{
    size_t i;

    if (!n)
        return;
    for (i = 0; i < n->len; i++)
        mem_free(n->entries[i].word);
    mem_free(n->entries);
    mem_free(n->slots);
    *n = (struct names){ .key = n->key, .is_taken = n->is_taken };
}

/* Slot of the word, or the free one where it belongs. */
static uint32_t *slot_of(const struct names *n, const char *word)
{
    size_t mask = n->slots_len - 1, i = (size_t)hash_text(&n->key, word) & mask;

    while (n->slots[i] && strcmp(n->entries[n->slots[i] - 1].word, word) != 0)
        i = (i + 1) & mask;
    return &n->slots[i];
}

static struct names_entry *find(const struct names *n, const char *word)
{
    uint32_t at = n->slots_len ? *slot_of(n, word) : 0;

    return at ? &n->entries[at - 1] : NULL;
}

bool names_taken(const struct names *n, const char *word)
{
    return find(n, word) || (n->is_taken && n->is_taken(word));
}

static int grow_slots(struct names *n)
{
    size_t want = n->slots_len ? n->slots_len * 2 : SLOTS_FIRST, i;
    uint32_t *bigger;

    if (n->len * 2 < n->slots_len)
        return 0;
    bigger = mem_zalloc(want, sizeof(*bigger));
    if (!bigger)
        return -1;
    mem_free(n->slots);
    n->slots = bigger;
    n->slots_len = want;
    for (i = 0; n->entries && i < n->len; i++)
        *slot_of(n, n->entries[i].word) = (uint32_t)(i + 1);
    return 0;
}

/* Adds a word that is not there yet; the new entry, or NULL out of memory. */
static struct names_entry *add(struct names *n, const char *word, struct err *err)
{
    void *array = n->entries;
    char *copy = NULL;

    if (n->len >= UINT32_MAX / 2 || grow_slots(n) < 0)
        goto fail;
    if (mem_grow(&array, n->len, &n->cap, sizeof(*n->entries)) < 0)
        goto fail;
    n->entries = array;
    copy = mem_strdup(word);
    if (!copy)
        goto fail;
    n->entries[n->len] = (struct names_entry){ .word = copy, .next = 2 };
    *slot_of(n, word) = (uint32_t)(n->len + 1);
    n->len++;
    return &n->entries[n->len - 1];
fail:
    err_nomem(err);
    return NULL;
}

int names_reserve(struct names *n, const char *word, struct err *err)
{
    return find(n, word) || add(n, word, err) ? 0 : -1;
}

/* Every suffix is tried at most once per base, so n equal names cost n steps. */
static const char *make_suffixed(struct names *n, const char *base, struct err *err)
{
    size_t origin = (size_t)(find(n, base) - n->entries), k;
    struct names_entry *made;
    char name[NAME_ROOM];

    for (k = n->entries[origin].next;; k++) {
        (void)snprintf(name, sizeof(name), "%s_%zu", base, k);
        if (!names_taken(n, name))
            break;
    }
    made = add(n, name, err);
    if (!made)
        return NULL;
    n->entries[origin].next = k + 1;
    return made->word;
}

static const char *make_unique(struct names *n, const char *base, struct err *err)
{
    struct names_entry *made;

    if (!find(n, base)) {
        made = add(n, base, err);
        if (!made || (!name_is_reserved(base) && !(n->is_taken && n->is_taken(base))))
            return made ? made->word : NULL;
    }
    return make_suffixed(n, base, err);
}

const char *names_make(struct names *n, const char *raw, struct err *err)
{
    char base[NAME_MAX_LEN + 3];

    safe(raw, base);
    return make_unique(n, base, err);
}

const char *names_make_prefixed(struct names *n, const char *prefix, const char *raw, struct err *err)
{
    char bare[NAME_MAX_LEN + 1], base[NAME_ROOM];
    size_t len;

    stem(raw, bare);
    len = str_append(base, sizeof(base), 0, prefix);
    len = str_append(base, sizeof(base), len, "_");
    str_append(base, sizeof(base), len, bare);
    return make_unique(n, base, err);
}
