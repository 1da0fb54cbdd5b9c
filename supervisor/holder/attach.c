/* One browser, through the supervisor: frames out as it takes them, frames in as the agent takes them.
 * Frames go from the journal to the socket, many at once and without a copy in between; one that has left in part stays
 * the journal's next, so whoever comes after this browser gets it whole. */
#include <string.h>
#include <sys/uio.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/holder/holder.h"

#define SEND_FRAMES 128 /* handed to the kernel at once */
#define SEND_BYTES ((size_t)256 << 10)

/* A HOLD_FRAME up to its text, as wire_put_bytes() makes it; the NUL behind a frame's bytes closes the field. */
struct frame_head {
    uint8_t bytes[FRAME_HEADER + sizeof(uint64_t) + sizeof(uint32_t)];
};

static void put_head(struct frame_head *head, uint64_t number, size_t text_len)
{
    const uint32_t len = (uint32_t)text_len;
    uint8_t *p = head->bytes;

    frame_put_header(p, HOLD_FRAME, (uint32_t)(sizeof(number) + sizeof(len)) + len + 1);
    memcpy(p + FRAME_HEADER, &number, sizeof(number));
    memcpy(p + FRAME_HEADER + sizeof(number), &len, sizeof(len));
}

static size_t wire_size(const struct journal_frame *f)
{
    return sizeof(struct frame_head) + f->len + 1;
}

static void skip(struct iovec *part, size_t n)
{
    part->iov_base = (char *)part->iov_base + n;
    part->iov_len -= n;
}

/* What is to leave next: how many parts. */
static size_t gather(const struct conn *c, struct frame_head heads[SEND_FRAMES], struct iovec parts[2 * SEND_FRAMES])
{
    const struct journal_frame *f;
    size_t n, total = 0;
    uint64_t number;

    for (n = 0; n < SEND_FRAMES && total < SEND_BYTES; n++) {
        f = journal_peek(&c->holder->journal, n, &number);
        if (!f)
            break;
        put_head(&heads[n], number, f->len);
        parts[2 * n] = (struct iovec){ heads[n].bytes, sizeof(heads[n].bytes) };
        parts[2 * n + 1] = (struct iovec){ f->data, f->len + 1 };
        total += wire_size(f);
    }
    if (n) {
        size_t of_head = c->begun < sizeof(*heads) ? c->begun : sizeof(*heads);

        skip(&parts[0], of_head);
        skip(&parts[1], c->begun - of_head);
    }
    return 2 * n;
}

static void pass_sent(struct conn *c, size_t n)
{
    const struct journal_frame *f;
    uint64_t number;

    c->begun += n;
    while ((f = journal_peek(&c->holder->journal, 0, &number)) && c->begun >= wire_size(f)) {
        c->begun -= wire_size(f);
        journal_pass(&c->holder->journal);
    }
}

/* As far as the socket takes them: true when none is left. */
static bool send_frames(struct conn *c)
{
    struct frame_head heads[SEND_FRAMES];
    struct iovec parts[2 * SEND_FRAMES];
    size_t count, n;

    while ((count = gather(c, heads, parts))) {
        n = conn_send(c, parts, count);
        if (n == 0)
            return false;
        pass_sent(c, n);
    }
    return true;
}

static void put_exit(struct conn *c)
{
    struct holder *h = c->holder;
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u8(&b, (uint8_t)h->reason);
    wire_put_u32(&b, h->code);
    if (conn_put(c, HOLD_EXIT, &b) < 0)
        conn_close(c);
    else
        conn_finish(c);
}

void attach_pump(struct holder *h)
{
    struct conn *c = h->attach;

    if (!c || c->last || c->broken)
        return;
    conn_push(c);     /* the answer to HOLD_ATTACH goes first */
    control_count(h); /* what a browser has is counted */
    if (!frame_writer_pending(&c->out) && send_frames(c) && h->phase == HOLD_ENDED)
        put_exit(c);
    agent_flow(h);
}

static int on_attach(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    struct conn *old = h->attach;
    uint64_t after = wire_get_u64(in), from, lost;
    auto_buf struct buf b;

    buf_init(&b, 64);
    if (wire_end(in) < 0 || old == c)
        return -1;
    h->attach = c;
    if (old)
        conn_close(old); /* nobody leaves: what it was not given is not dropped */
    journal_attach(&h->journal, after, &from, &lost);
    wire_put_u64(&b, from);
    wire_put_u64(&b, lost);
    if (conn_put(c, HOLD_ATTACHED, &b) < 0)
        return -1;
    session_attached(h);
    attach_pump(h);
    return 0;
}

/* Frames beyond the agent's queue stay unread: the browser's side fills up, nothing is lost. */
static int on_send(struct conn *c, struct wire_in *in)
{
    struct holder *h = c->holder;
    size_t len;
    const void *data = wire_get_bytes(in, AGENT_WS_MESSAGE_MAX, &len);

    if (wire_end(in) < 0 || h->attach != c)
        return -1;
    if (h->phase == HOLD_ENDED || h->ending)
        return 0;
    if (agent_ws_send(&h->ws, data, len) < 0)
        return -1;
    transcript_add(&h->transcript, HOLD_SAID_BROWSER, time_mono_ms(), data, len);
    c->paused = agent_ws_is_full(&h->ws);
    return 0;
}

static int on_message(struct conn *c, uint16_t type, struct wire_in *in)
{
    switch (type) {
    case HOLD_ATTACH:
        return on_attach(c, in);
    case HOLD_SEND:
        return on_send(c, in);
    default:
        return -1;
    }
}

void attach_drained(struct holder *h)
{
    if (h->attach && h->attach->paused)
        conn_resume(h->attach);
}

static void on_turned(struct conn *c)
{
    struct holder *h = c->holder;

    if (h->attach == c)
        agent_ws_push(&h->ws);
}

static void on_sent(struct conn *c)
{
    struct holder *h = c->holder;

    if (h->attach != c)
        return;
    if (h->phase == HOLD_ENDED)
        session_progress(h);
    attach_pump(h);
}

static void on_closed(struct conn *c)
{
    struct holder *h = c->holder;
    bool told = c->last && !frame_writer_pending(&c->out);

    if (h->attach != c)
        return;
    h->attach = NULL;
    journal_detach(&h->journal);
    if (told)
        session_delivered(h);
    else
        session_detached(h);
    agent_flow(h);
}

const struct conn_role attach_role = { "attach", on_message, on_turned, on_sent, on_closed };
