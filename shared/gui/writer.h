/* shared/gui/writer.h -- inside of gui_emit(): lines, calls and which classes they need. */
#ifndef GUI_WRITER_H
#define GUI_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/python/names.h"

struct writer {
    unsigned indent;
    struct buf body; /* statements so far */
    struct buf line; /* the statement being made: head, then arguments */
    size_t *breaks;  /* where arguments begin in line */
    size_t breaks_len, breaks_cap;
    struct names names;
    uint64_t used[2]; /* bits of the import rows */
    struct err *err;
    bool nomem, too_long;
};

/* Names of objects will be none that may be imported, and none of the words the file itself needs. */
void gui_writer_init(struct writer *w, unsigned indent, struct err *err);
void gui_writer_release(struct writer *w);

/* Name of a class of the metamodel where it is used; it is imported then. */
void gui_writer_class(struct writer *w, const char *name);

/* A statement: head up to the open bracket, arguments, closing bracket. One line when it fits, else one per argument.
 */
void gui_writer_open(struct writer *w, const char *variable, const char *class_name); /* variable = Class( */
struct buf *gui_writer_argument(struct writer *w, const char *name); /* name= ; the value goes to the buffer returned */
void gui_writer_close(struct writer *w);

/* A statement on one line. */
struct buf *gui_writer_line(struct writer *w);
void gui_writer_end(struct writer *w);
void gui_writer_gap(struct writer *w); /* a blank line */

/* Imports, then the body. 0, or -1 when anything failed on the way. */
int gui_writer_finish(struct writer *w, struct buf *out);

#endif
