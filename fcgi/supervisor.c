#include "fcgi/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/frame.h"
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

static int said_error(const struct buf *answer, struct err *err)
{
    struct wire_in in;
    struct err said;

    wire_start(&in, answer->data, answer->len);
    if (rpc_get_error(&in, &said) < 0)
        return malformed(err);
    *err = said;
    return -1;
}

static int refused_full(const struct buf *answer, struct place_queue *ret_full, struct err *err)
{
    struct place_queue q;
    struct wire_in in;
    const char *text;
    unsigned wait;

    wire_start(&in, answer->data, answer->len);
    wait = wire_get_u32(&in);
    q.position = wire_get_u32(&in);
    q.waiting = wire_get_u32(&in);
    text = wire_get_str(&in, RPC_TEXT_MAX);
    if (wire_end(&in) < 0 || !q.position || !ret_full)
        return malformed(err);
    *ret_full = q;
    err_set(err, ERR_LIMIT, 0, "%s", text);
    err->wait = wait;
    return -1;
}

/* The answer to a request for a session. 0: sock is steal_fd()ed into *ret. */
static int hear_created(int *sock, struct place *ret, struct place_queue *ret_full, struct err *err)
{
    auto_buf struct buf answer;
    auto_fd int fd = -1;
    struct wire_in in;
    uint32_t port;
    uint16_t got;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (frame_recv(*sock, &got, &answer, &fd, err) != 1)
        return err_set(err, ERR_UNAVAILABLE, 0, "The agent simulator cannot be reached, try again in a moment");
    if (got == RPC_ERROR)
        return said_error(&answer, err);
    if (got == RPC_FULL)
        return refused_full(&answer, ret_full, err);
    wire_start(&in, answer.data, answer.len);
    port = wire_get_u32(&in);
    if (got != RPC_CREATED || wire_end(&in) < 0 || !port || port > UINT16_MAX || fd < 0)
        return malformed(err);
    *ret = (struct place){ port, steal_fd(fd), steal_fd(*sock) };
    return 0;
}

static int ask_for_session(int sock, enum rpc_type type, const struct id *id, const char *actor, uint32_t flags,
                           struct err *err)
{
    auto_buf struct buf request;

    buf_init(&request, RPC_MAX_PAYLOAD);
    put_session(&request, id, actor);
    wire_put_u32(&request, flags);
    if (buf_failed(&request))
        return err_nomem(err);
    return frame_send(sock, (uint16_t)type, &request, -1, err) < 0 ? unreachable(err) : 0;
}

int supervisor_create(const char *socket, const struct id *id, const char *actor, uint32_t flags, struct place *ret,
                      struct place_queue *ret_full, struct err *err)
{
    auto_fd int sock = io_unix_connect_within(socket, CREATE_MS, err);

    if (ret_full)
        *ret_full = (struct place_queue){ 0, 0 };
    if (sock < 0)
        return unreachable(err);
    if (ask_for_session(sock, RPC_CREATE, id, actor, flags | RPC_CREATE_TAKES, err) < 0)
        return -1;
    return hear_created(&sock, ret, ret_full, err);
}

/* A supervisor that is gone does not mind: its successor takes every session that it finds for a taken one. */
void supervisor_taken(int claim)
{
    struct err err;

    if (frame_send(claim, RPC_TAKEN, NULL, -1, &err) < 0)
        log_debug("supervisor: %s", err.msg);
    (void)close(claim);
}

/* 0 when the supervisor answers, -1 when the client goes first or nothing comes at all. */
static int await_answer(int sock, int client_fd, int64_t deadline, struct err *err)
{
    struct pollfd p[] = { { .fd = sock, .events = POLLIN }, { .fd = client_fd, .events = POLLRDHUP } };

    for (;;) {
        int64_t left = deadline - time_mono_ms();
        int n = left > 0 ? poll(p, ARRAY_LEN(p), (int)left) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, ERR_UNAVAILABLE, 0, "The agent simulator did not answer in time");
        if (p[0].revents)
            return 0;
        return err_set(err, ERR_UNAVAILABLE, 0, "The client has left");
    }
}

