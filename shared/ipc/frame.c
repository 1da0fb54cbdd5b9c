#include "shared/ipc/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

#define FILL_CHUNK ((size_t)65536)
#define FILL_MOST (4 * FILL_CHUNK)
#define LONG_REST \
    ((size_t)16 << 10)   /* of a message: what follows it would be moved afterwards, by all of its length \
                          */
#define BEHIND_LONG 4096 /* read along with it: the next message's header */

void frame_put_header(uint8_t h[FRAME_HEADER], uint16_t type, uint32_t len)
{
    memset(h, 0, FRAME_HEADER);
    memcpy(h, &len, sizeof(len));
    memcpy(h + 4, &type, sizeof(type));
}

static int header_read(const uint8_t *h, size_t max, uint16_t *ret_type, uint32_t *ret_len, struct err *err)
{
    uint16_t zero;

    memcpy(ret_len, h, sizeof(*ret_len));
    memcpy(ret_type, h + 4, sizeof(*ret_type));
    memcpy(&zero, h + 6, sizeof(zero));
    if (zero || *ret_len > max || *ret_len > FRAME_MAX)
        return err_set(err, ERR_UPSTREAM, 0, "malformed or oversized message (%u bytes, type %u)", *ret_len, *ret_type);
    return 0;
}

int frame_send(int sock, uint16_t type, const struct buf *payload, int fd, struct err *err)
{
    uint8_t h[FRAME_HEADER];

    if (payload && (buf_failed(payload) || payload->len > FRAME_MAX))
        return err_set(err, ERR_INTERNAL, 0, "message of type %u does not fit", type);
    frame_put_header(h, type, payload ? (uint32_t)payload->len : 0);
    if (io_send_fd(sock, h, sizeof(h), fd) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "send");
    if (payload && io_write_all(sock, payload->data, payload->len) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "send");
    return 0;
}

/* io_read_all() sets errno for an end in the middle, not for one at the first byte; here both are the middle. */
static int recv_rest(int sock, void *data, size_t len, struct err *err)
{
    int r = io_read_all(sock, data, len);

    return r > 0 ? 0 : err_set(err, ERR_UNAVAILABLE, r < 0 ? errno : EPIPE, "receive");
}

/* The descriptor comes with the first byte of the header. */
static int recv_header(int sock, uint8_t h[FRAME_HEADER], int *ret_fd, struct err *err)
{
    ssize_t n = io_recv_fd(sock, h, FRAME_HEADER, ret_fd);

    if (n == 0)
        return 0;
    if (n < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "receive");
    if (n < FRAME_HEADER && recv_rest(sock, h + n, FRAME_HEADER - (size_t)n, err) < 0)
        return -1;
    return 1;
}

int frame_recv(int sock, uint16_t *ret_type, struct buf *payload, int *ret_fd, struct err *err)
{
    uint8_t h[FRAME_HEADER];
    auto_fd int fd = -1;
    uint16_t type;
    uint32_t len;
    int r = recv_header(sock, h, &fd, err);

    if (r <= 0)
        return r;
    buf_clear(payload);
    if (header_read(h, payload->max, &type, &len, err) < 0)
        return -1;
    if (buf_reserve(payload, len) < 0)
        return err_nomem(err);
    if (len && recv_rest(sock, payload->data, len, err) < 0)
        return -1;
    payload->len = len;
    if (payload->data)
        payload->data[len] = '\0';
    *ret_type = type;
    if (ret_fd)
        *ret_fd = steal_fd(fd);
    return 1;
}

void frame_reader_init(struct frame_reader *r, size_t max_payload)
{
    *r = (struct frame_reader){ .max = max_payload };
    buf_init(&r->in, max_payload + FRAME_HEADER + FILL_MOST);
}

void frame_reader_release(struct frame_reader *r)
{
    if (r)
        buf_release(&r->in);
}

/* Big bursts must not leave every connection with a big buffer for life. */
void frame_reader_slim(struct frame_reader *r)
{
    if (r->pos != r->in.len || r->in.cap <= 2 * FILL_CHUNK)
        return;
    buf_release(&r->in);
    r->pos = 0;
}

static void compact(struct frame_reader *r)
{
    frame_reader_slim(r);
    if (r->pos)
        buf_consume(&r->in, r->pos);
    r->pos = 0;
}

/* Bytes of the message at the front, come or not; whether its header is sound is looked at by who takes it out. */
static size_t front_size(const struct frame_reader *r)
{
    uint32_t len = 0;

    if (r->in.len >= FRAME_HEADER)
        memcpy(&len, r->in.data, sizeof(len));
    return FRAME_HEADER + (size_t)len;
}

/* How much to ask for, of the room there is: less at the end of a long message. */
static size_t worth_reading(const struct frame_reader *r, size_t room)
{
    size_t whole = front_size(r), want;

    if (whole < r->in.len + LONG_REST)
        return room;
    want = whole - r->in.len + BEHIND_LONG;
    return want < room ? want : room;
}

