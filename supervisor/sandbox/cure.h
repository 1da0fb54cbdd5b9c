/* supervisor/sandbox/cure.h -- what usually helps when the sandbox cannot be built. Pure. */
#ifndef SANDBOX_CURE_H
#define SANDBOX_CURE_H

/* Advice for a failure text (ours or bubblewrap's): a sentence, or NULL when we know none. */
const char *cure_find(const char *reason);

#endif