int supervisor_queue(const char *socket, const struct id *id, const char *actor, unsigned seconds, int client_fd,
                     struct place *ret, struct place_queue *ret_full, struct err *err)
{
    int64_t deadline = time_mono_ms() + (int64_t)seconds * 1000 + CREATE_MS;
    auto_fd int sock = io_unix_connect_within(socket, QUICK_MS, err);

    *ret_full = (struct place_queue){ 0, 0 };
    if (sock < 0)
        return unreachable(err);
    if (ask_for_session(sock, RPC_QUEUE, id, actor, seconds | RPC_QUEUE_TAKES, err) < 0 ||
        await_answer(sock, client_fd, deadline, err) < 0)
        return -1;
    return hear_created(&sock, ret, ret_full, err);
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

/* ---- sign-ins ---- */

static int put_hash(struct buf *request, const char *secret, struct err *err)
{
    struct signin_hash h = { 0 };

    if (*secret && signin_hash_of(secret, &h) < 0)
        return err_set(err, ERR_AUTH, 0, "The GitHub session is unknown or has expired, sign in again");
    signin_put_hash(request, &h);
    return 0;
}

/* second, text, more: NULL where the request has none. */
static int call_signin(const char *socket, enum rpc_type type, const char *first, const char *second, const char *text,
                       const char *more, struct err *err)
{
    auto_buf struct buf request;
    auto_buf struct buf answer;

    buf_init(&request, RPC_MAX_PAYLOAD);
    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (put_hash(&request, first, err) < 0 || (second && put_hash(&request, second, err) < 0))
        return -1;
    if (text)
        wire_put_str(&request, text);
    if (more)
        wire_put_str(&request, more);
    return call(socket, type, &request, QUICK_MS, RPC_OK, &answer, NULL, err);
}

int supervisor_signin_begin(const char *socket, const char *state, const char *browser, const char *actor,
                            struct err *err)
{
    return call_signin(socket, RPC_SIGNIN_BEGIN, state, browser, actor, NULL, err);
}

int supervisor_signin_take(const char *socket, const char *state, const char *browser, struct err *err)
{
    return call_signin(socket, RPC_SIGNIN_TAKE, state, browser, NULL, NULL, err);
}

int supervisor_signin_make(const char *socket, const char *state, const char *session, const char *login,
                           const char *avatar, struct err *err)
{
    return call_signin(socket, RPC_SIGNIN_MAKE, state, session, login, avatar, err);
}

void supervisor_signin_give_up(const char *socket, const char *state)
{
    struct err err;

    if (call_signin(socket, RPC_SIGNIN_GIVE_UP, state, NULL, NULL, NULL, &err) < 0)
        log_warn("sign-in: %s", err.msg);
}

int supervisor_signin_end(const char *socket, const char *session, struct err *err)
{
    if (!signin_secret_valid(session))
        return 0; /* nobody is signed in with that */
    return call_signin(socket, RPC_SIGNIN_END, session, NULL, NULL, NULL, err);
}

int supervisor_signin_show(const char *socket, const char *session, struct buf *answer, struct rpc_signin *ret,
                           struct err *err)
{
    struct rpc_signin user;
    auto_buf struct buf request;
    struct wire_in in;

    buf_init(&request, RPC_MAX_PAYLOAD);
    if (put_hash(&request, session, err) < 0 ||
        call(socket, RPC_SIGNIN_SHOW, &request, QUICK_MS, RPC_SIGNIN, answer, NULL, err) < 0)
        return -1;
    wire_start(&in, answer->data, answer->len);
    user.login = wire_get_str(&in, SIGNIN_LOGIN_MAX);
    user.avatar = wire_get_str(&in, SIGNIN_AVATAR_MAX);
    user.expires_wall_ms = wire_get_u64(&in);
    if (wire_end(&in) < 0)
        return malformed(err);
    *ret = user;
    return 0;
}

int supervisor_signin_check(const char *socket, const char *session, char ret_actor[RPC_ACTOR_MAX + 1], struct err *err)
{
    auto_buf struct buf answer;
    struct rpc_signin user;
    struct signin_hash h;

    buf_init(&answer, RPC_MAX_PAYLOAD);
    if (supervisor_signin_show(socket, session, &answer, &user, err) < 0)
        return -1;
    if (signin_hash_of(session, &h) < 0)
        return err_nomem(err);
    signin_actor(&h, ret_actor);
    return 0;
}
