/* shared/generate/code_writer.h -- writes Python line by line. Lines are templates of ours with holes; what fills a
 * hole is written by the literal writer (shared/python/emit.h) or is a name from the file's names table, so that no
 * text of a diagram can change the structure of the program.
 *
 *   %s  text literal (const char *; NULL is None)   %d  int64_t   %f  double   %b  bool   %v  const struct value *
 *   %n  a name, as it stands (const char *)         %%  percent
 *   @name  a private name of the file: the prefix and the name     ~name  a builtin that user code cannot shadow
 *
 * Failure is sticky: look at code_failed() once at the end. */
#ifndef GENERATE_CODE_WRITER_H
#define GENERATE_CODE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/buf.h"

#define CODE_ARGS_MAX 16
#define CODE_WIDTH 100

struct code_writer {
    struct buf out;
    unsigned depth;     /* blocks entered, four blanks each */
    unsigned gap;       /* blank lines owed before the next line */
    const char *prefix; /* of private names, borrowed; "" when the file holds no user code */
    void (*use)(void *context, const char *name, size_t len); /* hears every @name; may be NULL */
    void *context;
    struct buf call;                /* the call being collected: head, then arguments */
    size_t args[CODE_ARGS_MAX + 1]; /* where each begins in call */
    unsigned args_len;
};

void code_init(struct code_writer *w, const char *prefix);
void code_release(struct code_writer *w);
bool code_failed(const struct code_writer *w);

void code_line(struct code_writer *w, const char *fmt, ...); /* one whole line */
void code_begin(struct code_writer *w);                      /* indentation of a line of parts */
void code_part(struct code_writer *w, const char *fmt, ...); /* part of a line; ends lines itself with \n */
void code_text(struct code_writer *w, const char *line);     /* with @ and ~ but no holes; ended by a line break */
void code_gap(struct code_writer *w, unsigned blank_lines);  /* at least so many before what follows */
void code_heading(struct code_writer *w, const char *title); /* a comment above the part it names */
void code_open(struct code_writer *w);                       /* into the block of the line above */
void code_close(struct code_writer *w);
void code_raw(struct code_writer *w, const char *source); /* user code at depth 0, ended by a line break */

/* head(argument, argument ...)tail on one line, or an argument a line when that is too long. */
void code_call(struct code_writer *w, const char *fmt, ...);
void code_arg(struct code_writer *w, const char *fmt, ...);
void code_call_end(struct code_writer *w, const char *tail);

#endif
