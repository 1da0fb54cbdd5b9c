/* shared/diagram/text.h -- how texts of a diagram are cleaned and how names are compared
 * (section 2.1). Text stays as typed; only the keys names are compared by are composed (NFC) and,
 * where the rule says so, folded. White space is Unicode's, with U+001C-U+001F and U+0085, as
 * Python trims it. All functions are pure; char * results are the caller's (mem_free), NULL when
 * memory is short. */
#ifndef DIAGRAM_TEXT_H
#define DIAGRAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

char *text_clean(const char *s); /* without the control characters the contract deletes */
char *text_trim(const char *s);
char *text_trim_clean(const char *s);                       /* trimmed first, then cleaned */
const char *text_trim_span(const char *s, size_t *ret_len); /* borrowed: where the trimmed text starts, its bytes */
bool text_is_blank(const char *s);                          /* NULL, empty or only white space */
char *text_lower(const char *s);                            /* full Unicode lower case of what has one, else as is */

char *text_key(const char *s);                /* canonical composition: equal keys = the same name */
char *text_fold_key(const char *s);           /* trimmed, composed, full case folding */
bool text_same(const char *a, const char *b); /* the same name; false also when memory is short */

bool text_is_identifier(const char *s);  /* as Python's str.isidentifier() */
char *text_as_identifier(const char *s); /* the name Python makes of it: compatibility composed; "" when it is none */

/* s for a sentence: control characters escaped, cut at SHOWN_MAX bytes. Borrowed from out. */
#define SHOWN_MAX 200
struct shown {
    char text[SHOWN_MAX + 16];
};
const char *text_shown(struct shown *out, const char *s);
#define SHOWN(s) text_shown(&(struct shown){ .text = "" }, (s))

#endif
