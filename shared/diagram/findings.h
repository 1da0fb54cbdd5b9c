/* shared/diagram/findings.h -- what is wrong with a diagram: one entry per finding, in the order of
 * the rules. Owned by the caller; release frees. A full list (FINDINGS_MAX) or short memory is said
 * by `truncated`. */
#ifndef DIAGRAM_FINDINGS_H
#define DIAGRAM_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#define FINDINGS_MAX 1000 /* entries; warnings leave room for errors: */
#define FINDINGS_WARNINGS_MAX 200

enum finding_class { FINDING_ERROR, FINDING_WARNING };

struct finding {
    enum finding_class severity;
    int rule;      /* number in section 5 of the agent diagram contract; 0 = shape of the document */
    char *where;   /* JSON path or element, "model.elements.s1.name", "" = whole diagram */
    char *message; /* a sentence that names the element, field, value; at most FINDING_MESSAGE_MAX
                      bytes */
};

#define FINDING_MESSAGE_MAX 2000

struct findings {
    struct finding *items;
    size_t len, cap;
    size_t errors; /* all of them, also those that found no room */
    bool truncated;
};

void findings_init(struct findings *f);
void findings_release(struct findings *f); /* NULL is fine; the list is empty afterwards */

/* Adds one; where NULL = "". Always -1 for errors and 0 for warnings, so that phase A can `return
 * finding_add(...)`. */
int finding_add(struct findings *f, enum finding_class severity, int rule, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Moves all of part to the end of f; part is empty afterwards. title comes in front of every sentence (NULL: nothing).
 * model and config stand in place of these two words at the start of a path (NULL: as they are), since a part was read
 * as if it were a request: "model.elements.s1" -> "config.variations[0].model.elements.s1". */
void findings_adopt(struct findings *f, struct findings *part, const char *title, const char *model,
                    const char *config);

#endif
