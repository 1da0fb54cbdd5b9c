/* Requests that wait for a place (sessions.h): how long, in which order, and their turn. */
#include <stdlib.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/sessions.h"

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Milliseconds after which its place is free at the latest. */
static int64_t left_of(const struct sessions *ss, const struct session *s)
{
    int64_t left = s->expires_mono_ms - time_mono_ms(), grace;

    if (session_is_leaving(s) || s->reason)
        return 0;
    if (s->state != SESSION_DETACHED)
        return left;
    grace = s->detached_ms + ss->config->detach_s * 1000 - time_mono_ms();
    return grace < left ? grace : left;
}

/* Whole seconds after which so many places have come free at the latest; they may come earlier. */
static unsigned seconds_for(const struct sessions *ss, size_t position)
{
    auto_free int64_t *left = mem_zalloc(ss->table.slots, sizeof(*left));
    int64_t ms = ss->config->session_lifetime_s * 1000;
    size_t n = 0;
    uint32_t i;

    for (i = 0; left && i < ss->table.slots; i++)
        if (session_table_at(&ss->table, i))
            left[n++] = left_of(ss, session_table_at(&ss->table, i));
    if (n) {
        qsort(left, n, sizeof(*left), by_size);
        ms = left[position <= n ? position - 1 : n - 1];
    }
    return ms > 1000 ? (unsigned)((ms + 999) / 1000) : 1;
}

int sessions_full(struct sessions *ss, struct create_request *r, struct err *err)
{
    unsigned wait;

    r->full = true;
    r->position = r->entry.line ? queue_position(&ss->queue, &r->entry) : ss->queue.count + 1;
    wait = seconds_for(ss, r->position);
    err_set(err, ERR_LIMIT, 0,
            "Every place of the service is taken (%u): you are number %zu in line, one is free in %u s at the latest",
            ss->slots.count, r->position, wait);
    err->wait = wait;
    return -1;
}

static void leave(struct create_request *r)
{
    if (!r->queued)
        return;
    queue_leave(&r->queued->queue, &r->entry);
    ev_timer_stop(r->queued->loop, &r->patience);
    r->queued = NULL;
}

void create_cancel(struct create_request *r)
{
    waiter_cancel(&r->waiter);
    leave(r);
}

static void tell(struct create_request *r, const struct err *err)
{
    leave(r);
    list_remove(&r->waiter.link);
    r->waiter.done(&r->waiter, NULL, err);
}

static void on_patience(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct create_request *r = w->data;
    struct sessions *ss = r->queued;
    struct err err;

    (void)loop;
    (void)revents;
    sessions_full(ss, r, &err);
    ss->metrics.limits[METRICS_CAPACITY]++;
    tell(r, &err);
}

int sessions_join_queue(struct sessions *ss, struct create_request *r)
{
    r->entry = (struct queue_entry){ 0 };
    if (queue_join(&ss->queue, &r->entry, r->actor) < 0)
        return -1;
    r->queued = ss;
    ev_timer_init(&r->patience, on_patience, r->wait_s, 0.);
    r->patience.data = r;
    ev_timer_start(ss->loop, &r->patience);
    log_info("%s waits for a place, at number %zu", r->actor, queue_position(&ss->queue, &r->entry));
    return 0;
}

void sessions_serve_queue(struct sessions *ss)
{
    struct queue_entry *e;

    if (ss->serving)
        return;
    ss->serving = true;
    while ((e = queue_first(&ss->queue))) {
        struct create_request *r = list_entry(e, struct create_request, entry);
        struct err err;
        int tried;

        r->turn = true;
        tried = sessions_try(ss, r, &err);
        if (tried < 0 && r->full)
            break;
        queue_take(&ss->queue); /* the owners' turns go on */
        leave(r);
        if (tried < 0)
            tell(r, &err);
    }
    ss->serving = false;
}
