#include "supervisor/launcher/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"

#define SLEEP_FIRST_MS 2
#define SLEEP_MOST_MS 100

int sweep_become(uid_t uid)
{
    uid_t r, e, s;

    if (uid == 0) {
        errno = EINVAL; /* kill(-1) as root would end the machine's processes */
        return -1;
    }
    if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
        return -1;
    if (getresuid(&r, &e, &s) < 0 || r != uid || e != uid || s != uid || setuid(0) == 0) {
        errno = EPERM;
        return -1;
    }
    return 0;
}

static const char *line_after(const char *status, const char *key)
{
    const char *p = strstr(status, key);

    return p ? p + strlen(key) : NULL;
}

int sweep_parse_status(const char *status, uid_t ret[4])
{
    const char *state = line_after(status, "\nState:\t"), *p = line_after(status, "\nUid:");
    uid_t uids[4];
    int i;

    if (!p || !state || *state == 'Z' || *state == 'X')
        return -1;
    for (i = 0; i < 4; i++) {
        char *end;
        unsigned long v = strtoul(p, &end, 10);

        if (end == p)
            return -1;
        uids[i] = (uid_t)v;
        p = end;
    }
    memcpy(ret, uids, sizeof(uids));
    return 0;
}

/* A process counts once for each of its users in the range. */
static void count_ids(const uid_t ids[4], uid_t first, uint32_t n, unsigned *counts)
{
    int i, j;

    for (i = 0; i < 4; i++) {
        for (j = 0; j < i && ids[j] != ids[i]; j++)
            ;
        if (j == i && ids[i] >= first && ids[i] - first < n)
            counts[ids[i] - first]++;
    }
}

static void count_entry(int proc, const char *name, uid_t first, uint32_t n, unsigned *counts)
{
    char path[280], text[2048];
    auto_fd int fd = -1;
    uid_t ids[4];
    ssize_t got;

    (void)snprintf(path, sizeof(path), "%s/status", name);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (got <= 0)
        return; /* it has gone */
    text[got] = '\0';
    if (sweep_parse_status(text, ids) == 0)
        count_ids(ids, first, n, counts);
}

int sweep_count_range(uid_t first, uint32_t n, unsigned *counts)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;

    if (!dir)
        return -1;
    while ((e = readdir(dir)))
        if (isdigit((unsigned char)e->d_name[0]))
            count_entry(dirfd(dir), e->d_name, first, n, counts);
    closedir(dir);
    return 0;
}

int sweep_count(uid_t uid)
{
    unsigned count = 0;

    return sweep_count_range(uid, 1, &count) < 0 ? -1 : (int)count;
}

/* One signal to all of them in one go: a fork cannot slip through, the kernel holds its process
 * list. */
void sweep_strike(uid_t uid)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (sweep_become(uid) == 0)
            kill(-1, SIGKILL);
        _exit(0);
    }
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
}

int sweep_user(uid_t uid, unsigned patience_ms)
{
    int64_t until = time_mono_ms() + patience_ms;
    long pause_ms = SLEEP_FIRST_MS;

    for (;;) {
        struct timespec ts;
        int left = sweep_count(uid);

        if (left <= 0)
            return left;
        sweep_strike(uid);
        left = sweep_count(uid);
        if (left <= 0 || time_mono_ms() >= until)
            return left;
        ts = (struct timespec){ .tv_nsec = pause_ms * 1000000L };
        nanosleep(&ts, NULL);
        pause_ms = pause_ms * 2 > SLEEP_MOST_MS ? SLEEP_MOST_MS : pause_ms * 2;
    }
}
