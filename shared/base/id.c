#include "shared/base/id.h"

#include <string.h>
#include <uuid/uuid.h>

_Static_assert(sizeof(uuid_t) == sizeof(((struct id *)0)->b), "an id is a UUID");

void id_new(struct id *ret)
{
    uuid_generate_random(ret->b);
}

int id_parse(const char *text, struct id *ret)
{
    uuid_t u;

    if (!text || strlen(text) != ID_TEXT_LEN || uuid_parse(text, u) != 0)
        return -1;
    memcpy(ret->b, u, sizeof(ret->b));
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
