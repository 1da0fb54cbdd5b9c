/* shared/json/read.h -- text -> cJSON tree in one pass, strictly as RFC 8259 has it. cJSON's own reader takes too much
 * (control characters, 01, 1.) and too little (numbers of more than 63 characters, unpaired surrogates). Only json.c
 * calls it. Recurses not; its tree is no deeper than JSON_DEPTH_MAX. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include "shared/json/json.h"

#define JSON_DEPTH_MAX 1000
#define JSON_VALUES_MAX 1500000u /* a tree node takes about 100 bytes: 150 MB; 25 000 states have as many */

/* text: valid UTF-8. The tree, to be freed with cJSON_Delete(), or NULL and *ret_error without its characters.
 * *ret_nul: an escaped U+0000 was read, as U+FFFD. */
cJSON *json_read(const char *text, size_t len, bool *ret_nul, struct json_error *ret_error);

#endif
