/* shared/diagram/write.h -- struct model -> diagram JSON as the editor opens it (section 9 of the B-UML contract):
 * elements, components and relationships with positions, bounds and paths. Reading it back (read.h) gives an equal
 * model. Equal models give equal bytes, ids included. Pure. */
#ifndef DIAGRAM_WRITE_H
#define DIAGRAM_WRITE_H

#include <cjson/cJSON.h>

#include "shared/base/err.h"
#include "shared/diagram/model.h"

/* 0 and *ret (the `model` object of a request; cJSON_Delete), or -1: out of memory, or ERR_BAD_REQUEST for a GUI design
 * that cannot be written. */
int diagram_write(const struct model *m, cJSON **ret, struct err *err);

#endif
