/* shared/ipc/rpc.h -- workers and the command line <-> supervisor, over RUNTIME_DIR/supervisor.sock.
 * One request and one answer per connection (frame.h), and RPC_TAKEN behind some. The socket is reachable by the
 * service's own user only; still every field is bounded and checked. Fields are listed in wire order. */
#ifndef IPC_RPC_H
#define IPC_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/base/id.h"

#define RPC_MAX_PAYLOAD (256u << 10)
#define RPC_ACTOR_MAX 128 /* "ip:192.0.2.1", "gh:<sha256>", "internal" */
#define RPC_TEXT_MAX 1024

enum rpc_type {
    /* requests */
    RPC_ADMIT = 1, /* str actor, u32 flags (enum rpc_admit): rate and cap, before work is done for the actor */
    RPC_CREATE,    /* id session, str actor, u32 flags (enum rpc_create): answer RPC_CREATED with a descriptor
                      connected to the holder (hold.h): the caller hands over the bundle there */
    RPC_INFO,      /* id session, str actor: answer RPC_SESSION */
    RPC_OPEN,      /* id session, str actor: answer RPC_OK with a descriptor connected to the holder, for files */
    RPC_END,       /* id session, str actor: answer RPC_OK once nothing of the session is left */
    RPC_HEALTH,    /* nothing: answer RPC_STATUS */
    RPC_LIST,      /* nothing: answer RPC_SESSIONS */
    RPC_TAKEN, /* nothing: behind RPC_CREATED, to RPC_CREATE_TAKES or RPC_QUEUE_TAKES: somebody is told of the session
                  now. A connection that ends without it ends the session. No answer */

    /* sign-ins (signin.h); a hash is bytes, 32 of them */
    RPC_SIGNIN_BEGIN = 16, /* hash state, hash browser, str actor: a browser goes to GitHub */
    RPC_SIGNIN_TAKE,    /* hash state, hash browser (zeros: it keeps no cookies): it came back; the state is used up, a
                           talk with GitHub begins */
    RPC_SIGNIN_MAKE,    /* hash state, hash session, str login, str avatar: the talk's end, and a session */
    RPC_SIGNIN_GIVE_UP, /* hash state: the talk's end, without one */
    RPC_SIGNIN_SHOW,    /* hash session: answer RPC_SIGNIN, or RPC_ERROR (ERR_AUTH) */
    RPC_SIGNIN_END,     /* hash session: signed out; the sessions of its actor end. RPC_OK also for an unknown one */

    RPC_METRICS = 24, /* nothing: answer RPC_METRICS_PAGE */
    RPC_DRAIN,        /* u32 flags (enum rpc_drain): answer RPC_STATUS */
    RPC_RELOAD,       /* nothing: read the settings anew: answer RPC_OK, or RPC_ERROR and nothing has changed */

    RPC_QUEUE = 32, /* id session, str actor, u32 seconds (RPC_QUEUE_SECONDS_MAX at most), with RPC_QUEUE_TAKES:
                       RPC_CREATE that waits so long for a place */

    /* answers */
    RPC_OK = 64,     /* nothing */
    RPC_ERROR,       /* u32 enum err_kind, u32 seconds to wait, str sentence (safe to show) */
    RPC_SESSION,     /* struct rpc_session */
    RPC_STATUS,      /* struct rpc_status */
    RPC_SESSIONS,    /* u32 count, then as many struct rpc_session */
    RPC_CREATED,     /* u32 port that the agent has to listen on */
    RPC_SIGNIN = 80, /* str login, str avatar, u64 wall clock ms of its end */

    RPC_FULL = 88, /* to RPC_QUEUE, and to RPC_CREATE when asked for: every place is taken. u32 seconds until one surely
                      comes free for the caller, u32 position in the queue, u32 requests in it, str sentence */

    RPC_METRICS_PAGE = 84, /* bytes: the page in the Prometheus text format */
};

enum rpc_admit { RPC_ADMIT_RATE = 1, RPC_ADMIT_CAP = 2 };
enum rpc_drain { RPC_DRAIN_ON = 1 }; /* no new sessions; without the flag: again */
enum rpc_create {
    RPC_CREATE_INTERNAL = 1, /* internal surface: no cap per actor */
    RPC_CREATE_MAY_WAIT = 2, /* answer RPC_FULL rather than RPC_ERROR when there is no place */
    RPC_CREATE_TAKES = 4,    /* RPC_TAKEN will follow */
};
#define RPC_QUEUE_SECONDS_MAX 60
#define RPC_QUEUE_TAKES 64 /* RPC_TAKEN will follow */

/* Wire: id, str actor, str state, u64 started, u64 expires, u8 attached, u64 frames, str exit reason ("" = runs), u32
 * exit code, u32 slot */
struct rpc_session {
    struct id id;
    const char *actor; /* borrowed, like all strings here */
    const char *state;
    uint64_t started_wall_ms, expires_wall_ms;
    bool attached;
    uint64_t frames;
    const char *exit_reason;
    int32_t exit_code;
    uint32_t slot;
};

/* Wire: u32 sessions, u32 capacity, u32 quarantined, str sandbox ("ok", "off", "unavailable: reason"), str egress, str
 * cgroup, u8 draining, u32 warm, u32 warm pool */
struct rpc_status {
    uint32_t sessions, capacity, quarantined;
    uint32_t warm, warm_pool; /* interpreters that wait ready for a session, and how many are to */
    const char *sandbox;
    const char *egress;
    const char *cgroup;
    bool draining; /* takes no new sessions */
};

/* Answer RPC_SIGNIN, as on the wire. */
struct rpc_signin {
    const char *login, *avatar; /* borrowed */
    uint64_t expires_wall_ms;
};

struct buf;
struct wire_in;
void rpc_put_session(struct buf *b, const struct rpc_session *s);
int rpc_get_session(struct wire_in *in, struct rpc_session *ret); /* 0, or -1 when malformed */
void rpc_put_status(struct buf *b, const struct rpc_status *s);
int rpc_get_status(struct wire_in *in, struct rpc_status *ret);
void rpc_put_error(struct buf *b, const struct err *e);
int rpc_get_error(struct wire_in *in, struct err *ret); /* fills ret with what the peer said; 0, or -1 malformed */

/* Blocking client. Connects, sends request type with payload, receives the answer into answer (caller's, ceiling
 * at least RPC_MAX_PAYLOAD). RPC_ERROR becomes -1 with err as the supervisor said; no supervisor: ERR_UNAVAILABLE.
 * ret_fd NULL when no descriptor is expected, else the caller's. timeout_ms bounds each wait. */
int rpc_call(const char *socket_path, enum rpc_type type, const struct buf *payload, unsigned timeout_ms,
             enum rpc_type *ret_type, struct buf *answer, int *ret_fd, struct err *err);

#endif
