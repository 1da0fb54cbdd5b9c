/* supervisor/sandbox/facts.h -- what the plan of a sandbox has to know about this machine.
 * facts_probe() looks once; everything after it is pure and tested with made-up facts. */
#ifndef SANDBOX_FACTS_H
#define SANDBOX_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/base/err.h"
#include "shared/config/config.h"

#define FACTS_DIRS_MAX 4

/* A top-level directory of programs and libraries (/bin, /lib64 ...). */
struct facts_top {
    const char *path;
    bool present;
    char *link; /* text of the symbolic link it is on systems with a merged /usr; NULL: a directory */
};

#define FACTS_TOPS 6

/* Files of /proc that tell about the kernel, how it was started, and the keys of other users. */
#define FACTS_TELLTALES 11

struct sandbox_facts {
    struct facts_top tops[FACTS_TOPS];
    char *python;               /* as configured */
    char *dirs[FACTS_DIRS_MAX]; /* directories the interpreter needs beyond /usr, outermost first */
    size_t n_dirs;
    char *nltk_data;                        /* as configured */
    bool bind_nltk;                         /* it is there and not below /usr */
    char *localtime;                        /* text of the link /etc/localtime; "" when there is none below /usr */
    char *pid1;                             /* agentsim-pid1 on the host */
    const char *telltales[FACTS_TELLTALES]; /* those that this kernel has, as paths; not owned */
    size_t n_telltales;
};

/* Fails (ERR_UNAVAILABLE) with a sentence when the interpreter or agentsim-pid1 is not there. */
int facts_probe(struct sandbox_facts *ret, const struct config *config, struct err *err);
void facts_release(struct sandbox_facts *f); /* NULL is fine */

#endif
