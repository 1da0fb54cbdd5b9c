#include "supervisor/holder/agent_queue.h"

#include <stdint.h>
#include <sys/random.h>

#include "shared/base/mem.h"
#include "supervisor/holder/client_frame.h"
#include "supervisor/holder/ws_frame.h"

#define KEEP_MOST ((size_t)1 << 20)
#define TRIES_MOST 3 /* connections that ended in the middle of one frame */

struct agent_frame {
    struct agent_frame *next;
    size_t len;      /* of the payload */
    size_t head_len; /* of its header, right in front of the payload */
    unsigned tries;
    bool bad;        /* the agent ends the connection because of it, and reads nothing behind it */
    uint8_t bytes[]; /* WS_HEAD_MAX, then the payload, masked */
};

static size_t cost(const struct agent_frame *f)
{
    return sizeof(*f) + WS_HEAD_MAX + f->len;
}

static size_t wire_size(const struct agent_frame *f)
{
    return f->head_len + f->len;
}

static struct iovec on_the_wire(struct agent_frame *f, size_t from)
{
    return (struct iovec){ f->bytes + WS_HEAD_MAX - f->head_len + from, wire_size(f) - from };
}

static void free_all(struct agent_frame *f)
{
    while (f) {
        struct agent_frame *next = f->next;

        mem_free(f);
        f = next;
    }
}

void agent_queue_forget(struct agent_queue *q)
{
    free_all(q->kept);
    q->kept = q->kept_last = NULL;
    q->kept_bytes = 0;
    q->keeping = false;
}

void agent_queue_release(struct agent_queue *q)
{
    agent_queue_forget(q);
    free_all(q->first);
    *q = (struct agent_queue){ 0 };
}

int agent_queue_add(struct agent_queue *q, const void *data, size_t len)
{
    bool bad = client_frame_is_bad(data, len);
    struct agent_frame *f;
    uint32_t key;

    if (bad && q->minds && q->bad >= AGENT_QUEUE_BAD_MOST)
        return 1;
    if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key) ||
        !(f = mem_resize(NULL, 1, sizeof(*f) + WS_HEAD_MAX + len)))
        return -1;
    *f = (struct agent_frame){ .len = len, .bad = bad };
    f->head_len = ws_head_put(f->bytes, WS_TEXT, len, key);
    ws_mask(f->bytes + WS_HEAD_MAX, data, len, key);
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    q->bytes += cost(f);
    q->bad += bad;
    return 0;
}

size_t agent_queue_rest(const struct agent_queue *q, struct iovec *part)
{
    if (!q->sent)
        return 0;
    *part = on_the_wire(q->first, q->sent);
    return 1;
}

bool agent_queue_flows(const struct agent_queue *q)
{
    return !(q->keeping && q->minds);
}

size_t agent_queue_whole(const struct agent_queue *q, struct iovec *parts, size_t most, size_t bytes)
{
    struct agent_frame *f = q->sent ? q->first->next : q->first;
    size_t n = 0, total = 0;

    if (!agent_queue_flows(q) || (q->sent && q->minds && q->first->bad))
        return 0;
    for (; f && n < most && total < bytes; f = f->next) {
        parts[n++] = on_the_wire(f, 0);
        total += wire_size(f);
        if (f->bad && q->minds)
            break;
    }
    return n;
}

static struct agent_frame *take_first(struct agent_queue *q)
{
    struct agent_frame *f = q->first;

    q->first = f->next;
    if (!q->first)
        q->last = NULL;
    q->bytes -= cost(f);
    q->bad -= f->bad;
    q->sent = 0;
    f->next = NULL;
    return f;
}

static void keep(struct agent_queue *q, struct agent_frame *f)
{
    if (q->kept_last)
        q->kept_last->next = f;
    else
        q->kept = f;
    q->kept_last = f;
    q->kept_bytes += cost(f);
    if (q->kept_bytes > KEEP_MOST)
        agent_queue_forget(q);
}

size_t agent_queue_sent(struct agent_queue *q, size_t n)
{
    struct agent_frame *f;
    size_t rest = wire_size(q->first) - q->sent;

    if (n < rest) {
        q->sent += n;
        return 0;
    }
    f = take_first(q);
    if (q->keeping) {
        keep(q, f);
    } else {
        q->keeping = f->bad;
        mem_free(f);
    }
    return n - rest;
}

/* They were sent before the others, so they are first again. */
static void take_kept_back(struct agent_queue *q)
{
    const struct agent_frame *f;

    for (f = q->kept; f; f = f->next) {
        q->bytes += cost(f);
        q->bad += f->bad;
    }
    if (q->kept) {
        q->kept_last->next = q->first;
        q->first = q->kept;
        q->last = q->last ? q->last : q->kept_last;
        q->kept = NULL;
    }
    agent_queue_forget(q);
}

/* One that has just shown that it minds may have been sent any number. */
static void drop_bad(struct agent_queue *q)
{
    struct agent_frame **p = &q->first, *f;
    size_t n = 0;

    q->last = NULL;
    while ((f = *p)) {
        if (f->bad && ++n > AGENT_QUEUE_BAD_MOST) {
            *p = f->next;
            q->bytes -= cost(f);
            q->bad--;
            q->dropped = true;
            mem_free(f);
        } else {
            q->last = f;
            p = &f->next;
        }
    }
}

/* Such a frame may be longer than this agent takes: it would never hear of another one. */
bool agent_queue_again(struct agent_queue *q)
{
    bool given_up = q->sent && ++q->first->tries == TRIES_MOST;

    if (given_up)
        mem_free(take_first(q));
    q->sent = 0;
    q->minds = q->minds || q->keeping;
    take_kept_back(q);
    q->dropped = false;
    if (q->minds)
        drop_bad(q);
    return given_up;
}
