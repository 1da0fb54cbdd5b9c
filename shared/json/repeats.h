/* shared/json/repeats.h -- of members with one name the last value counts, in the place of the first. */
#ifndef JSON_REPEATS_H
#define JSON_REPEATS_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* object has n members. 0, or -1 out of memory. */
int json_merge_repeats(cJSON *object, size_t n);

#endif
