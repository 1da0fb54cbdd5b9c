#include "fcgi/holder.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

#define START_MS 60000

int holder_link_init(struct holder_link *l, int fd, unsigned timeout_ms, struct err *err)
{
    *l = (struct holder_link){ .fd = fd, .deadline = time_mono_ms() + timeout_ms };
    frame_reader_init(&l->in, HOLD_MAX_PAYLOAD);
    if (io_set_nonblock(fd, true) < 0)
        return err_set(err, ERR_INTERNAL, errno, "connection to a session");
    return 0;
}

void holder_link_release(struct holder_link *l)
{
    if (!l)
        return;
    frame_reader_release(&l->in);
    cleanup_fd_close(&l->fd);
    l->fd = -1;
}

static int gone(struct err *err)
{
    return err_set(err, ERR_UPSTREAM, 0, "The session ended before it answered");
}

static int nonsense(struct err *err)
{
    log_error("holder: its message is malformed");
    return err_set(err, ERR_UPSTREAM, 0, "The session answered something that cannot be understood");
}

static int said_failed(const void *payload, size_t len, struct err *err)
{
    struct wire_in in;
    struct err said;

    wire_start(&in, payload, len);
    if (rpc_get_error(&in, &said) < 0)
        return nonsense(err);
    *err = said;
    return -1;
}

/* A whole message that is there already: 1, 0 none, -1. */
static int take(struct holder_link *l, enum hold_type *ret_type, const void **ret_payload, size_t *ret_len,
                struct err *err)
{
    uint16_t type;
    int r = frame_reader_next(&l->in, &type, ret_payload, ret_len, err);

    if (r < 0)
        return nonsense(err);
    if (r > 0 && type == HOLD_FAILED) {
        l->told = true;
        return said_failed(*ret_payload, *ret_len, err);
    }
    *ret_type = r > 0 ? (enum hold_type)type : 0;
    return r;
}

/* Waits for something to read, or, when sending, for room. */
static int wait_ready(struct holder_link *l, bool sending, bool *ret_readable, struct err *err)
{
    struct pollfd p = { .fd = l->fd, .events = (short)(POLLIN | (sending ? POLLOUT : 0)) };
    int64_t left;
    int n;

    do {
        left = l->deadline - time_mono_ms();
        n = left > 0 ? poll(&p, 1, (int)left) : 0;
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, ERR_INTERNAL, errno, "poll");
    if (n == 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "The session did not answer in time");
    *ret_readable = p.revents & (POLLIN | POLLHUP | POLLERR);
    return 0;
}

/* Reads what came: 1, 0 when the holder hung up. */
static int fill(struct holder_link *l, struct err *err)
{
    int r = frame_reader_fill(&l->in, l->fd, err);

    return r < 0 && err->kind == ERR_UNAVAILABLE ? 0 : r;
}

/* The holder speaks before it has the whole program only to say that it failed. */
static int hear_why(struct holder_link *l, bool lost, struct err *err)
{
    enum hold_type type;
    const void *payload;
    size_t len;
    int filled = fill(l, err), r;

    if (filled < 0)
        return -1;
    r = take(l, &type, &payload, &len, err);
    if (r < 0)
        return -1;
    if (r > 0)
        return nonsense(err);
    return lost || !filled ? gone(err) : 0;
}

static int push(struct holder_link *l, const void *data, size_t len, struct err *err)
{
    const char *p = data;
    bool readable = false;

    while (len) {
        ssize_t n = send(l->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            if (wait_ready(l, true, &readable, err) < 0 || (readable && hear_why(l, false, err) < 0))
                return -1;
        } else if (n < 0 && errno != EINTR) {
            return hear_why(l, true, err);
        }
    }
    return 0;
}

int holder_send(struct holder_link *l, enum hold_type type, const struct buf *payload, struct err *err)
{
    uint8_t header[FRAME_HEADER];
    size_t len = payload ? payload->len : 0;

    if ((payload && buf_failed(payload)) || len > FRAME_MAX)
        return err_nomem(err);
    frame_put_header(header, (uint16_t)type, (uint32_t)len);
    if (push(l, header, sizeof(header), err) < 0)
        return -1;
    return len ? push(l, payload->data, len, err) : 0;
}

int holder_receive(struct holder_link *l, enum hold_type *ret_type, const void **ret_payload, size_t *ret_len,
                   struct err *err)
{
    bool readable = false;
    int r;

