/* shared/generate/stems.h -- names of files and folders that stem from a diagram: file-safe (8.3) and unique in their
 * directory, also where its file system does not tell letters by case. */
#ifndef GENERATE_STEMS_H
#define GENERATE_STEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/diagram/map.h"
#include "shared/diagram/model.h"

struct stems {              /* of one directory; owns all */
    struct map taken;       /* lower-case stem -> place in next */
    size_t *next, len, cap; /* number to try first when that stem is wanted again */
};

void stems_init(struct stems *s);
void stems_release(struct stems *s);

/* Takes a name of ours as it is. 0, or -1 out of memory. */
int stems_reserve(struct stems *s, const char *name);

/* Appends the stem of a name (in lower case: lowered), with _2, _3 ... when it is taken. 0, or -1 out of memory. */
int stems_add(struct stems *s, const char *name, bool lowered, struct str_list *ret);
/* The same for what is safe as it is, at most 900 bytes. */
int stems_add_as_is(struct stems *s, const char *stem, struct str_list *ret);

#endif
