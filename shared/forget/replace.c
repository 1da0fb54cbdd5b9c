/* In front of the C library's, for the program and all its libraries (forget.h). */
#include <stdlib.h>

#include "shared/forget/forget.h"

void free(void *p)
{
    forget_free(p);
}

void *realloc(void *p, size_t bytes)
{
    return forget_realloc(p, bytes);
}
