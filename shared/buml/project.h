/* shared/buml/project.h -- the agents of one Python file: a project's sections, or the whole file as one (section 11 of
 * the B-UML contract). */
#ifndef BUML_PROJECT_H
#define BUML_PROJECT_H

#include <stdbool.h>

#include "shared/buml/file.h"
#include "shared/buml/import.h"

struct buml_agent {
    char *title; /* of its header; NULL: none */
    long number; /* likewise, 0: none */
    struct model model;
};

struct buml_agents { /* buml_agents_release() */
    struct buml_agent *items;
    size_t len, cap;
    bool whole;                  /* the whole file was one diagram */
    struct buml_project project; /* what Project(...) says */
};

void buml_agents_release(struct buml_agents *a); /* NULL is fine */

/* 0 and *ret with one agent at least; -1 as buml_import_diagram(). */
int buml_agents_read(const struct buml_upload *upload, struct python_parser *parser, struct buml_agents *ret,
                     struct findings *f, struct err *err);

#endif
