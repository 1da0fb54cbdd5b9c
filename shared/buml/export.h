/* shared/buml/export.h -- the JSON of a diagram request -> B-UML Python text: what the route, the command line and
 * downloads have in common. */
#ifndef BUML_EXPORT_H
#define BUML_EXPORT_H

#include <cjson/cJSON.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"

struct python_parser;

/* A model of an agent diagram that can be written: read as for every other use, but not held to the rules of a program,
 * so that unfinished diagrams can be kept. 0 and *ret (model_release), or -1: the last finding is an error that says
 * why, or err is filled (ERR_BAD_REQUEST: the diagram is of another type). */
int buml_export_model(const cJSON *request, struct python_parser *parser, struct model *ret, struct findings *f,
                      struct err *err);

/* The whole file, appended to out. Failures as above, and those of buml_write(). */
int buml_export(const cJSON *request, struct python_parser *parser, struct buf *out, struct findings *f,
                struct err *err);

/* Which conditions are code that may stand in the file; others are written as literals. -1: the machine failed. */
int buml_judge_conditions(struct model *m, struct python_parser *parser, struct err *err);

#endif
