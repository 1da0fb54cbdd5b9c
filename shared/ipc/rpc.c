#include "shared/ipc/rpc.h"

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/wire.h"

void rpc_put_session(struct buf *b, const struct rpc_session *s)
{
    wire_put_id(b, &s->id);
    wire_put_str(b, s->actor);
    wire_put_str(b, s->state);
    wire_put_u64(b, s->started_wall_ms);
    wire_put_u64(b, s->expires_wall_ms);
    wire_put_u8(b, s->attached);
    wire_put_u64(b, s->frames);
    wire_put_str(b, s->exit_reason);
    wire_put_u32(b, (uint32_t)s->exit_code);
    wire_put_u32(b, s->slot);
}

int rpc_get_session(struct wire_in *in, struct rpc_session *ret)
{
    struct rpc_session s = { 0 };

    wire_get_id(in, &s.id);
    s.actor = wire_get_str(in, RPC_ACTOR_MAX);
    s.state = wire_get_str(in, RPC_TEXT_MAX);
    s.started_wall_ms = wire_get_u64(in);
    s.expires_wall_ms = wire_get_u64(in);
    s.attached = wire_get_u8(in) != 0;
    s.frames = wire_get_u64(in);
    s.exit_reason = wire_get_str(in, RPC_TEXT_MAX);
    s.exit_code = (int32_t)wire_get_u32(in);
    s.slot = wire_get_u32(in);
    if (in->bad)
        return -1;
    *ret = s;
    return 0;
}

void rpc_put_status(struct buf *b, const struct rpc_status *s)
{
    wire_put_u32(b, s->sessions);
    wire_put_u32(b, s->capacity);
    wire_put_u32(b, s->quarantined);
    wire_put_str(b, s->sandbox);
    wire_put_str(b, s->egress);
    wire_put_str(b, s->cgroup);
    wire_put_u8(b, s->draining);
    wire_put_u32(b, s->warm);
    wire_put_u32(b, s->warm_pool);
}

int rpc_get_status(struct wire_in *in, struct rpc_status *ret)
{
    struct rpc_status s = { 0 };

    s.sessions = wire_get_u32(in);
    s.capacity = wire_get_u32(in);
    s.quarantined = wire_get_u32(in);
    s.sandbox = wire_get_str(in, RPC_TEXT_MAX);
    s.egress = wire_get_str(in, RPC_TEXT_MAX);
    s.cgroup = wire_get_str(in, RPC_TEXT_MAX);
    s.draining = wire_get_u8(in) != 0;
    s.warm = wire_get_u32(in);
    s.warm_pool = wire_get_u32(in);
    if (wire_end(in) < 0)
        return -1;
    *ret = s;
    return 0;
}

void rpc_put_error(struct buf *b, const struct err *e)
{
    wire_put_u32(b, e->kind);
    wire_put_u32(b, e->wait);
    wire_put_str(b, e->msg);
}

int rpc_get_error(struct wire_in *in, struct err *ret)
{
    uint32_t kind = wire_get_u32(in), wait = wire_get_u32(in);
    const char *msg = wire_get_str(in, RPC_TEXT_MAX);

    if (wire_end(in) < 0 || kind <= ERR_NONE || kind >= ERR__MAX)
        return -1;
    err_set(ret, (enum err_kind)kind, 0, "%s", msg);
    ret->wait = wait;
    return 0;
}

static int answer_error(const struct buf *answer, struct err *err)
{
    struct wire_in in;
    struct err said;

    wire_start(&in, answer->data, answer->len);
    if (rpc_get_error(&in, &said) < 0)
        return err_set(err, ERR_UPSTREAM, 0, "the supervisor's answer is malformed");
    *err = said;
    return -1;
}

int rpc_call(const char *socket_path, enum rpc_type type, const struct buf *payload, unsigned timeout_ms,
             enum rpc_type *ret_type, struct buf *answer, int *ret_fd, struct err *err)
{
    auto_fd int sock = io_unix_connect_within(socket_path, timeout_ms, err);
    auto_fd int fd = -1;
    uint16_t got;
    int r;

    if (sock < 0)
        return -1;
    if (frame_send(sock, (uint16_t)type, payload, -1, err) < 0)
        return err_wrap(err, "ask the supervisor");
    r = frame_recv(sock, &got, answer, ret_fd ? &fd : NULL, err);
    if (r < 0)
        return err_wrap(err, "answer of the supervisor");
    if (r == 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the supervisor closed the connection without an answer");
    if (got == RPC_ERROR)
        return answer_error(answer, err);
    *ret_type = (enum rpc_type)got;
    if (ret_fd)
        *ret_fd = steal_fd(fd);
    return 0;
}
