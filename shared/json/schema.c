#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/json.h"

#define ECHO_MAX 2048  /* bytes of the input that an entry repeats */
#define PLACE_MAX 200u /* of a name in its place */
#define FAULTS_MAX 100 /* of the members of one map or list */

/* What a fault of a field is called; types and wording follow the contract's 422 list. */
static const struct {
    const char *type, *msg;
} wrong[FIELD__MAX] = {
    [FIELD_STRING] = { "string_type", "Input should be a valid string" },
    [FIELD_OBJECT] = { "dict_type", "Input should be a valid dictionary" },
    [FIELD_BOOL] = { "bool_type", "Input should be a valid boolean" },
    [FIELD_ARRAY] = { "list_type", "Input should be a valid list" },
    [FIELD_ANY] = { "missing", "Field required" },
    [FIELD_STRING_MAP] = { "dict_type", "Input should be a valid dictionary" },
    [FIELD_STRING_LIST] = { "list_type", "Input should be a valid list" },
};

/* Members whose values never appear in an answer. */
static bool is_secret(const char *key)
{
    static const char *const keys[] = { "credentials", "env_vars", "openAiApiKey", "huggingFaceToken",
                                        "replicateApiKey" };
    size_t i;

    for (i = 0; key && i < ARRAY_LEN(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void echo_value(struct buf *b, const cJSON *v);

static void echo_members(struct buf *b, const cJSON *v)
{
    bool object = cJSON_IsObject(v);
    const cJSON *c;

    buf_add_char(b, object ? '{' : '[');
    for (c = v->child; c && !buf_failed(b); c = c->next) {
        if (c != v->child)
            buf_add_char(b, ',');
        if (object) {
            buf_add_json_str(b, c->string, strlen(c->string));
            buf_add_char(b, ':');
        }
        echo_value(b, c);
    }
    buf_add_char(b, object ? '}' : ']');
}

/* As short as reads back equal. */
static void echo_number(struct buf *b, double d)
{
    char text[32];

    snprintf(text, sizeof(text), "%.15g", d);
    if (strtod(text, NULL) != d)
        snprintf(text, sizeof(text), "%.17g", d);
    buf_add_str(b, text);
}

static void echo_value(struct buf *b, const cJSON *v)
{
    if (is_secret(v->string))
        buf_add_str(b, "\"***\"");
    else if (cJSON_IsString(v))
        buf_add_json_str(b, v->valuestring, strlen(v->valuestring));
    else if (cJSON_IsNumber(v) && v->valuestring && !json_is_float(v))
        buf_add_str(b, v->valuestring);
    else if (cJSON_IsNumber(v) && isfinite(v->valuedouble))
        echo_number(b, v->valuedouble);
    else if (cJSON_IsBool(v))
        buf_add_str(b, cJSON_IsTrue(v) ? "true" : "false");
    else if (cJSON_IsArray(v) || cJSON_IsObject(v))
        echo_members(b, v);
    else
        buf_add_str(b, "null");
}

/* Repeats v in detail, or only its kind when it is too long. */
static void add_echo(struct buf *detail, const cJSON *v)
{
    auto_buf struct buf b;

    buf_init(&b, ECHO_MAX);
    if (v)
        echo_value(&b, v);
    if (!v)
        buf_add_str(detail, "null");
    else if (!buf_failed(&b))
        buf_add(detail, b.data, b.len);
    else
        buf_add_str(detail, cJSON_IsObject(v) ? "{}" : cJSON_IsArray(v) ? "[]" : "\"\"");
}

/* Opens an entry behind those that are there: {"type":..,"loc":["body", and within. */
static void open_entry(struct buf *detail, const char *type, const char *within)
{
    if (detail->len && detail->data[detail->len - 1] == ']') {
        detail->data[--detail->len] = '\0';
        buf_add_char(detail, ',');
    } else {
        buf_add_char(detail, '[');
    }
    buf_add_fmt(detail, "{\"type\":\"%s\",\"loc\":[\"body\"", type);
    buf_add_str(detail, within);
}

static void close_entry(struct buf *detail, const char *msg, const cJSON *input, bool secret)
{
    buf_add_fmt(detail, "],\"msg\":\"%s\",\"input\":", msg);
    if (secret)
        buf_add_str(detail, "\"***\"");
    else
        add_echo(detail, input);
    buf_add_str(detail, "}]");
}

static void add_place(struct buf *detail, const char *key)
{
    buf_add_char(detail, ',');
    buf_add_json_str(detail, key, utf8_floor(key, strnlen(key, PLACE_MAX)));
}

static bool fits(const cJSON *v, const struct field_rule *rule)
{
    if (rule->nullable && cJSON_IsNull(v))
        return true;
    switch (rule->type) {
    case FIELD_STRING:
        return cJSON_IsString(v);
    case FIELD_OBJECT:
    case FIELD_STRING_MAP:
        return cJSON_IsObject(v);
    case FIELD_BOOL:
        return cJSON_IsBool(v);
    case FIELD_ARRAY:
    case FIELD_STRING_LIST:
        return cJSON_IsArray(v);
    default:
        return true;
    }
}

/* An entry per member that is no string, for the first hundred. A map of credentials shows none of its values. */
static size_t check_strings(const cJSON *list, const char *key, const char *within, struct buf *detail)
{
    size_t faults = 0, i = 0;
    const cJSON *c;

    for (c = list->child; c && faults < FAULTS_MAX; c = c->next, i++) {
        if (cJSON_IsString(c))
            continue;
        open_entry(detail, wrong[FIELD_STRING].type, within);
        add_place(detail, key);
        if (cJSON_IsObject(list))
            add_place(detail, c->string);
        else
            buf_add_fmt(detail, ",%zu", i);
        close_entry(detail, wrong[FIELD_STRING].msg, c, is_secret(key));
        faults++;
    }
    return faults;
}

static size_t check_field(const cJSON *object, const char *within, const struct field_rule *rule, struct buf *detail)
{
    const cJSON *v = json_get(object, rule->key);
    enum field_type kind = v ? rule->type : FIELD_ANY;

    if (v ? !fits(v, rule) : rule->required) {
        open_entry(detail, wrong[kind].type, within);
        add_place(detail, rule->key);
        close_entry(detail, wrong[kind].msg, v ? v : object, false);
        return 1;
    }
    if (kind == FIELD_STRING_MAP || kind == FIELD_STRING_LIST)
        return check_strings(v, rule->key, within, detail);
    return 0;
}

static void not_object(const cJSON *v, const char *within, struct buf *detail)
{
    open_entry(detail, "model_attributes_type", within);
    close_entry(detail, "Input should be a valid dictionary or object to extract fields from", v, false);
}

static size_t check_object(const cJSON *object, const char *within, const struct field_rule *rules, size_t rules_len,
                           struct buf *detail)
{
    size_t faults = 0, i;

    if (!cJSON_IsObject(object)) {
        not_object(object, within, detail);
        return 1;
    }
    for (i = 0; i < rules_len; i++)
        faults += check_field(object, within, &rules[i], detail);
    return faults;
}

size_t json_check_fields(const cJSON *body, const struct field_rule *rules, size_t rules_len, struct buf *detail)
{
    return check_object(body, "", rules, rules_len, detail);
}

/* ,"key","kind" of a fault's place, and the item's number. */
static void put_within(struct buf *out, const char *key, const cJSON *kind, const size_t *item)
{
    buf_clear(out);
    add_place(out, key);
    add_place(out, kind->string);
    if (item)
        buf_add_fmt(out, ",%zu", *item);
}

static size_t check_kind(const char *key, const cJSON *kind, const struct field_rule *rules, size_t rules_len,
                         struct buf *detail)
{
    bool one = cJSON_IsObject(kind);
    size_t faults = 0, i = 0;
    auto_buf struct buf within;
    const cJSON *c;

    buf_init(&within, SIZE_MAX / 2);
    put_within(&within, key, kind, NULL);
    if (!one && !cJSON_IsArray(kind)) {
        open_entry(detail, wrong[FIELD_ARRAY].type, within.data ? within.data : "");
        close_entry(detail, wrong[FIELD_ARRAY].msg, kind, false);
        return 1;
    }
    for (c = one ? kind : kind->child; c && faults < FAULTS_MAX; c = one ? NULL : c->next, i++) {
        put_within(&within, key, kind, &i);
        faults += check_object(c, within.data ? within.data : "", rules, rules_len, detail);
    }
    return faults;
}

size_t json_check_lists(const cJSON *body, const char *key, const struct field_rule *rules, size_t rules_len,
                        struct buf *detail)
{
    const cJSON *lists = json_get(body, key), *kind;
    size_t faults = 0;

    for (kind = lists ? lists->child : NULL; kind && faults < FAULTS_MAX; kind = kind->next)
        faults += check_kind(key, kind, rules, rules_len, detail);
    return faults;
}

void json_body_fault(const struct json_error *e, struct buf *detail)
{
    if (e->fault == JSON_EMPTY) {
        open_entry(detail, "missing", "");
        close_entry(detail, wrong[FIELD_ANY].msg, NULL, false);
        return;
    }
    open_entry(detail, "json_invalid", "");
    buf_add_fmt(detail, ",%zu],\"msg\":\"JSON decode error\",\"input\":{},\"ctx\":{\"error\":", e->characters);
    buf_add_json_str(detail, e->message, strlen(e->message));
    buf_add_str(detail, "}}]");
}

void json_body_not_object(const cJSON *body, struct buf *detail)
{
    not_object(body, "", detail);
}
