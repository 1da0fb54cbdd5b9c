/* shared/buml/file.h -- a Python file that was parsed once, of which sections can be read (project files). */
#ifndef BUML_FILE_H
#define BUML_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/buml/tree.h"
#include "shared/diagram/findings.h"
#include "shared/diagram/model.h"

struct python_parser;

struct buml_file {    /* borrows the text; owns the rest */
    const char *text; /* behind a byte order mark */
    size_t len;
    size_t *lines; /* offset of each line, as CPython counts them */
    size_t lines_len;
    struct tree tree;
};

/* Failures as of buml_read(), and ERR_TOO_LARGE. */
int buml_file_open(const char *text, size_t len, struct python_parser *parser, struct buml_file *ret, struct err *err);
/* The same from the parser's answer, json; text has no byte order mark. */
int buml_file_take(const char *text, size_t len, const char *json, struct buml_file *ret, struct err *err);
void buml_file_close(struct buml_file *file); /* NULL is fine */

struct buml_project { /* what Project(...) says; buml_project_release() */
    bool found;
    char *name, *owner, *description; /* NULL: not said */
    struct str_list models;           /* the variables of models=[...] */
};

void buml_project_release(struct buml_project *p); /* NULL is fine */

/* The call of Project in lines from..to, *ret empty when there is none. -1: the machine failed. */
int buml_file_project(const struct buml_file *file, int from, int to, struct buml_project *ret, struct err *err);

/* The agent that the top-level statements beginning in lines from..to describe; as buml_read(). */
int buml_file_read(const struct buml_file *file, int from, int to, struct python_parser *parser, struct model *ret,
                   struct findings *f, struct err *err);

#endif
