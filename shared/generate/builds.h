/* shared/generate/builds.h -- downloads of several programs (6.6): one folder per language, variation or configuration
 * beside a base. The first that config asks for counts: languages, baseModel with variations, configurations. */
#ifndef GENERATE_BUILDS_H
#define GENERATE_BUILDS_H

#include "shared/generate/compile.h"

#define BUILDS_MAX 100           /* programs of one download */
#define BUILDS_BYTES (64u << 20) /* of all their files */

/* compile_diagram() for a download. Model and events are those of the first build; findings say which build they are
 * of, and end with the first build that is refused. */
int compile_builds(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                   struct compiled *ret, struct err *err);

#endif
