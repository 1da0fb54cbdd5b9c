#include "fcgi/supervisor.h"

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/wire.h"

/* The supervisor answers within 30 s (create) and 20 s (end) by itself; these are for one that hangs. */
#define QUICK_MS 5000
#define CREATE_MS 35000
#define END_MS 25000

/* What went wrong between us and the supervisor is for the log, with its paths and causes. */
static int unreachable(struct err *err)
{
    if (err->errnum) {
        log_error("supervisor: %s", err->msg);
        return err_set(err, ERR_UNAVAILABLE, 0, "The agent simulator cannot be reached, try again in a moment");
    }
    if (err->kind == ERR_UPSTREAM)
        log_error("supervisor: %s", err->msg);
    return -1;
}

static int malformed(struct err *err)
{
    log_error("supervisor: its answer is malformed");
    return err_set(err, ERR_UPSTREAM, 0, "The agent simulator answered something that cannot be understood");
}

static int call(const char *socket, enum rpc_type type, const struct buf *request, unsigned timeout_ms,
                enum rpc_type expected, struct buf *answer, int *ret_fd, struct err *err)
{
    enum rpc_type got;
    auto_fd int fd = -1;

    if (request && buf_failed(request))
        return err_nomem(err);
    if (rpc_call(socket, type, request, timeout_ms, &got, answer, ret_fd ? &fd : NULL, err) < 0)
        return unreachable(err);
    if (got != expected || (ret_fd && fd < 0))
        return malformed(err);
    if (ret_fd)
        *ret_fd = steal_fd(fd);
    return 0;
}

int supervisor_admit(const char *socket, const char *actor, uint32_t flags, struct err *err)
{
    auto_buf struct buf request;
    auto_buf struct buf answer;

    buf_init(&request, RPC_MAX_PAYLOAD);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    wire_put_str(&request, actor);
    wire_put_u32(&request, flags);
    return call(socket, RPC_ADMIT, &request, QUICK_MS, RPC_OK, &answer, NULL, err);
}

static void put_session(struct buf *request, const struct id *id, const char *actor)
{
    wire_put_id(request, id);
    wire_put_str(request, actor);
}

int supervisor_create(const char *socket, const struct id *id, const char *actor, uint32_t flags, uint32_t *ret_port,
                      int *ret_fd, struct err *err)
{
    auto_buf struct buf request;
    auto_buf struct buf answer;
    auto_fd int fd = -1;
    struct wire_in in;
    uint32_t port;

    buf_init(&request, RPC_MAX_PAYLOAD);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    put_session(&request, id, actor);
    wire_put_u32(&request, flags);
    if (call(socket, RPC_CREATE, &request, CREATE_MS, RPC_CREATED, &answer, &fd, err) < 0)
        return -1;
    wire_start(&in, answer.data, answer.len);
    port = wire_get_u32(&in);
    if (wire_end(&in) < 0 || !port || port > UINT16_MAX)
        return malformed(err);
    *ret_port = port;
    *ret_fd = steal_fd(fd);
    return 0;
}

int supervisor_info(const char *socket, const struct id *id, const char *actor, struct buf *answer,
                    struct rpc_session *ret, struct err *err)
{
    auto_buf struct buf request;
    struct wire_in in;

    buf_init(&request, RPC_MAX_PAYLOAD);
    put_session(&request, id, actor);
    if (call(socket, RPC_INFO, &request, QUICK_MS, RPC_SESSION, answer, NULL, err) < 0)
        return -1;
    wire_start(&in, answer->data, answer->len);
    if (rpc_get_session(&in, ret) < 0 || wire_end(&in) < 0)
        return malformed(err);
    return 0;
}

int supervisor_health(const char *socket, struct buf *answer, struct rpc_status *ret, struct err *err)
{
    struct wire_in in;

    if (call(socket, RPC_HEALTH, NULL, QUICK_MS, RPC_STATUS, answer, NULL, err) < 0)
        return -1;
    wire_start(&in, answer->data, answer->len);
    return rpc_get_status(&in, ret) < 0 ? malformed(err) : 0;
}

int supervisor_metrics(const char *socket, struct buf *answer, const char **ret, size_t *ret_len, struct err *err)
{
    struct wire_in in;
    const char *page;
    size_t len;

    if (call(socket, RPC_METRICS, NULL, QUICK_MS, RPC_METRICS_PAGE, answer, NULL, err) < 0)
        return -1;
    wire_start(&in, answer->data, answer->len);
    page = wire_get_bytes(&in, RPC_MAX_PAYLOAD, &len);
    if (wire_end(&in) < 0)
        return malformed(err);
    *ret = page;
    *ret_len = len;
    return 0;
}

int supervisor_open(const char *socket, const struct id *id, const char *actor, int *ret_fd, struct err *err)
{
    auto_buf struct buf request;
    auto_buf struct buf answer;

    buf_init(&request, RPC_MAX_PAYLOAD);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    put_session(&request, id, actor);
    return call(socket, RPC_OPEN, &request, QUICK_MS, RPC_OK, &answer, ret_fd, err);
}

int supervisor_end(const char *socket, const struct id *id, const char *actor, struct err *err)
{
    auto_buf struct buf request;
    auto_buf struct buf answer;

    buf_init(&request, RPC_MAX_PAYLOAD);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    put_session(&request, id, actor);
    return call(socket, RPC_END, &request, END_MS, RPC_OK, &answer, NULL, err);
}
