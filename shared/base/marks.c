#include "shared/base/marks.h"

#include <stdint.h>

#include <utf8proc.h>

#include "shared/base/str.h"

#define MARKS_MAX 30
#define FIRST_MARK 0x300

bool marks_pile_up(const char *s, size_t len)
{
    size_t run = 0, width;

    for (; len && run <= MARKS_MAX; s += width, len -= width) {
        int32_t c = utf8_decode(s, len, &width);

        run = c >= FIRST_MARK && utf8proc_get_property(c)->combining_class ? run + 1 : 0;
    }
    return run > MARKS_MAX;
}
