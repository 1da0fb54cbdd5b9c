#include "fcgi/prefer.h"

#include <string.h>
#include <strings.h>

#include "shared/ipc/rpc.h"

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

/* The value behind "wait", which may be quoted; s stands behind the word. */
static unsigned seconds_at(const char *s)
{
    unsigned n = 0;
    bool quoted, any;

    s = skip_blanks(s);
    if (*s != '=')
        return 0;
    s = skip_blanks(s + 1);
    quoted = *s == '"';
    s += quoted;
    any = *s >= '0' && *s <= '9';
    for (; *s >= '0' && *s <= '9'; s++)
        n = n > RPC_QUEUE_SECONDS_MAX ? n : n * 10 + (unsigned)(*s - '0');
    if (quoted && *s++ != '"')
        return 0;
    s = skip_blanks(s);
    if (!any || (*s && *s != ',' && *s != ';'))
        return 0;
    return n > RPC_QUEUE_SECONDS_MAX ? RPC_QUEUE_SECONDS_MAX : n;
}

unsigned prefer_wait(const char *header)
{
    static const char word[] = "wait";
    const char *s = header;

    while (*(s = skip_blanks(s))) {
        size_t len = strcspn(s, "=,; \t");

        if (len == sizeof(word) - 1 && strncasecmp(s, word, len) == 0)
            return seconds_at(s + len);
        s += strcspn(s, ",");
        s += *s == ',';
    }
    return 0;
}
