#include "shared/cli/player.h"

#include <math.h>
#include <poll.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/cli.h"
#include "shared/cli/ws_client.h"
#include "shared/json/json.h"

#define READY_MS 100000 /* the service itself gives up after 75 s */
#define LIMIT_MS 130000 /* for a place, and for the window of the rate limit */
#define PAUSE_MS 200
#define LIMIT_PAUSE_MS 3000
#define AUTH_MS 15000
#define FRAMES_MAX ((size_t)64 << 20)

struct heard {
    struct heard *next;
    size_t len;
    char text[];
};

struct player {
    const struct player_options *options;
    struct chat_session session;
    struct ws_client *ws;
    struct heard *first, **last; /* frames of the agent that no step took yet */
    size_t bytes;
    bool welcome, closed;
    unsigned code;
    struct buf trouble; /* what the service said went wrong */
    struct buf *report, *failure;
};

static int fail(struct player *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct player *p, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_add_vfmt(p->failure, fmt, ap);
    va_end(ap);
    return -1;
}

static void nap(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* ---- frames ---- */

static void keep(struct player *p, const char *text, size_t len)
{
    struct heard *h = p->bytes + len > FRAMES_MAX ? NULL : mem_zalloc(1, sizeof(*h) + len + 1);

    if (!h) {
        buf_add_str(&p->trouble, "the agent says more than can be kept");
        return;
    }
    h->len = len;
    memcpy(h->text, text, len);
    *p->last = h;
    p->last = &h->next;
    p->bytes += len;
}

static void take_service(struct player *p, const cJSON *frame, const char *type)
{
    const char *message = cJSON_GetStringValue(json_get(frame, "message"));

    if (strcmp(type, "auth_ok") == 0)
        p->welcome = true;
    else if (strcmp(type, "error") == 0)
        cli_add_plain(&p->trouble, message ? message : "an error", message ? strlen(message) : 8, true);
}

static void on_text(void *user, const char *text, size_t len)
{
    struct player *p = user;
    struct json_error fault;
    cJSON *frame = json_parse(text, len, &fault);
    const char *type = cJSON_GetStringValue(json_get(frame, "type"));

    if (type && !json_get(frame, "action"))
        take_service(p, frame, type);
    else
        keep(p, text, len);
    if (p->options->verbose && !type) {
        buf_add_str(p->report, "      < ");
        scenario_show_text(text, len, p->report);
        buf_add_char(p->report, '\n');
    }
    cJSON_Delete(frame);
}

/* Moves frames for at most that long, or until something new is there. */
static void listen(struct player *p, int64_t ms)
{
    struct pollfd fd = { ws_client_fd(p->ws), (short)(POLLIN | (ws_client_pending(p->ws) ? POLLOUT : 0)), 0 };
    struct err err = { 0 };
    int r;

    (void)poll(&fd, 1, (int)ms);
    r = ws_client_run(p->ws, on_text, p, &p->code, &err);
    if (r < 0)
        buf_add_str(&p->trouble, err.msg);
    p->closed = p->closed || r <= 0;
}

/* The agent's next frame (freed by the caller), or NULL: none came, or p->closed or p->trouble say more. */
static struct heard *next_frame(struct player *p, double seconds)
{
    int64_t deadline = time_mono_ms() + (int64_t)(seconds * 1000), left;
    struct heard *h;

    for (;;) {
        h = p->first;
        if (h) {
            p->first = h->next;
            p->last = p->first ? p->last : &p->first;
            p->bytes -= h->len;
            return h;
        }
        left = deadline - time_mono_ms();
        if (p->closed || p->trouble.len || left <= 0)
            return NULL;
        listen(p, left > 1000 ? 1000 : left);
    }
}

static int fail_silent(struct player *p, const cJSON *expected, unsigned number, double seconds)
{
    if (p->trouble.len)
        fail(p, "the service reports: %s", p->trouble.data);
    else if (p->closed)
        fail(p, "the connection was closed, code %u", p->code);
    else
        fail(p, "expected frame %u did not arrive within %g s", number, seconds);
    fail(p, "\n  expected ");
    scenario_show(expected, p->failure);
    return -1;
}

static int fail_frame(struct player *p, const cJSON *expected, const struct heard *h)
{
    if (expected) {
        fail(p, "\n  expected ");
        scenario_show(expected, p->failure);
    }
    fail(p, "\n  got      ");
    scenario_show_text(h->text, h->len, p->failure);
    return -1;
}

/* ---- steps ---- */

static int expect_frames(struct player *p, const cJSON *step, double seconds)
{
    const cJSON *expected;
    unsigned number = 0;

    cJSON_ArrayForEach(expected, json_get(step, "expect"))
    {
        auto_free struct heard *h = next_frame(p, seconds);
        const char *what;

        number++;
        if (!h)
            return fail_silent(p, expected, number, seconds);
        what = scenario_mismatch(expected, h->text, h->len);
        if (what) {
            fail(p, "frame %u has another %s", number, what);
            return fail_frame(p, expected, h);
        }
    }
    return 0;
}

static int expect_silence(struct player *p, double seconds)
{
    auto_free struct heard *h = seconds > 0 ? next_frame(p, seconds) : NULL;

    if (h) {
        fail(p, "an extra frame arrived");
        return fail_frame(p, NULL, h);
    }
    return p->trouble.len ? fail(p, "the service reports: %s", p->trouble.data) : 0;
}

static int say(struct player *p, const cJSON *step)
{
    auto_free char *text = NULL;
    struct err err = { 0 };

    if (scenario_frame(step, &text) < 0)
        return fail(p, "out of memory");
    if (!text)
        return 0;
    if (p->closed)
        return fail(p, "the connection was closed, code %u", p->code);
    if (ws_client_send(p->ws, text, strlen(text), &err) < 0)
        return fail(p, "%s", err.msg);
    listen(p, 0);
    return 0;
}

static int play_step(struct player *p, const struct scenario *s, const cJSON *step)
{
    double pause = scenario_seconds(step, "sleep_s", 0);

    if (pause > 0)
        nap((int)(pause * 1000));
    if (say(p, step) < 0 || expect_frames(p, step, scenario_seconds(step, "timeout_s", s->timeout_s)) < 0)
        return -1;
    return expect_silence(p, scenario_seconds(step, "quiet_s", s->quiet_s));
}

static void name_step(const cJSON *step, struct buf *out)
{
    auto_free char *text = NULL;
    const char *message = cJSON_GetStringValue(json_get(json_get(step, "send"), "message"));

    if (scenario_frame(step, &text) < 0 || !text) {
        buf_add_str(out, json_get(step, "sleep_s") ? " (a pause)" : " (on connecting)");
        return;
    }
    buf_add_str(out, " \"");
    message = message ? message : text;
    cli_add_plain(out, message, strlen(message) < 60 ? strlen(message) : 60, false);
    buf_add_str(out, strlen(message) < 60 ? "\"" : "...\"");
}

static int play_steps(struct player *p, const struct scenario *s)
{
    const cJSON *step;
    int number = 0, r = 0;

    cJSON_ArrayForEach(step, s->steps)
    {
        int64_t began = time_mono_ms();
        auto_buf struct buf name;

        buf_init(&name, 4096);
        if (r < 0)
            break;
        name_step(step, &name);
        number++;
        r = play_step(p, s, step);
        buf_add_fmt(p->report, "  %s step %d%s: %d frame%s, %.1f s\n", r < 0 ? "FAIL" : "ok  ", number,
                    name.data ? name.data : "", cJSON_GetArraySize(json_get(step, "expect")),
                    cJSON_GetArraySize(json_get(step, "expect")) == 1 ? "" : "s",
                    (double)(time_mono_ms() - began) / 1000.0);
    }
    if (r < 0) {
        auto_buf struct buf where;

        buf_init(&where, p->failure->max + 64);
        buf_add_fmt(&where, "step %d: %s", number, p->failure->data);
        buf_clear(p->failure);
        buf_add(p->failure, where.data, where.len);
    }
    return r;
}

/* ---- the session ---- */

static int start(struct player *p, cJSON *request)
{
    int64_t deadline = time_mono_ms() + LIMIT_MS;
    struct err err = { 0 };
    bool told = false;

    if (p->options->credentials && chat_add_credentials(request, &err) < 0)
        return fail(p, "%s", err.msg);
    while (chat_session_start(&p->session, request, &err) < 0) {
        if (err.kind != ERR_LIMIT || time_mono_ms() > deadline)
            return fail(p, "no session: %s", err.msg);
        if (!told)
            (void)fprintf(stderr, "  wait %s\n", err.msg);
        told = true;
        nap(LIMIT_PAUSE_MS);
    }
    return 0;
}

/* An agent that does not come up says why on the socket. */
static int await_ready(struct player *p)
{
    int64_t deadline = time_mono_ms() + READY_MS;
    struct err err = { 0 };
    bool ended = false;
    char state[32];

    do {
        if (chat_session_state(&p->session, state, sizeof(state), &ended, &err) < 0)
            return fail(p, "%s", err.msg);
        if (ended || (strcmp(state, "new") != 0 && strcmp(state, "starting") != 0))
            return 0;
        nap(PAUSE_MS);
    } while (time_mono_ms() < deadline);
    return fail(p, "the agent did not come up");
}

static int connect_once(struct player *p)
{
    int64_t deadline = time_mono_ms() + AUTH_MS;
    auto_free char *auth = chat_auth_frame(&p->session, -1);
    auto_buf struct buf url;
    struct err err = { 0 };
    size_t len = strlen(p->session.base);

    while (len && p->session.base[len - 1] == '/')
        len--;
    buf_init(&url, 4096);
    buf_clear(&p->trouble);
    p->closed = false;
    if (!auth || buf_add_fmt(&url, "%.*s/besser_api/simulation/%s/ws", (int)len, p->session.base, p->session.id) < 0)
        return fail(p, "out of memory");
    if (ws_client_open(url.data, &p->ws, &err) < 0 || ws_client_send(p->ws, auth, strlen(auth), &err) < 0)
        return fail(p, "%s", err.msg);
    while (!p->welcome && !p->closed && time_mono_ms() < deadline)
        listen(p, 1000);
    return 0;
}

static int join(struct player *p)
{
    int64_t deadline = time_mono_ms() + LIMIT_MS;

    for (;;) {
        if (connect_once(p) < 0)
            return -1;
        if (p->welcome)
            return 0;
        if (p->code != 4429 || time_mono_ms() > deadline)
            return fail(p, "the service reports: %s", p->trouble.len ? p->trouble.data : "no answer to the sign-in");
        ws_client_free(p->ws);
        p->ws = NULL;
        nap(LIMIT_PAUSE_MS);
    }
}

static void release(struct player *p)
{
    struct heard *h;

    if (p->ws && !p->closed)
        ws_client_close(p->ws, 1000);
    ws_client_free(p->ws);
    while ((h = p->first)) {
        p->first = h->next;
        mem_free(h);
    }
    buf_release(&p->trouble);
}

int player_run(const struct player_options *o, const struct scenario *s, cJSON *request, struct buf *report,
               struct buf *failure)
{
    struct player p = {
        .options = o, .session = { .base = o->url, .sign_in = o->sign_in }, .report = report, .failure = failure
    };
    struct err err = { 0 };
    int r;

    p.last = &p.first;
    buf_init(&p.trouble, 64u << 10);
    r = start(&p, request);
    if (r == 0) {
        if (await_ready(&p) < 0 || join(&p) < 0 || play_steps(&p, s) < 0)
            r = -1;
        if (chat_session_end(&p.session, &err) < 0 && r == 0)
            r = fail(&p, "the session could not be ended: %s", err.msg);
    }
    release(&p);
    return r;
}
