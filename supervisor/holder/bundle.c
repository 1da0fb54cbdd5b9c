/* The worker's connection that brings the program and waits for its start. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "supervisor/holder/beneath.h"
#include "supervisor/holder/holder.h"
#include "supervisor/sandbox/env.h"

#define BYTES_MAX ((uint64_t)96 << 20) /* a request body has 50 MiB at most, as base64 of less */
#define ENTRIES_MAX 10000

static int check_path(const char *path, struct err *err)
{
    if (path_check(path, strlen(path)) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "no path below the work directory: %.200s", path);
    return 0;
}

static int count_entry(struct bundle *b, uint64_t bytes, struct err *err)
{
    b->bytes += bytes;
    if (++b->entries > ENTRIES_MAX || b->bytes > BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, 0, "the program has too many or too large files");
    return 0;
}

/* The work directory has a file system of its own, of limited size: what does not fit is the program's doing. */
static bool has_own_disk(const struct holder *h)
{
    struct statfs fs;

    return h->config.disk_mb > 0 && fstatfs(h->work_fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static int path_error(const struct holder *h, const char *path, struct err *err)
{
    int e = errno;
    bool theirs = e == ENOTDIR || e == EISDIR || e == ENAMETOOLONG || e == ELOOP || e == EEXIST || e == ENXIO;

    if (e == ENOSPC && has_own_disk(h))
        return err_set(err, ERR_TOO_LARGE, 0, "The program needs more room or files than a session may have (%lld MiB)",
                       (long long)h->config.disk_mb);
    if (e == ENOSPC || e == EDQUOT)
        return err_set(err, ERR_UNAVAILABLE, e, "There is no room for the files of another session");
    return err_set(err, theirs ? ERR_BAD_REQUEST : ERR_INTERNAL, e, "%.200s", path);
}

static int on_file(struct holder *h, struct wire_in *in, struct err *err)
{
    const char *path = wire_get_str(in, HOLD_PATH_MAX);
    size_t len;
    const void *data = wire_get_bytes(in, HOLD_CHUNK, &len);
    auto_fd int fd = -1;

    if (wire_end(in) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed bundle");
    if (check_path(path, err) < 0 || count_entry(&h->bundle, len, err) < 0)
        return -1;
    fd = beneath_append(h->work_fd, path);
    if (fd < 0 || io_write_all(fd, data, len) < 0)
        return path_error(h, path, err);
    return 0;
}

static int on_dir(struct holder *h, struct wire_in *in, struct err *err)
{
    const char *path = wire_get_str(in, HOLD_PATH_MAX);

    if (wire_end(in) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed bundle");
    if (check_path(path, err) < 0 || count_entry(&h->bundle, 0, err) < 0)
        return -1;
    return beneath_mkdir(h->work_fd, path) < 0 ? path_error(h, path, err) : 0;
}

static int on_env(struct holder *h, struct wire_in *in, struct err *err)
{
    const char *name = wire_get_str(in, ENV_NAME_MAX);
    const char *value = wire_get_str(in, HOLD_TEXT_MAX);

    if (wire_end(in) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed bundle");
    if (env_check_extra(name, value, err) < 0)
        return -1;
    if (h->bundle.extra.n >= ENV_EXTRA_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "too many variables for the agent");
    strv_set_env(&h->bundle.extra, name, value);
    return h->bundle.extra.failed ? err_nomem(err) : 0;
}

static int on_start(struct holder *h, struct wire_in *in, struct err *err)
{
    if (wire_end(in) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed bundle");
    return session_start(h, err);
}

static int on_first(struct conn *c, struct wire_in *in, struct err *err)
{
    struct holder *h = c->holder;

    if (wire_end(in) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "malformed bundle");
    if (h->ending && !h->bundle.seen) /* its owner was faster than its program */
        return err_set(err, ERR_UNAVAILABLE, 0, "the session has ended (%s)", hold_reason_name(h->reason));
    if (h->bundle.seen || h->phase != HOLD_WAITING || h->ending || h->warm.unclaimed)
        return err_set(err, ERR_CONFLICT, 0, "this session has its program already");
    h->bundle.seen = true;
    h->bundle.conn = c;
    return 0;
}

static int dispatch(struct conn *c, uint16_t type, struct wire_in *in, struct err *err)
{
    struct holder *h = c->holder;

    if (type == HOLD_BUNDLE)
        return on_first(c, in, err);
    if (h->bundle.conn != c || h->phase != HOLD_WAITING || h->ending)
        return err_set(err, ERR_CONFLICT, 0, "the session has started or ended");
    switch (type) {
    case HOLD_FILE:
        return on_file(h, in, err);
    case HOLD_DIR:
        return on_dir(h, in, err);
    case HOLD_ENV:
        return on_env(h, in, err);
    case HOLD_START:
        return on_start(h, in, err);
    default:
        return err_set(err, ERR_BAD_REQUEST, 0, "unexpected message");
    }
}

static int on_message(struct conn *c, uint16_t type, struct wire_in *in)
{
    struct holder *h = c->holder;
    struct err err = { 0 };

    if (dispatch(c, type, in, &err) == 0)
        return 0;
    if (h->bundle.conn == c && h->phase == HOLD_WAITING) {
        bundle_failed(h, &err);
        session_end(h, HOLD_REASON_START_FAILED);
    } else {
        conn_fail(c, &err);
    }
    return 0;
}

/* Credentials came through the reader's memory: not left there. */
static void wipe(struct conn *c)
{
    if (c->in.in.data)
        mem_wipe(c->in.in.data, c->in.in.cap);
}

void bundle_started(struct holder *h)
{
    struct conn *c = h->bundle.conn;
    auto_buf struct buf b;

    buf_init(&b, 64);
    strv_release(&h->bundle.extra);
    if (!c)
        return;
    h->bundle.conn = NULL;
    wire_put_u32(&b, h->port);
    if (conn_put(c, HOLD_STARTED, &b) < 0)
        conn_close(c);
    else
        conn_finish(c);
}

void bundle_failed(struct holder *h, const struct err *err)
{
    struct conn *c = h->bundle.conn;

    strv_release(&h->bundle.extra);
    if (!c)
        return;
    h->bundle.conn = NULL;
    conn_fail(c, err);
}

static void on_closed(struct conn *c)
{
    struct holder *h = c->holder;

    wipe(c);
    if (h->bundle.conn != c)
        return;
    h->bundle.conn = NULL;
    strv_release(&h->bundle.extra);
    /* The worker died midway. What it started nobody will ever hear of. */
    if (h->phase == HOLD_WAITING || h->phase == HOLD_STARTING)
        session_end(h, HOLD_REASON_START_FAILED);
}

const struct conn_role bundle_role = { "bundle", on_message, NULL, NULL, on_closed };
