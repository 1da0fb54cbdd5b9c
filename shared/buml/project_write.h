/* shared/buml/project_write.h -- a project of the editor -> one Python file: a section per agent, then the project
 * itself (section 11 of the B-UML contract). */
#ifndef BUML_PROJECT_WRITE_H
#define BUML_PROJECT_WRITE_H

#include <cjson/cJSON.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/diagram/findings.h"

struct python_parser;

#define BUML_PROJECT_AGENTS_MAX 200

/* project: {name, description, owner, diagrams: {type: [diagram, ...]}}; diagrams without elements are left out. 0 and
 * the file is appended to out, or -1: the last finding says which diagram is wrong and why, or err is filled
 * (ERR_BAD_REQUEST: other kinds of diagrams, which it names; too many agents, too much text). */
int buml_write_project(const cJSON *project, struct python_parser *parser, struct buf *out, struct findings *f,
                       struct err *err);

#endif
