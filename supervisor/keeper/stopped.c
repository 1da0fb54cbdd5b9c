#include "supervisor/keeper/stopped.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/mem.h"

bool stopped_says(const char *stat)
{
    const char *end = strrchr(stat, ')');

    return end && end[1] == ' ' && end[2] == 'T';
}

bool stopped_now(pid_t pid)
{
    char path[64], text[512];
    auto_fd int fd = -1;
    ssize_t n;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return stopped_says(text);
}
