/* Values of a design as the reference takes them: what counts as said, as yes, as a number. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/diagram/text.h"
#include "shared/gui/reader.h"
#include "shared/json/json.h"

#define NUMBER_MAX 64 /* characters of a number in a text */

bool gui_says(const struct value *v)
{
    if (!v)
        return false;
    switch (v->kind) {
    case VALUE_NULL:
        return false;
    case VALUE_BOOL:
        return v->boolean;
    case VALUE_INT:
        return v->integer != 0;
    case VALUE_DOUBLE:
        return v->number != 0;
    case VALUE_STRING:
        return v->string && *v->string;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return v->len > 0;
    }
    return false;
}

const char *gui_string(const struct value *v)
{
    return v && v->kind == VALUE_STRING ? v->string : NULL;
}

const char *gui_scalar(const struct value *v, struct scalar *tmp)
{
    int digits;

    if (!v)
        return NULL;
    switch (v->kind) {
    case VALUE_STRING:
        return v->string;
    case VALUE_BOOL:
        return v->boolean ? "true" : "false";
    case VALUE_INT:
        if (v->string)
            return v->string;
        snprintf(tmp->text, sizeof(tmp->text), "%" PRId64, v->integer);
        return tmp->text;
    case VALUE_DOUBLE:
        for (digits = 1; digits < 18; digits++) { /* the shortest form that reads back equal */
            snprintf(tmp->text, sizeof(tmp->text), "%.*g", digits, v->number);
            if (strtod(tmp->text, NULL) == v->number)
                break;
        }
        return tmp->text;
    default:
        return NULL;
    }
}

const struct value *gui_first(const struct value *object, const char *const *keys)
{
    for (; *keys; keys++) {
        const struct value *v = value_get(object, *keys);

        if (gui_says(v))
            return v;
    }
    return NULL;
}

const struct value *gui_attribute_or_member(const struct component *c, const char *attribute, const char *member)
{
    const struct value *v = FIRST(c->attributes, attribute);

    return v ? v : FIRST(c->json, member);
}

bool gui_word_in(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

bool gui_says_yes(const struct value *v)
{
    const char *text = TEXT(v);

    return text && gui_word_in(text, (const char *const[]){ "true", "1", "yes", NULL });
}

bool gui_bool(const struct value *v, bool absent)
{
    const char *text = gui_string(v);
    size_t len;

    if (!v || v->kind == VALUE_NULL)
        return absent;
    if (!text)
        return gui_says(v);
    text = text_trim_span(text, &len);
    return len == strlen("true") && strncasecmp(text, "true", len) == 0;
}

/* The text without white space around, when it can be a number. */
static bool number_text(const char *text, char out[NUMBER_MAX])
{
    size_t len;

    text = text_trim_span(text, &len);
    if (!len || len >= NUMBER_MAX)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

int64_t gui_int(const struct value *v, int64_t absent)
{
    char text[NUMBER_MAX];
    int64_t n;

    if (!v)
        return absent;
    switch (v->kind) {
    case VALUE_BOOL:
        return v->boolean;
    case VALUE_INT:
        return v->integer;
    case VALUE_DOUBLE:
        return fabs(v->number) < 9e15 ? (int64_t)v->number : absent; /* not for NaN either */
    case VALUE_STRING:
        if (!number_text(v->string, text))
            return absent;
        return str_to_int(text, INT64_MIN, INT64_MAX, &n) == 0 ? n : absent;
    default:
        return absent;
    }
}

bool gui_float(const struct value *v, double *ret)
{
    char text[NUMBER_MAX];

    if (!v)
        return false;
    switch (v->kind) {
    case VALUE_BOOL:
        *ret = v->boolean;
        return true;
    case VALUE_INT:
        *ret = v->string ? strtod(v->string, NULL) : (double)v->integer;
        return true;
    case VALUE_DOUBLE:
        if (!isfinite(v->number))
            return false;
        *ret = v->number;
        return true;
    case VALUE_STRING:
        return number_text(v->string, text) && str_to_double(text, ret) == 0;
    default:
        return false;
    }
}

static const struct value no_items = { .kind = VALUE_ARRAY };

int gui_list(struct gui_reader *r, const struct value *v, struct list *ret)
{
    const char *text = gui_string(v);
    struct json_error e;
    cJSON *tree;
    int rc;

    *ret = (struct list){ .array = v && v->kind == VALUE_ARRAY ? v : &no_items };
    if (!text || !*text)
        return 0;
    tree = json_parse(text, strlen(text), &e);
    if (!tree)
        return e.fault == JSON_NOMEM ? err_nomem(r->err) : 0;
    rc = cJSON_IsArray(tree) ? json_to_value(tree, &ret->own) : 0;
    cJSON_Delete(tree);
    if (rc < 0)
        return err_nomem(r->err);
    if (ret->own.kind == VALUE_ARRAY)
        ret->array = &ret->own;
    return 0;
}

void gui_list_release(struct list *l)
{
    value_release(&l->own);
}
