#include "fcgi/siblings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/mem.h"

#define CHILDREN_MAX 65536 /* bytes of pids; a keeper has a few dozen */
#define NAME_MAX_BYTES 32

static int read_text(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f)
        return -1;
    n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
    return n ? 0 : -1;
}

static int name_of(long pid, char out[NAME_MAX_BYTES])
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
    return read_text(path, out, NAME_MAX_BYTES);
}

int siblings_count(void)
{
    char path[64], own[NAME_MAX_BYTES], name[NAME_MAX_BYTES], *rest, *end;
    auto_free char *children = mem_zalloc(1, CHILDREN_MAX);
    long parent = getppid();
    int n = 0;

    if (!children)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", parent, parent);
    if (name_of(getpid(), own) < 0 || read_text(path, children, CHILDREN_MAX) < 0)
        return -1;
    for (rest = children;; rest = end) {
        long pid = strtol(rest, &end, 10);

        if (end == rest)
            break;
        n += name_of(pid, name) == 0 && strcmp(name, own) == 0;
    }
    return n ? n : -1;
}
