#include "supervisor/quota_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"

#define FILE_MOST ((size_t)32 << 20) /* more than the most actors can leave in two windows, as usually set */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static void complain(struct quota_log *l, const char *what)
{
    if (!l->complained)
        log_warn("rates: %s: %s; a restart will forget who knocked how often", what, strerror(errno));
    l->complained = true;
}

/* The line "<ms> <actor>" at s, cut at its end: 0, or -1 when it is none. */
static int parse(char *s, int64_t *ret_ms, const char **ret_actor)
{
    char *end;

    errno = 0;
    *ret_ms = strtoll(s, &end, 10);
    if (errno || end == s || *end != ' ' || *ret_ms < 0 || !end[1] || strlen(end + 1) > RPC_ACTOR_MAX)
        return -1;
    *ret_actor = end + 1;
    return 0;
}

/* Lines of the last window, in order: each is a knock that was counted. *last: time of the latest. False: the file is
 * not of this boot. */
static bool count(const struct quota_log *l, char *text, struct quota *q, int64_t now_ms, int64_t *last)
{
    char *line = text, *next;
    bool first = true;

    for (; line && (next = strchr(line, '\n')); line = next + 1) { /* a last line that was cut has no end */
        const char *actor;
        int64_t at;

        *next = '\0';
        if (first && strcmp(line, l->boot) != 0)
            return false;
        if (!first && parse(line, &at, &actor) == 0 && at >= *last && at <= now_ms && at > now_ms - l->window_ms) {
            (void)quota_hit(q, actor, at, NULL);
            *last = at;
        }
        first = false;
    }
    return !first;
}

/* Is the newer file one to go on with? */
static bool recall(const struct quota_log *l, struct quota *q, int64_t now_ms)
{
    const char *const paths[] = { l->before, l->now };
    int64_t last = 0;
    bool ours = false;
    size_t i;

    for (i = 0; i < ARRAY_LEN(paths); i++) {
        auto_buf struct buf b;
        struct err err;

        buf_init(&b, FILE_MOST);
        ours = io_read_file(paths[i], &b, &err) == 0 && b.len && count(l, b.data, q, now_ms, &last);
    }
    return ours;
}

static void begin_file(struct quota_log *l, int64_t now_ms)
{
    char head[sizeof(l->boot) + 1];
    int n = snprintf(head, sizeof(head), "%s\n", l->boot);

    cleanup_fd_close(&l->fd);
    if (rename(l->now, l->before) < 0 && errno != ENOENT)
        complain(l, l->before);
    l->fd = open(l->now, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->fd < 0 || write(l->fd, head, (size_t)n) != n)
        complain(l, l->now);
    l->begun_ms = now_ms;
}

static void name_boot(struct quota_log *l)
{
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, 4096);
    if (io_read_file(BOOT_ID, &b, &err) == 0 && b.len)
        (void)snprintf(l->boot, sizeof(l->boot), "boot %.*s", (int)strcspn(b.data, "\n"), b.data);
    else
        (void)snprintf(l->boot, sizeof(l->boot), "boot ?");
}

void quota_log_open(struct quota_log *l, const char *runtime_dir, int64_t window_ms, struct quota *q, int64_t now_ms)
{
    char dir[QUOTA_LOG_PATH - 16];

    *l = (struct quota_log){ .fd = -1, .window_ms = window_ms };
    if (snprintf(dir, sizeof(dir), "%s/rates", runtime_dir) >= (int)sizeof(dir))
        return;
    (void)snprintf(l->now, sizeof(l->now), "%s/now", dir);
    (void)snprintf(l->before, sizeof(l->before), "%s/before", dir);
    name_boot(l);
    (void)mkdir(dir, 0700); /* usually the keeper made it */
    /* What is there stays until it is older than a window: a supervisor that dies at once again must not lose it. */
    if (recall(l, q, now_ms))
        l->fd = open(l->now, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (l->fd < 0)
        begin_file(l, now_ms);
    else
        l->begun_ms = now_ms;
}

void quota_log_close(struct quota_log *l)
{
    cleanup_fd_close(&l->fd);
    l->fd = -1;
}

void quota_log_add(struct quota_log *l, const char *actor, int64_t now_ms)
{
    char line[RPC_ACTOR_MAX + 32];
    int n;

    if (l->fd < 0 || strchr(actor, '\n'))
        return;
    if (now_ms - l->begun_ms > l->window_ms)
        begin_file(l, now_ms);
    n = snprintf(line, sizeof(line), "%lld %s\n", (long long)now_ms, actor);
    if (l->fd >= 0 && n < (int)sizeof(line) && write(l->fd, line, (size_t)n) != n)
        complain(l, l->now);
}
