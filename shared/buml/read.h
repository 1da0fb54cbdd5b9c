/* shared/buml/read.h -- B-UML Python text of one agent -> struct model (section 8 of the B-UML contract). The file is
 * parsed by the jailed CPython (shared/python/parser.h) and never executed. */
#ifndef BUML_READ_H
#define BUML_READ_H

#include <stddef.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"

struct python_parser;

#define BUML_UPLOAD_MAX (2u << 20) /* bytes, section 12 */
#define BUML_NODES_MAX 200000
#define BUML_DEPTH_MAX 100

/* text: UTF-8 (a BOM is skipped), len bytes. 0 and *ret filled and resolved (model_release); what could not be imported
 * is a warning in f that names line and construct. -1: ERR_BAD_REQUEST (broken syntax with line and column, limit), or
 * the machine failed. */
int buml_read(const char *text, size_t len, struct python_parser *parser, struct model *ret, struct findings *f,
              struct err *err);

#endif
