#include "supervisor/hold_event.h"

#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

/* Times travel as unsigned; what does not fit a signed one is no time. */
static int get_time(struct wire_in *in, int64_t *ret)
{
    uint64_t ms = wire_get_u64(in);

    *ret = (int64_t)ms;
    return ms > INT64_MAX ? -1 : 0;
}

static int get_identity(struct wire_in *in, struct hold_event *e)
{
    wire_get_id(in, &e->identity.id);
    e->identity.actor = wire_get_str(in, RPC_ACTOR_MAX);
    return get_time(in, &e->identity.started_wall_ms) < 0 || get_time(in, &e->identity.expires_wall_ms) < 0 ? -1 : 0;
}

static int get_phase(struct wire_in *in, struct hold_event *e)
{
    uint8_t phase = wire_get_u8(in), attached = wire_get_u8(in);

    e->phase.phase = (enum hold_phase)phase;
    e->phase.attached = attached != 0;
    e->phase.frames = wire_get_u64(in);
    return phase < HOLD_PHASE__MAX && attached <= 1 ? 0 : -1;
}

static int get_end(struct wire_in *in, struct hold_event *e)
{
    uint8_t reason = wire_get_u8(in);

    e->end.reason = (enum hold_reason)reason;
    e->end.code = (int32_t)wire_get_u32(in);
    return reason > HOLD_REASON_NONE && reason < HOLD_REASON__MAX ? 0 : -1;
}

static int get_nothing(struct wire_in *in, struct hold_event *e)
{
    (void)in;
    (void)e;
    return 0;
}

static int get_attached(struct wire_in *in, struct hold_event *e)
{
    e->attached.from = wire_get_u64(in);
    e->attached.lost = wire_get_u64(in);
    return e->attached.from > 0 ? 0 : -1;
}

static int get_frame(struct wire_in *in, struct hold_event *e)
{
    const uint8_t *start = in->p, *text;

    e->frame.number = wire_get_u64(in);
    text = wire_get_bytes(in, HOLD_MAX_PAYLOAD, &e->frame.len);
    if (in->bad || !e->frame.number)
        return -1;
    e->frame.offset = (size_t)(text - start);
    return 0;
}

static int get_warm(struct wire_in *in, struct hold_event *e)
{
    uint8_t state = wire_get_u8(in);

    e->warm.state = (enum hold_warm)state;
    e->warm.why = wire_get_str(in, HOLD_TEXT_MAX);
    return state < HOLD_WARM__MAX ? 0 : -1;
}

static int get_version(struct wire_in *in, struct hold_event *e)
{
    e->version.number = wire_get_u32(in);
    e->version.oldest = wire_get_u32(in);
    return 0;
}

static int get_probed(struct wire_in *in, struct hold_event *e)
{
    uint8_t ok = wire_get_u8(in);

    e->probed.ok = ok == 1;
    e->probed.text = wire_get_str(in, HOLD_TEXT_MAX);
    return ok <= 1 ? 0 : -1;
}

static const struct {
    uint16_t type;
    unsigned roles;
    int (*get)(struct wire_in *in, struct hold_event *e);
} kinds[] = {
    { HOLD_IDENTITY, HOLD_ROLE_CONTROL, get_identity }, { HOLD_PHASE, HOLD_ROLE_CONTROL, get_phase },
    { HOLD_GONE, HOLD_ROLE_CONTROL, get_end },          { HOLD_DONE, HOLD_ROLE_CONTROL, get_nothing },
    { HOLD_ATTACHED, HOLD_ROLE_ATTACH, get_attached },  { HOLD_FRAME, HOLD_ROLE_ATTACH, get_frame },
    { HOLD_EXIT, HOLD_ROLE_ATTACH, get_end },           { HOLD_PROBED, HOLD_ROLE_PROBE, get_probed },
    { HOLD_WARM, HOLD_ROLE_CONTROL, get_warm },         { HOLD_PONG, HOLD_ROLE_CONTROL, get_nothing },
    { HOLD_VERSION, HOLD_ROLE_CONTROL, get_version },
};

static size_t find(enum hold_role role, uint16_t type)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].type == type && (kinds[i].roles & role))
            break;
    return i;
}

bool hold_event_known(enum hold_role role, uint16_t type)
{
    return find(role, type) < ARRAY_LEN(kinds);
}

int hold_event_parse(enum hold_role role, uint16_t type, const void *payload, size_t len, struct hold_event *ret)
{
    struct hold_event e = { .type = (enum hold_type)type };
    struct wire_in in;
    size_t i = find(role, type);

    if (i == ARRAY_LEN(kinds))
        return -1;
    wire_start(&in, payload, len);
    if (kinds[i].get(&in, &e) < 0 || wire_end(&in) < 0)
        return -1;
    *ret = e;
    return 0;
}