int frame_reader_fill(struct frame_reader *r, int sock, struct err *err)
{
    size_t total = 0;

    compact(r);
    while (total < FILL_MOST && r->in.len + FILL_CHUNK <= r->in.max) {
        size_t room, want;
        ssize_t n;

        if (buf_reserve(&r->in, FILL_CHUNK) < 0)
            return err_nomem(err);
        room = r->in.cap - 1 - r->in.len;
        want = worth_reading(r, room);
        n = read(sock, r->in.data + r->in.len, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 1;
        if (n < 0)
            return err_set(err, ERR_UNAVAILABLE, errno, "receive");
        if (n == 0)
            return total ? 1 : 0; /* what came before the end is handled first */
        r->in.len += (size_t)n;
        r->in.data[r->in.len] = '\0';
        total += (size_t)n;
        if ((size_t)n < room || front_size(r) > LONG_REST)
            return 1;
    }
    return 1;
}

int frame_reader_next(struct frame_reader *r, uint16_t *ret_type, const void **ret_payload, size_t *ret_len,
                      struct err *err)
{
    size_t have = r->in.len - r->pos;
    const uint8_t *h;
    uint32_t len;

    if (have < FRAME_HEADER)
        return 0;
    h = (const uint8_t *)r->in.data + r->pos;
    if (header_read(h, r->max, ret_type, &len, err) < 0)
        return -1;
    if (have - FRAME_HEADER < len)
        return 0;
    *ret_payload = h + FRAME_HEADER;
    *ret_len = len;
    r->pos += FRAME_HEADER + (size_t)len;
    return 1;
}

void frame_writer_init(struct frame_writer *w, size_t max)
{
    *w = (struct frame_writer){ 0 };
    buf_init(&w->out, max);
}

void frame_writer_release(struct frame_writer *w)
{
    if (w)
        buf_release(&w->out);
}

/* Room for so many bytes behind those that wait. */
static int make_room(struct frame_writer *w, size_t len)
{
    /* Bytes that have left are not held against those that come. */
    if (w->pos && (w->pos == w->out.len || w->pos > w->out.cap / 2 || len > w->out.max - w->out.len)) {
        buf_consume(&w->out, w->pos);
        w->pos = 0;
    }
    if (buf_reserve(&w->out, len) < 0) {
        w->out.failed = false; /* what waits is whole and may still be sent */
        return -1;
    }
    return 0;
}

static int total_size(const struct iovec *parts, size_t count, size_t *ret)
{
    size_t i, total = 0;

    for (i = 0; i < count; i++) {
        if (parts[i].iov_len > FRAME_MAX - total)
            return -1;
        total += parts[i].iov_len;
    }
    *ret = total;
    return 0;
}

static int put_parts(struct frame_writer *w, uint16_t type, const struct iovec *parts, size_t count)
{
    uint8_t h[FRAME_HEADER];
    size_t total, i;

    if (total_size(parts, count, &total) < 0 || make_room(w, sizeof(h) + total) < 0)
        return -1;
    frame_put_header(h, type, (uint32_t)total);
    buf_add(&w->out, h, sizeof(h));
    for (i = 0; i < count; i++)
        buf_add(&w->out, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

int frame_writer_put(struct frame_writer *w, uint16_t type, const void *payload, size_t len)
{
    const struct iovec part = { (void *)(uintptr_t)payload, len };

    return put_parts(w, type, &part, 1);
}

/* What sendmsg() left of these parts. */
static void keep_rest(struct frame_writer *w, const struct iovec *parts, size_t count, size_t sent)
{
    size_t i;

    for (i = 0; i < count; i++) {
        size_t gone = sent < parts[i].iov_len ? sent : parts[i].iov_len;

        sent -= gone;
        buf_add(&w->out, (const char *)parts[i].iov_base + gone, parts[i].iov_len - gone);
    }
}

/* Room is made first: a message of which a part has left must be kept to its end. */
int frame_writer_send_parts(struct frame_writer *w, int sock, uint16_t type, const struct iovec *parts, size_t count)
{
    uint8_t h[FRAME_HEADER];
    struct iovec all[1 + FRAME_PARTS] = { { h, sizeof(h) } };
    const struct msghdr m = { .msg_iov = all, .msg_iovlen = 1 + count };
    size_t total;
    ssize_t n;

    if (frame_writer_pending(w)) {
        if (put_parts(w, type, parts, count) < 0)
            return -1;
        return frame_writer_flush(w, sock);
    }
    if (count > FRAME_PARTS || total_size(parts, count, &total) < 0 || make_room(w, sizeof(h) + total) < 0)
        return -1;
    frame_put_header(h, type, (uint32_t)total);
    memcpy(all + 1, parts, count * sizeof(*parts));
    do
        n = sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN)
        return -1;
    keep_rest(w, all, 1 + count, n > 0 ? (size_t)n : 0);
    return frame_writer_pending(w) ? 0 : frame_writer_flush(w, sock);
}

size_t frame_writer_pending(const struct frame_writer *w)
{
    return w->out.len - w->pos;
}

int frame_writer_flush(struct frame_writer *w, int sock)
{
    while (w->pos < w->out.len) {
        ssize_t n = send(sock, w->out.data + w->pos, w->out.len - w->pos, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        w->pos += (size_t)n;
    }
    if (w->out.cap > 2 * FILL_CHUNK)
        buf_release(&w->out);
    else
        buf_clear(&w->out);
    w->pos = 0;
    return 0;
}
