#include "shared/base/id.h"

#include <string.h>
#include <uuid/uuid.h>

_Static_assert(sizeof(uuid_t) == sizeof(((struct id *)0)->b), "an id is a UUID");

void id_new(struct id *ret)
{
    uuid_generate_random(ret->b);
}

/* Behind what may stand in front of the digits. */
static const char *skip_front(const char *text)
{
    for (;;) {
        if (*text == '{' || *text == '}')
            text++;
        else if (strncmp(text, "urn:", 4) == 0)
            text += 4;
        else if (strncmp(text, "uuid:", 5) == 0)
            text += 5;
        else
            return text;
    }
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c);

    return c && found ? (int)(found - digits) : -1;
}

int id_parse(const char *text, struct id *ret)
{
    struct id id = { { 0 } };
    size_t n = 0;

    if (!text || strnlen(text, ID_TEXT_MAX + 1) > ID_TEXT_MAX)
        return -1;
    for (text = skip_front(text); *text && *text != '{' && *text != '}'; text++) {
        int value = digit(*text);

        if (*text == '-')
            continue;
        if (value < 0 || n == 2 * sizeof(id.b))
            return -1;
        id.b[n / 2] = (uint8_t)(id.b[n / 2] << 4 | value);
        n++;
    }
    if (n != 2 * sizeof(id.b) || text[strspn(text, "{}")])
        return -1;
    *ret = id;
    return 0;
}

void id_format(const struct id *id, char out[ID_TEXT_LEN + 1])
{
    uuid_unparse_lower(id->b, out);
}

bool id_equal(const struct id *a, const struct id *b)
{
    return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}
