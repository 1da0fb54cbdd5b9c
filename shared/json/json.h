/* shared/json/json.h -- documents from outside: read once into a tree of cJSON, bounded, then read by rules.
 * json_parse refuses what the contract refuses before any of it is used: invalid UTF-8, U+0000, nesting beyond 1000,
 * NaN and Infinity, integers no machine can hold, more than 1.5 million values (a tree node takes 100 bytes); an
 * unpaired surrogate reads as U+FFFD; a byte order mark is skipped. Member order is kept; a repeated key keeps its
 * first place and its last value. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/json/value.h"

enum json_fault {
    JSON_OK,
    JSON_INVALID,
    JSON_EMPTY,
    JSON_NUL,
    JSON_UTF8,
    JSON_DEPTH,
    JSON_NUMBER,
    JSON_TOO_MANY,
    JSON_NOMEM
};

struct json_error {
    enum json_fault fault;
    size_t offset;     /* byte where parsing stopped; a skipped byte order mark does not count */
    size_t characters; /* the same in characters, as the 422 list counts */
    char message[160]; /* a sentence */
};

/* Text -> tree, to be freed with cJSON_Delete(), after every cJSON_Duplicate() of it, which shares its names. NULL and
 * *ret_error on failure. */
cJSON *json_parse(const char *text, size_t len, struct json_error *ret_error);

/* The same, but U+0000 reads as U+FFFD and *ret_nul tells: for a request whose shape is judged before its text. */
cJSON *json_parse_request(const char *text, size_t len, bool *ret_nul, struct json_error *ret_error);

/* Tree -> JSON text, appended, a member a line when indent is not 0. Numbers as they were written. Sticky in out. */
int json_write(const cJSON *node, unsigned indent, struct buf *out);

/* Tree -> owned value. 0, or -1 out of memory (ret untouched). */
int json_to_value(const cJSON *node, struct value *ret);

/* A number node: was it written with point or exponent (or is no integer anyway)? Its whole part, the nearest of 64
 * bits; 0 for NaN. A node whose double does not tell all has its text as valuestring. */
bool json_is_float(const cJSON *node);
int64_t json_integer(const cJSON *node);

/* Borrowed member, NULL when absent or when object is no object. Exact case. Walks the members: to visit all of a
 * wide object, use cJSON_ArrayForEach. */
const cJSON *json_get(const cJSON *object, const char *key);

/* Schema rows: the members a request body has; extra members are ignored. */
enum field_type {
    FIELD_STRING,
    FIELD_OBJECT,
    FIELD_BOOL,
    FIELD_ARRAY,
    FIELD_ANY,
    FIELD_STRING_MAP,  /* an object of strings */
    FIELD_STRING_LIST, /* an array of strings */
    FIELD__MAX
};

struct field_rule {
    const char *key;
    enum field_type type;
    bool required;
    bool nullable;
};

/* Checks body against rules; every fault becomes one entry of the contract's 422 list, in rule order, appended to
 * detail (a JSON array text is built: "[{...},{...}]"). Number of faults. 0 leaves detail untouched.
 * What an entry repeats of the input is cut at 2 KiB, and credentials in it read "***". Of the members of one map or
 * list a hundred are told, so that the list stays below 1 MiB whatever the body. */
size_t json_check_fields(const cJSON *body, const struct field_rule *rules, size_t rules_len, struct buf *detail);

/* The same for what body's member key holds, an object of lists (or of what stands in one alone): rules are those of
 * each item. Of anything else there, nothing. */
size_t json_check_lists(const cJSON *body, const char *key, const struct field_rule *rules, size_t rules_len,
                        struct buf *detail);

/* The 422 list for a body that is no JSON, empty, or no object: type json_invalid, missing, model_attributes_type.
 * body NULL: it was not sent as JSON. */
void json_body_fault(const struct json_error *e, struct buf *detail);
void json_body_not_object(const cJSON *body, struct buf *detail);

#endif
