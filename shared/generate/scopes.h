/* shared/generate/scopes.h -- which code of a diagram stands in a function of its own.
 * Pieces of code share the program's top level, so that what one of them declares global all can use. A piece whose
 * names would get in the way of another, or another in its own, is put into a function instead: its names are local
 * there, and those its functions declare global stay global. The program is read by people, so this is done for those
 * pieces only. */
#ifndef GENERATE_SCOPES_H
#define GENERATE_SCOPES_H

#include <stdbool.h>

#include "shared/base/err.h"
#include "shared/diagram/model.h"

struct python_parser;

/* Sets `scoped` of custom code and conditions, and `apart` of conditions that need a module of their own: what is right
 * alone and wrong below other statements (an import from __future__, a global statement at the top level), and what
 * clashes and means something else in a function, or nothing (import *). All of it was checked (check.h). *ret_sound: a
 * program of these pieces is valid. 0, or -1: the parser failed or memory is short. */
int scopes_decide(struct model *m, struct python_parser *parser, bool *ret_sound, struct err *err);

#endif
