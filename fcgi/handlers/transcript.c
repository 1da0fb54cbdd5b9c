/* What was said in a session, as a scenario that `agentsim test` replays. A step is a frame of the browser and the
 * frames that followed; the first one is what the agent said on connecting. */
#include <stdio.h>
#include <string.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"
#include "shared/json/json.h"

#define PATIENCE_MS 20000 /* of a replay with one frame, at least */
#define THINKING_MS 1000  /* a browser that waited so long had heard everything */

struct script {
    struct buf steps;
    bool open;       /* a step is being written */
    unsigned frames; /* expected in it */
    uint64_t last_ms, longest_ms;
};

static void add_at(struct buf *b, uint64_t ms)
{
    buf_add_fmt(b, "\"at_s\":%llu.%03llu", (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
}

static void begin_step(struct script *s)
{
    if (s->steps.len)
        buf_add_str(&s->steps, ",\n");
    buf_add_str(&s->steps, "  {");
    s->open = true;
    s->frames = 0;
}

/* Frames that were under way when the browser spoke again may come earlier next time: then no silence is asked for. */
static void end_step(struct script *s, bool hurried)
{
    if (!s->open)
        return;
    buf_add_str(&s->steps, s->frames ? "\n   ]" : "]");
    buf_add_str(&s->steps, hurried ? ",\"quiet_s\":0}" : "}");
    s->open = false;
}

static void add_printed(struct buf *b, const char *key, const cJSON *value)
{
    char *text = cJSON_PrintUnformatted(value);

    buf_add_fmt(b, ",\"%s\":", key);
    if (text)
        buf_add_str(b, text);
    else
        b->failed = true;
    cJSON_free(text);
}

static void add_raw(struct buf *b, const char *key, const char *text, size_t len)
{
    buf_add_fmt(b, ",\"%s\":", key);
    buf_add_json_str(b, text, len);
}

static void said_browser(struct script *s, uint64_t at_ms, const char *text, size_t len)
{
    struct json_error fault;
    cJSON *frame = json_parse(text, len, &fault);

    end_step(s, at_ms - s->last_ms < THINKING_MS);
    begin_step(s);
    add_at(&s->steps, at_ms);
    if (cJSON_IsObject(frame))
        add_printed(&s->steps, "send", frame);
    else
        add_raw(&s->steps, "send_raw", text, len);
    buf_add_str(&s->steps, ",\"expect\":[");
    cJSON_Delete(frame);
}

static void said_agent(struct script *s, uint64_t at_ms, const char *text, size_t len)
{
    struct json_error fault;
    cJSON *frame = json_parse(text, len, &fault);
    const cJSON *action = json_get(frame, "action"), *message = json_get(frame, "message"),
                *message_id = json_get(frame, "message_id");

    if (!s->open) {
        begin_step(s);
        buf_add_str(&s->steps, "\"expect\":[");
    }
    buf_add_str(&s->steps, s->frames++ ? ",\n    {" : "\n    {");
    add_at(&s->steps, at_ms);
    if (cJSON_IsString(action)) {
        add_printed(&s->steps, "action", action);
        if (message)
            add_printed(&s->steps, "message", message);
        if (cJSON_IsString(message_id))
            add_printed(&s->steps, "message_id", message_id);
    } else {
        add_raw(&s->steps, "raw", text, len);
    }
    buf_add_char(&s->steps, '}');
    cJSON_Delete(frame);
}

static int take_said(struct script *s, const void *payload, size_t payload_len)
{
    struct wire_in in;
    uint64_t at_ms;
    const char *text;
    unsigned who;
    size_t len;

    wire_start(&in, payload, payload_len);
    who = wire_get_u8(&in);
    at_ms = wire_get_u64(&in);
    text = wire_get_bytes(&in, HOLD_MAX_PAYLOAD, &len);
    if (wire_end(&in) < 0 || who > HOLD_SAID_AGENT || at_ms < s->last_ms || buf_failed(&s->steps))
        return -1;
    if (who == HOLD_SAID_BROWSER)
        said_browser(s, at_ms, text, len);
    else
        said_agent(s, at_ms, text, len);
    if (at_ms - s->last_ms > s->longest_ms)
        s->longest_ms = at_ms - s->last_ms;
    s->last_ms = at_ms;
    return 0;
}

/* 0 and when it began, how many frames are missing at its end; or -1. */
static int collect(struct holder_link *link, struct script *s, uint64_t *ret_began, uint64_t *ret_cut, struct err *err)
{
    enum hold_type type;
    const void *payload;
    struct wire_in in;
    size_t len;

    for (;;) {
        if (holder_receive(link, &type, &payload, &len, err) < 0)
            return -1;
        if (type == HOLD_SAID_ALL)
            break;
        if (type != HOLD_SAID || take_said(s, payload, len) < 0)
            return err_set(err, ERR_UPSTREAM, 0, "The session answered something that cannot be understood");
    }
    wire_start(&in, payload, len);
    *ret_began = wire_get_u64(&in);
    *ret_cut = wire_get_u64(&in);
    end_step(s, false);
    if (wire_end(&in) < 0 || *ret_began > INT64_MAX)
        return err_set(err, ERR_UPSTREAM, 0, "The session answered something that cannot be understood");
    return buf_failed(&s->steps) ? err_nomem(err) : 0;
}

static void answer(struct reply *rp, const struct id *id, const struct script *s, uint64_t began, uint64_t cut)
{
    uint64_t patience = 2 * s->longest_ms > PATIENCE_MS ? 2 * s->longest_ms : PATIENCE_MS;
    char name[ID_TEXT_LEN + 1], when[TIME_TEXT_LEN + 1], file[ID_TEXT_LEN + 24];
    struct buf *b = &rp->body;

    id_format(id, name);
    time_format_utc((int64_t)began, when);
    buf_add_fmt(b, "{\"name\":\"session %.8s\",\"recordedAt\":\"%s\",", name, when);
    if (cut)
        buf_add_fmt(b, "\"cut\":{\"frames\":%llu},", (unsigned long long)cut);
    buf_add_fmt(b, "\"timeout_s\":%llu,\"quiet_s\":0.6,\"steps\":[\n", (unsigned long long)((patience + 999) / 1000));
    buf_add(b, s->steps.data, s->steps.len);
    buf_add_str(b, "\n]}\n");
    (void)snprintf(file, sizeof(file), "session-%.8s.json", name);
    reply_attachment(rp, file);
    reply_json(rp, 200);
}

void handle_transcript(struct worker *w, struct request *rq, struct reply *rp)
{
    char actor[RPC_ACTOR_MAX + 1];
    struct script s = { .open = false };
    struct holder_link link;
    uint64_t began = 0, cut = 0;
    struct err err;
    struct id id;

    if (session_identify(w, rq, rp, &id, actor) < 0 || session_ask(w, &id, actor, HOLD_TRANSCRIPT, NULL, &link, rp) < 0)
        return;
    buf_init(&s.steps, REPLY_BODY_MAX - 4096);
    if (collect(&link, &s, &began, &cut, &err) < 0)
        reply_err(rp, &err);
    else
        answer(rp, &id, &s, began, cut);
    holder_link_release(&link);
    buf_release(&s.steps);
}
