/* shared/python/dedent.h -- takes away the indentation that all of a piece of Python shares.
 * Only logical lines count: what stands inside string literals neither counts nor moves. */
#ifndef PYTHON_DEDENT_H
#define PYTHON_DEDENT_H

/* The dedented source (the caller frees, mem_free); NULL out of memory. Lines of nothing but blanks
 * become empty, also inside literals: that is how code is stored and compared. */
char *python_dedent(const char *source);

/* The source as a block: four blanks in front of every line but what stands inside literals; ended by a line break. The
 * caller frees; NULL out of memory. */
char *python_indent(const char *source);

#endif
