#include "supervisor/holder/warm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/holder/holder.h"
#include "supervisor/sandbox/env.h"

#define WORD_MAX 16
#define TOLD_MAX ((size_t)1 << 18) /* what the one who waits takes: it would lose what is behind that */
#define GO_MAX ((size_t)ENV_EXTRA_MAX * (ENV_NAME_MAX + ENV_VALUE_MAX + 2) + 3)

bool warm_waits(const struct holder *h)
{
    return h->warm.state != WARM_NONE;
}

void warm_deaf(struct holder *h)
{
    ev_io_stop(h->loop, &h->warm.words);
}

/* What it said before is what importing says: the program's first output. */
static void taken(struct holder *h)
{
    warm_deaf(h);
    cleanup_fd_close(&h->agent.proc.wait);
    h->agent.proc.wait = -1;
    h->warm.state = WARM_NONE;
    if (h->tail.len)
        agent_output(h, h->tail.data, h->tail.len);
    if (h->agent.running)
        session_running(h);
}

static void word(struct holder *h, const char *said)
{
    if (!strcmp(said, "ready") && h->warm.state == WARM_LOADS) {
        h->warm.state = WARM_READY;
        control_warm(h, "");
    } else if (!strcmp(said, "taken") && h->warm.state == WARM_TOLD) {
        taken(h);
    }
}

bool warm_hear(struct holder *h)
{
    while (warm_waits(h)) {
        char said[WORD_MAX];
        ssize_t n = recv(h->agent.proc.wait, said, sizeof(said) - 1, MSG_DONTWAIT);

        if (n <= 0) {
            if (n == 0 || (errno != EAGAIN && errno != EINTR))
                warm_deaf(h); /* its end is told otherwise */
            break;
        }
        said[n] = '\0';
        word(h, said);
    }
    return warm_waits(h);
}

static void on_words(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    (void)warm_hear(w->data);
}

void warm_init(struct holder *h)
{
    h->warm = (struct warm){ .state = WARM_NONE };
    ev_init(&h->warm.words, on_words);
    h->warm.words.data = h;
}

int warm_up(struct holder *h, struct err *err)
{
    if (h->phase != HOLD_WAITING || h->ending || h->bundle.seen || h->actor[0] || h->warm.unclaimed)
        return err_set(err, ERR_CONFLICT, 0, "there is a session already");
    if (h->config.sandbox == SANDBOX_OFF)
        return err_set(err, ERR_CONFLICT, 0, "without a sandbox nothing waits");
    session_await_nothing(h);
    h->warm.unclaimed = true;
    if (agent_start(h, true, err) < 0)
        return -1;
    h->warm.state = WARM_LOADS;
    ev_io_set(&h->warm.words, h->agent.proc.wait, EV_READ);
    ev_io_start(h->loop, &h->warm.words);
    return 0;
}

int warm_claim(struct holder *h, const struct id *id, const char *actor, uint64_t started_wall_ms, uint64_t lifetime_ms)
{
    if (!h->warm.unclaimed || h->phase != HOLD_WAITING || h->ending || !actor[0] || !lifetime_ms)
        return -1;
    h->warm.unclaimed = false;
    h->id = *id;
    id_format(&h->id, h->session);
    log_context(NULL, h->session);
    transcript_release(&h->transcript);
    transcript_init(&h->transcript, (size_t)h->config.replay_bytes, time_mono_ms(), (uint64_t)time_wall_ms());
    session_begin(h, actor, started_wall_ms, lifetime_ms);
    session_await_bundle(h);
    return 0;
}

/* One message with the session's variables in it, which are in no other memory of ours afterwards. */
static int tell(struct holder *h)
{
    const struct strv *extra = &h->bundle.extra;
    struct buf b;
    ssize_t n = -1;
    size_t i;

    buf_init(&b, GO_MAX);
    if (buf_reserve(&b, GO_MAX - 1) == 0) {
        buf_add_str(&b, "go");
        for (i = 0; i < extra->n; i++) {
            buf_add_char(&b, '\0');
            buf_add_str(&b, extra->v[i]);
        }
        if (!buf_failed(&b) && b.len <= TOLD_MAX)
            n = send(h->agent.proc.wait, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        mem_wipe(b.data, b.cap);
    }
    buf_release(&b);
    return n < 0 ? -1 : 0;
}

bool warm_go(struct holder *h)
{
    if (!warm_hear(h))
        return false;
    h->warm.state = WARM_TOLD;
    if (tell(h) < 0)
        agent_kill(h); /* warm_lost() follows */
    return true;
}

bool warm_lost(struct holder *h, const struct err *why)
{
    char text[600];

    if (!warm_waits(h))
        return false;
    h->warm.state = WARM_NONE;
    h->kills = verdict_memory_kills(h);
    (void)snprintf(text, sizeof(text), "%s", why && why->msg[0] ? why->msg : "it has ended");
    if (h->tail.len)
        (void)snprintf(text, sizeof(text), "it said: %.*s", (int)(h->tail.len < 300 ? h->tail.len : 300), h->tail.data);
    log_warn("the waiting interpreter is lost: %s", text);
    buf_clear(&h->tail);
    agent_init(h);
    if (h->warm.unclaimed)
        control_warm(h, text);
    else if (h->phase == HOLD_STARTING)
        session_start_agent(h);
    return true;
}
