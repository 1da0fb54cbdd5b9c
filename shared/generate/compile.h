/* shared/generate/compile.h -- request JSON -> checked model -> program: the one path that validate, sessions,
 * downloads and the command line share. */
#ifndef GENERATE_COMPILE_H
#define GENERATE_COMPILE_H

#include <cjson/cJSON.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/generate/generate.h"

struct python_parser;

struct compiled { /* owns all; compiled_release() frees */
    struct model model;
    struct bundle bundle;     /* empty when there are errors */
    struct str_list events;   /* event list */
    struct findings findings; /* errors > 0: the diagram is refused */
};

/* 0: compiled or refused (see findings.errors); -1: the machine failed, err says how. A download may be of several
 * builds (builds.h). */
int compile_diagram(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                    struct compiled *ret, struct err *err);
/* One program, whatever config says of several. */
int compile_build(const cJSON *request, struct python_parser *parser, const struct generate_options *o,
                  struct compiled *ret, struct err *err);
/* Phases B and C of the agents of m's profiles. 0 (findings tell the verdict), or -1: the machine failed. */
int compile_check_profiles(struct model *m, struct python_parser *parser, const struct generate_options *o,
                           struct findings *f, struct err *err);
void compiled_release(struct compiled *c);

#endif
