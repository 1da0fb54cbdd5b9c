/* Values of a diagram read by rule: section 2.2 of the agent diagram contract. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unictype.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/reader.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"

#define NUMBER_TEXT_MAX 4400 /* Python reads no longer numbers */

bool value_is_empty(const cJSON *v)
{
    if (!v || cJSON_IsNull(v) || cJSON_IsFalse(v))
        return true;
    if (cJSON_IsNumber(v))
        return v->valuedouble == 0.0;
    if (cJSON_IsString(v))
        return !*v->valuestring;
    return (cJSON_IsArray(v) || cJSON_IsObject(v)) && !v->child;
}

bool value_truth(const cJSON *v, bool absent)
{
    return v ? !value_is_empty(v) : absent;
}

const cJSON *first_given(const cJSON *a, const cJSON *b)
{
    return value_is_empty(a) ? b : a;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number as Python's int() and float() read it, spelled as C does: trimmed, digits of every script as ASCII, without
 * underscores between two digits. Anything else that C would not know stays in the way. Empty when it is too long. */
static void plain_number(const char *s, char out[static NUMBER_TEXT_MAX])
{
    size_t len, width, n = 0;
    bool underscore = false;

    for (s = text_trim_span(s, &len); len && n < NUMBER_TEXT_MAX - 2; s += width, len -= width) {
        int32_t cp = utf8_decode(s, len, &width);
        int digit = cp < 0 ? -1 : uc_decimal_value((ucs4_t)cp);

        if (underscore && digit < 0)
            break;
        underscore = cp == '_' && n && is_digit(out[n - 1]);
        if (!underscore)
            out[n++] = digit >= 0 ? (char)('0' + digit) : cp > 0 && cp < 0x80 ? (char)cp : '?';
    }
    out[len ? 0 : n] = '\0';
    if (underscore)
        out[0] = '\0';
}

/* Optional sign and digits with white space around. Numbers beyond 64 bits become the nearest that
 * fits. */
static bool text_int(const char *text, int64_t *ret)
{
    char s[NUMBER_TEXT_MAX];
    size_t i;
    bool minus, digits = false;
    int64_t v = 0;

    plain_number(text, s);
    minus = s[0] == '-';
    for (i = s[0] == '-' || s[0] == '+'; s[i]; i++) {
        if (!is_digit(s[i]))
            return false;
        digits = true;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s[i] - '0', &v))
            v = INT64_MIN;
    }
    *ret = minus ? v : v == INT64_MIN ? INT64_MAX : -v;
    return digits;
}

bool value_int(const cJSON *v, int64_t *ret)
{
    if (cJSON_IsBool(v)) {
        *ret = cJSON_IsTrue(v);
        return true;
    }
    if (cJSON_IsNumber(v)) {
        if (!isfinite(v->valuedouble))
            return false;
        *ret = json_integer(v);
        return true;
    }
    return cJSON_IsString(v) && text_int(v->valuestring, ret);
}

bool value_float(const cJSON *v, double *ret)
{
    char text[NUMBER_TEXT_MAX];

    if (cJSON_IsBool(v)) {
        *ret = cJSON_IsTrue(v);
        return true;
    }
    if (cJSON_IsNumber(v)) {
        *ret = v->valuedouble;
        return isfinite(v->valuedouble);
    }
    if (!cJSON_IsString(v))
        return false;
    plain_number(v->valuestring, text);
    return str_to_double(text, ret) == 0;
}

/* As Python shows it. */
static char *number_text(const cJSON *v)
{
    char text[DOUBLE_TEXT_MAX];

    if (!json_is_float(v) && v->valuestring)
        return mem_strdup(v->valuestring);
    if (!json_is_float(v))
        snprintf(text, sizeof(text), "%" PRId64, json_integer(v));
    else if (isfinite(v->valuedouble))
        str_from_double(v->valuedouble, text);
    else
        snprintf(text, sizeof(text), "%s", v->valuedouble < 0 ? "-inf" : "inf");
    return mem_strdup(text);
}

char *value_text(const cJSON *v)
{
    char *printed, *copy;

    if (!v || cJSON_IsNull(v))
        return mem_strdup("");
    if (cJSON_IsString(v))
        return mem_strdup(v->valuestring);
    if (cJSON_IsBool(v))
        return mem_strdup(cJSON_IsTrue(v) ? "true" : "false");
    if (cJSON_IsNumber(v))
        return number_text(v);
    printed = cJSON_PrintUnformatted(v);
    if (!printed)
        return NULL;
    copy = mem_strdup(printed);
    cJSON_free(printed);
    return copy;
}

bool value_is_finite(const cJSON *v, const char **ret_key)
{
    const cJSON *c;

    if (cJSON_IsNumber(v))
        return isfinite(v->valuedouble);
    for (c = cJSON_IsArray(v) || cJSON_IsObject(v) ? v->child : NULL; c; c = c->next)
        if (!value_is_finite(c, ret_key)) {
            if (c->string)
                *ret_key = c->string;
            return false;
        }
    return true;
}

bool value_fits_depth(const cJSON *v, unsigned depth)
{
    const cJSON *c;

    if (!cJSON_IsArray(v) && !cJSON_IsObject(v))
        return true;
    if (!depth)
        return false;
    for (c = v->child; c; c = c->next)
        if (!value_fits_depth(c, depth - 1))
            return false;
    return true;
}

/* ---- rows
 * -----------------------------------------------------------------------------------------------------
 */

struct place { /* where a row stands, for sentences */
    struct reader *r;
    const struct element *e;
    const char *title;
};

static bool is_text_row(enum field_as as)
{
    return as <= FIELD_NAME;
}

