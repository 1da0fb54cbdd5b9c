/* What the less trusted sides say to the supervisor: holders, workers, browsers' first frames and handshakes. The first
 * byte chooses the side. Each is parsed into a struct whose fields must lie inside the message and their bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "supervisor/hold_event.h"
#include "supervisor/launch_client.h"
#include "supervisor/relay/auth.h"
#include "supervisor/relay/handshake.h"
#include "supervisor/rpc_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

static bool inside(const void *p, const uint8_t *data, size_t size)
{
    return (const uint8_t *)p >= data && (const uint8_t *)p < data + size;
}

static void holder(enum hold_role role, const uint8_t *data, size_t size)
{
    struct hold_event e;
    uint16_t type;

    if (size < sizeof(type))
        return;
    memcpy(&type, data, sizeof(type));
    data += sizeof(type);
    size -= sizeof(type);
    if (hold_event_parse(role, type, data, size, &e) < 0)
        return;
    must(e.type == type);
    if (type == HOLD_IDENTITY)
        must(inside(e.identity.actor, data, size) && strlen(e.identity.actor) <= RPC_ACTOR_MAX &&
             e.identity.started_wall_ms >= 0 && e.identity.expires_wall_ms >= 0);
    if (type == HOLD_PHASE)
        must(e.phase.phase < HOLD_PHASE__MAX);
    if (type == HOLD_GONE || type == HOLD_EXIT)
        must(hold_reason_name(e.end.reason)[0] != '\0');
    if (type ==
        HOLD_FRAME) /* the relay writes a WebSocket header in front of the text and relies on what stands behind it */
        must(e.frame.offset == 12 && e.frame.offset + e.frame.len + 1 == size && data[size - 1] == '\0');
    if (type == HOLD_PROBED)
        must(inside(e.probed.text, data, size));
}

static void worker(const uint8_t *data, size_t size)
{
    struct rpc_request r;
    struct err err = { 0 };
    uint16_t type;

    if (size < sizeof(type))
        return;
    memcpy(&type, data, sizeof(type));
    if (rpc_request_parse(type, data + sizeof(type), size - sizeof(type), &r, &err) < 0)
        must(err.kind == ERR_BAD_REQUEST && err.msg[0]);
    else
        must(r.type == type && strlen(r.actor) <= RPC_ACTOR_MAX);
}

static void first_frame(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_dup(data, size);
    struct auth a = { 0 };
    struct err err = { 0 };

    if (auth_parse(text, size, &a, &err) < 0)
        must(err.kind == ERR_AUTH && err.msg[0] && utf8_valid(err.msg, strlen(err.msg)));
    else
        must(a.received <= (uint64_t)1 << 53 && (a.resumes || !a.received));
}

/* Six texts, parted by zero bytes. */
static void handshake(const uint8_t *data, size_t size)
{
    char token[] = "t", origins[] = "https://a.example,https://b.example/", home[] = "https://c.example/x";
    struct config config = { .api_token = token, .cors_origins = origins, .deployment_url = home };
    auto_free char *text = mem_dup(data, size);
    const char *part[6], *p = text;
    struct handshake h;
    struct err err = { 0 };
    size_t i;

    for (i = 0; i < 6; i++) {
        part[i] = p;
        p += strlen(p);
        p += p < text + size;
    }
    if (handshake_judge(&config, &(struct handshake_request){ part[0], part[1], part[2], part[3], part[4], part[5] },
                        &h, &err) < 0) {
        must(err.kind == ERR_FORBIDDEN || err.kind == ERR_NOT_FOUND);
        return;
    }
    must(strlen(h.actor) > 2 && strlen(h.actor) <= RPC_ACTOR_MAX);
    if (h.internal)
        must(str_eq(part[2], token));
}

static void launcher(const uint8_t *data, size_t size)
{
    struct launch_msg m = { 0 };

    memcpy(&m, data, size < sizeof(m) ? size : sizeof(m));
    if (launch_msg_valid(&m, size, 5))
        must(size == sizeof(m) && (m.op == LAUNCH_READY || (m.slot < 5 && m.state <= LAUNCH_SLOT_QUARANTINED)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    data++;
    size--;
    switch (data[-1] % 7) {
    case 0:
        holder(HOLD_ROLE_CONTROL, data, size);
        break;
    case 1:
        holder(HOLD_ROLE_ATTACH, data, size);
        break;
    case 2:
        holder(HOLD_ROLE_PROBE, data, size);
        break;
    case 3:
        worker(data, size);
        break;
    case 4:
        first_frame(data, size);
        break;
    case 5:
        handshake(data, size);
        break;
    case 6:
        launcher(data, size);
        break;
    }
    return 0;
}
