/* tests/support/model_dump.h -- a model as text, so that two can be compared and a difference is seen. */
#ifndef TESTS_SUPPORT_MODEL_DUMP_H
#define TESTS_SUPPORT_MODEL_DUMP_H

#include "shared/diagram/model.h"

/* One line a fact: all that the round trip of section 10 of the B-UML contract covers; no ids, paths or labels of
 * elements. The caller frees. */
char *model_dump(const struct model *m);

#endif