/* The text a row makes of one member: 0 and *ret (NULL: nothing, take the default), or -1. */
static int row_text(const struct place *p, const struct field_row *row, const char *key, char **ret)
{
    const cJSON *v = json_get(p->e->node, key);
    char *raw, *text;

    *ret = NULL;
    if (row->as == FIELD_TEXT ? !v || cJSON_IsNull(v) : value_is_empty(v))
        return 0;
    if (row->as == FIELD_NAME && !cJSON_IsString(v))
        return finding_add(p->r->f, FINDING_ERROR, 0, ELEMENT_PATH(p->e, key), "%s: %s must be a text (%s)", p->title,
                           key, ELEMENT_PATH(p->e, key));
    raw = value_text(v);
    if (!raw)
        return reader_nomem(p->r);
    if (row->as == FIELD_RAW)
        text = steal_ptr(raw);
    else
        text = row->as == FIELD_TRIM || row->as == FIELD_NAME ? text_trim_clean(raw) : text_clean(raw);
    mem_free(raw);
    if (!text)
        return reader_nomem(p->r);
    if (!*text) {
        mem_free(text);
        return 0;
    }
    *ret = text;
    return reader_charge(p->r, strlen(text) + 1);
}

static int read_text(const struct place *p, const struct field_row *row, char **slot)
{
    char *text = NULL;
    int rc = row_text(p, row, row->key, &text);

    if (rc == 0 && !text && row->old_key)
        rc = row_text(p, row, row->old_key, &text);
    if (rc == 0 && !text && row->text) {
        text = mem_strdup(row->text);
        if (!text)
            return reader_nomem(p->r);
    }
    mem_free(*slot);
    *slot = text;
    return rc;
}

/* Numbers of this kind count something: the largest of 64 bits does what a larger one would. */
static int tell_bounds(const struct place *p, const struct field_row *row, const cJSON *v, int64_t got)
{
    char bound[32];
    char *text;

    if (got != INT64_MAX && got != INT64_MIN)
        return 0;
    text = value_text(v);
    if (!text)
        return reader_nomem(p->r);
    (void)snprintf(bound, sizeof(bound), "%" PRId64, got);
    if (strcmp(text, bound) != 0)
        (void)finding_add(p->r->f, FINDING_WARNING, 0, ELEMENT_PATH(p->e, row->key),
                          "%s: %s is %s, which 64 bits do not hold: %s is taken, which counts as far", p->title,
                          row->key, SHOWN(text), bound);
    mem_free(text);
    return 0;
}

static int read_strict_int(const struct place *p, const struct field_row *row, const cJSON *v, int64_t *slot)
{
    char *text;
    int rc;

    if (value_int(v, slot))
        return tell_bounds(p, row, v, *slot);
    text = value_text(v);
    if (!text)
        return reader_nomem(p->r);
    rc = finding_add(p->r->f, FINDING_ERROR, 11, ELEMENT_PATH(p->e, row->key),
                     "%s: %s must be a whole number, not \"%s\"", p->title, row->key, SHOWN(text));
    mem_free(text);
    return rc;
}

static int read_number(const struct place *p, const struct field_row *row, void *slot)
{
    const cJSON *v = json_get(p->e->node, row->key);

    if (row->old_key && (!v || cJSON_IsNull(v)))
        v = json_get(p->e->node, row->old_key);
    switch (row->as) {
    case FIELD_TRUTH:
        *(bool *)slot = value_truth(v, row->number != 0);
        return 0;
    case FIELD_TRUTH_NULL:
        *(bool *)slot = !v || cJSON_IsNull(v) ? row->number != 0 : value_truth(v, false);
        return 0;
    case FIELD_FLOAT:
        if (!value_float(v, slot))
            *(double *)slot = row->number;
        return 0;
    case FIELD_INT_STRICT:
        if (v && !cJSON_IsNull(v))
            return read_strict_int(p, row, v, slot);
        *(int64_t *)slot = (int64_t)row->number;
        return 0;
    default:
        if (value_int(v, slot))
            return tell_bounds(p, row, v, *(int64_t *)slot);
        *(int64_t *)slot = (int64_t)row->number;
        return 0;
    }
}

int reader_ids(struct reader *r, const struct element *e, const char *title, const char *key, const cJSON *v,
               const cJSON **ret)
{
    const cJSON *c;

    *ret = NULL;
    if (value_is_empty(v))
        return 0;
    if (cJSON_IsString(v) || cJSON_IsObject(v))
        return finding_add(r->f, FINDING_WARNING, 0, ELEMENT_PATH(e, key),
                           "%s: %s is %s, not a list of ids, and is left out", title, key,
                           cJSON_IsString(v) ? "a text" : "an object");
    for (c = cJSON_IsArray(v) ? v->child : v; c; c = c->next)
        if (!cJSON_IsArray(v) || cJSON_IsArray(c) || cJSON_IsObject(c))
            return finding_add(r->f, FINDING_ERROR, 0, ELEMENT_PATH(e, key), "%s: %s must be a list of ids", title,
                               key);
    *ret = v->child;
    return 0;
}

int reader_fields(struct reader *r, const struct element *e, const char *title, void *base,
                  const struct field_row *rows, size_t len)
{
    struct place p = { .r = r, .e = e, .title = title };
    size_t i;
    int rc = 0;

    for (i = 0; i < len && rc == 0; i++) {
        void *slot = (char *)base + rows[i].at;

        rc = is_text_row(rows[i].as) ? read_text(&p, &rows[i], slot) : read_number(&p, &rows[i], slot);
    }
    return rc;
}
