#include "supervisor/launcher/locks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/launcher.h"

#define LOOK_S 1.0
#define LINE_SIZE 256
#define STATUS_SIZE 1024 /* the user stands in the first ten lines */
#define KNOWN 512

/* Whose a process is, asked for once per look: the locks of one stand in any order. */
struct known {
    pid_t pid;
    uint32_t slot;
};

int locks_parse_line(const char *line, pid_t *ret)
{
    char kind[16], mode[16], access[16];
    int pid, at = 0;

    if (sscanf(line, "%*u:%n", &at) < 0 || !at)
        return -1;
    if (!strncmp(line + at, " -> ", 4))
        at += 4;
    if (sscanf(line + at, " %15s %15s %15s %d", kind, mode, access, &pid) != 4 || pid <= 0)
        return -1;
    *ret = pid;
    return 0;
}

int locks_parse_user(const char *status, uid_t *ret)
{
    static const char key[] = "\nUid:";
    const char *p = strstr(status, key);
    char *end;
    unsigned long uid;

    if (!p)
        return -1;
    p += sizeof(key) - 1;
    uid = strtoul(p, &end, 10);
    if (end == p)
        return -1;
    *ret = (uid_t)uid;
    return 0;
}

/* l->n: of no session. */
static uint32_t slot_of(const struct launcher *l, pid_t pid)
{
    char path[32], text[STATUS_SIZE];
    auto_fd int fd = -1;
    ssize_t n;
    uid_t uid;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return l->n;
    text[n] = '\0';
    if (locks_parse_user(text, &uid) < 0 || (int64_t)uid < l->config.session_uid_base ||
        (int64_t)uid - l->config.session_uid_base >= (int64_t)l->n)
        return l->n;
    return (uint32_t)((int64_t)uid - l->config.session_uid_base);
}

static uint32_t known_slot(const struct launcher *l, struct known *known, pid_t pid)
{
    struct known *k = &known[(unsigned)pid % KNOWN];

    if (k->pid != pid)
        *k = (struct known){ pid, slot_of(l, pid) };
    return k->slot;
}

/* The first slot found to have too many, or l->n. Ends there: the list may be as long as memory is large. */
static uint32_t find_hoarder(const struct launcher *l, FILE *f, unsigned *counts)
{
    struct known known[KNOWN] = { 0 };
    char line[LINE_SIZE];
    uint32_t slot;
    pid_t pid;

    while (fgets(line, sizeof(line), f)) {
        if (locks_parse_line(line, &pid) < 0)
            continue;
        slot = known_slot(l, known, pid);
        if (slot < l->n && ++counts[slot] > LOCKS_MOST)
            return slot;
    }
    return l->n;
}

static bool any_runs(const struct launcher *l)
{
    uint32_t i;

    for (i = 0; i < l->n; i++)
        if (l->places[i].slot.state == SLOT_BUSY)
            return true;
    return false;
}

static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct launcher *l = w->data;
    auto_free unsigned *counts = NULL;
    uint32_t slot;
    FILE *f;

    (void)loop;
    (void)events;
    if (!any_runs(l))
        return;
    counts = mem_zalloc(l->n, sizeof(*counts));
    f = counts ? fopen("/proc/locks", "re") : NULL;
    if (!f)
        return; /* a kernel without locks, or no memory: the next look comes */
    slot = find_hoarder(l, f, counts);
    (void)fclose(f);
    if (slot < l->n && l->places[slot].slot.state == SLOT_BUSY) {
        log_warn("slot %u: its session holds more than %d locks on files: it is ended", slot, LOCKS_MOST);
        places_stop(&l->places[slot]);
    }
}

void locks_watch(struct launcher *l)
{
    ev_timer_init(&l->locks, on_look, LOOK_S, LOOK_S);
    l->locks.data = l;
    ev_timer_start(l->loop, &l->locks);
}
