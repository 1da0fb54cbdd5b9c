#include "shared/ipc/listen.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/str.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */
#define MOST_FDS 64

/* Place of name in a colon list, or -1. */
static int place_of(const char *names, const char *name)
{
    size_t want = strlen(name), len;
    int i;

    for (i = 0; names; i++) {
        len = strcspn(names, ":");
        if (len == want && memcmp(names, name, len) == 0)
            return i;
        names = names[len] ? names + len + 1 : NULL;
    }
    return -1;
}

int listen_inherited(const char *name)
{
    int64_t pid, count;
    int place = place_of(getenv("LISTEN_FDNAMES"), name);
    int fd, flags;

    if (str_to_int(getenv("LISTEN_PID"), 1, INT32_MAX, &pid) < 0 || pid != getpid())
        return -1;
    if (str_to_int(getenv("LISTEN_FDS"), 1, MOST_FDS, &count) < 0 || place < 0 || place >= count)
        return -1;
    fd = FIRST_FD + place;
    flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
        return -1;
    return fd;
}
