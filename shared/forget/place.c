/* Only in the object that nginx preloads: its buffers have places of their own (forget.h). */
#include <stdlib.h>

#include "shared/forget/forget.h"

__attribute__((constructor)) static void open_slots(void)
{
    forget_open_slots();
}

/* nginx reads the answer to a handshake into the first buffer of a conversation and copies what it needs of it. When it
 * takes the second buffer the answer has been passed on, and nobody looks at it again: 4 KiB for each idle
 * conversation. */
void *malloc(size_t bytes)
{
    static void *before; /* the buffer that was taken last */
    void *p = forget_malloc(bytes);

    if (forget_is_slot(p))
        forget_answer(__atomic_exchange_n(&before, p, __ATOMIC_RELAXED));
    return p;
}
