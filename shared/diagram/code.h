/* shared/diagram/code.h -- judges the Python of a diagram: section 9 of the agent diagram contract.
 * Early feedback, not a boundary: the sandbox is the boundary. */
#ifndef DIAGRAM_CODE_H
#define DIAGRAM_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "shared/diagram/findings.h"

struct python_parser;
struct python_facts;

enum code_kind { CODE_CUSTOM = 1, CODE_TOOL = 2, CODE_CONDITION = 4 };

struct code {
    enum code_kind kind;
    const char *source;
    const char *title; /* in front of every message: State "Greet", body, custom code */
    const char *where; /* JSON path, NULL = none */
    int rule;          /* number the findings get: 10 in phase A, 28 in phase C */
    bool session;      /* rules 6 and 7 too */
};

/* Adds a finding for every broken rule; rules 1 to 5 stop at the first.
 * Number of findings added (0 = clean), or -1 and err: the parser failed, memory is short. With ERR_BAD_REQUEST, code
 * that is too slow or too large to be judged, there is a finding about it as well. ret_facts (NULL is fine) is filled,
 * for python_facts_release(), whenever the source was parsed; else zeroed. */
int code_check(const struct code *c, struct python_parser *parser, struct findings *f, struct python_facts *ret_facts,
               struct err *err);

#endif