    for (;;) {
        r = take(l, ret_type, ret_payload, ret_len, err);
        if (r != 0)
            return r < 0 ? -1 : 0;
        if (wait_ready(l, false, &readable, err) < 0)
            return -1;
        r = fill(l, err);
        if (r <= 0)
            return r < 0 ? -1 : gone(err);
    }
}

static int send_file(struct holder_link *l, const struct bundle_file *f, struct err *err)
{
    auto_buf struct buf payload;
    size_t done = 0, part;
    int r = 0;

    buf_init(&payload, HOLD_CHUNK + HOLD_PATH_MAX + 64);
    do {
        part = f->size - done < HOLD_CHUNK ? f->size - done : HOLD_CHUNK;
        buf_clear(&payload);
        wire_put_str(&payload, f->path);
        wire_put_bytes(&payload, f->content + done, part);
        r = holder_send(l, HOLD_FILE, &payload, err);
        done += part;
    } while (r == 0 && done < f->size);
    mem_wipe(payload.data, payload.cap); /* config.yaml holds credentials */
    return r;
}

static int send_text(struct holder_link *l, enum hold_type type, const char *text, struct err *err)
{
    auto_buf struct buf payload;

    buf_init(&payload, HOLD_PATH_MAX + 64);
    wire_put_str(&payload, text);
    return holder_send(l, type, &payload, err);
}

static int send_env(struct holder_link *l, const struct env_pair *e, struct err *err)
{
    auto_buf struct buf payload;
    int r;

    buf_init(&payload, 2 * HOLD_TEXT_MAX + 64);
    wire_put_str(&payload, e->name);
    wire_put_str(&payload, e->value);
    r = holder_send(l, HOLD_ENV, &payload, err);
    mem_wipe(payload.data, payload.cap);
    return r;
}

static int send_bundle(struct holder_link *l, const struct bundle *b, const struct env_pair *env, size_t env_len,
                       struct err *err)
{
    size_t i;

    if (holder_send(l, HOLD_BUNDLE, NULL, err) < 0)
        return -1;
    for (i = 0; i < b->directories.len; i++)
        if (send_text(l, HOLD_DIR, b->directories.items[i], err) < 0)
            return -1;
    for (i = 0; i < b->files_len; i++)
        if (send_file(l, &b->files[i], err) < 0)
            return -1;
    for (i = 0; i < env_len; i++)
        if (send_env(l, &env[i], err) < 0)
            return -1;
    return holder_send(l, HOLD_START, NULL, err);
}

static int await_start(struct holder_link *l, uint32_t *ret_port, struct err *err)
{
    enum hold_type type = 0;
    const void *payload = NULL;
    struct wire_in in;
    uint32_t port;
    size_t len = 0;

    if (holder_receive(l, &type, &payload, &len, err) < 0)
        return -1;
    wire_start(&in, payload, len);
    port = wire_get_u32(&in);
    if (type != HOLD_STARTED || wire_end(&in) < 0)
        return nonsense(err);
    *ret_port = port;
    return 0;
}

int holder_start(int fd, const struct bundle *b, const struct env_pair *env, size_t env_len, uint32_t *ret_port,
                 bool *ret_told, struct err *err)
{
    struct holder_link l;
    int r = holder_link_init(&l, fd, START_MS, err);

    if (r == 0)
        r = send_bundle(&l, b, env, env_len, err);
    if (r == 0)
        r = await_start(&l, ret_port, err);
    *ret_told = l.told;
    holder_link_release(&l);
    return r;
}

int holder_get_entry(const void *payload, size_t len, struct holder_file *ret, struct err *err)
{
    struct holder_file f = { 0 };
    struct wire_in in;

    wire_start(&in, payload, len);
    f.directory = wire_get_u8(&in) == HOLD_ENTRY_DIR;
    f.path = wire_get_bytes(&in, HOLD_PATH_MAX, &f.path_len);
    f.size = wire_get_u64(&in);
    f.has_content = wire_get_u8(&in) != 0;
    f.content = wire_get_bytes(&in, HOLD_MAX_PAYLOAD, &f.content_len);
    if (wire_end(&in) < 0 || !f.path_len || memchr(f.path, '\0', f.path_len))
        return nonsense(err);
    *ret = f;
    return 0;
}
