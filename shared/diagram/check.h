/* shared/diagram/check.h -- the rules a model must keep: phase B (12 to 25) and phase C (26 to 29
 * and the lint of section 9). */
#ifndef DIAGRAM_CHECK_H
#define DIAGRAM_CHECK_H

#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"

struct python_parser;

/* Phase B: every finding, in rule order. 0 (findings tell the verdict), or -1 and err: the machine
 * failed. The model's references must be resolved (model_resolve(); diagram_read() did). */
int diagram_check(const struct model *m, struct findings *f, struct err *err);

/* Phase C, for generated programs: worth asking only when phase B found no error. session: what only a test session
 * forbids too, workspaces outside of its folder (27) and modules and builtins in code (6 and 7 of section 9). Also
 * fills in each condition's function and parameters. 0 or -1 as above. */
int diagram_check_program(struct model *m, bool session, struct python_parser *parser, struct findings *f,
                          struct err *err);

/* The warnings of phase C alone, for who does not want its errors. */
void diagram_warn(const struct model *m, bool session, struct findings *f);

/* Class names of the transitions' events, first-seen order (section 8.1); the caller releases.
 * 0, or -1 out of memory with *ret untouched. */
int diagram_event_list(const struct model *m, struct str_list *ret);

#endif
