/* supervisor/keeper/children.h -- the table of what runs, from the configuration: nginx, launcher, supervisor, workers.
 */
#ifndef KEEPER_CHILDREN_H
#define KEEPER_CHILDREN_H

#include "shared/config/config.h"
#include "supervisor/keeper/child.h"
#include "supervisor/keeper/sockets.h"

struct children {
    struct child *items; /* in the order of starting; ended in the opposite one */
    size_t len;
    char *paths[4]; /* what the argv entries point to */
};

int children_make(const struct config *c, const char *config_file, const struct keeper_sockets *s, struct children *ret,
                  struct err *err);
struct child *children_find(const struct children *all, const char *name); /* NULL: there is none */
void children_release(struct children *all);

#endif
