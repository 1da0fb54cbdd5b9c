/* tests/support/diagram.h -- reads diagrams in tests: from text, with the real parser where a test
 * wants it. */
#ifndef TESTS_SUPPORT_DIAGRAM_H
#define TESTS_SUPPORT_DIAGRAM_H

#include <stdbool.h>

#include "shared/diagram/check.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"
#include "shared/diagram/read.h"
#include "shared/python/parser.h"

/* The parser built beside this test program (../bin/agentsim-pyparse); the caller frees it. */
struct python_parser *test_parser(void);

/* One diagram and what reading it gave. diagram_text_release() frees all. */
struct read_result {
    int rc; /* of diagram_read() */
    struct model model;
    struct findings findings;
    struct err err;
};

/* json: the whole request. Reads without checking further. */
void read_text(const char *json, struct python_parser *parser, struct read_result *ret);
void read_file_at(const char *path, struct python_parser *parser, struct read_result *ret);
void read_result_release(struct read_result *r);

/* The same from JSON written with ' instead of " (so that a test stays readable). */
void read_quoted(const char *json, struct python_parser *parser, struct read_result *ret);

/* A request titled T with one initial state "hub" (element s) that has the given further members,
 * plus further elements and relationships; each text starts with its own comma or is empty. Quoted
 * as above. */
void read_parts(const char *hub, const char *elements, const char *arcs, struct python_parser *parser,
                struct read_result *ret);
char *quoted(const char *json); /* ' to "; the caller frees */

/* True when an error finding of that rule says all of the words (a list ended by NULL). */
bool has_finding(const struct findings *f, int rule, const char *const *words);
#define HAS_FINDING(f, rule, ...) has_finding((f), (rule), (const char *const[]){ __VA_ARGS__, NULL })

#endif
