/* supervisor/holder/holder.h -- state of one session's holder, for its own files.
 * Theory of operation: one loop. session.c owns the phases and is the only one that ends things; agent.c runs the
 * process, agent_ws.c its WebSocket, journal.c keeps what a browser has to get. Connections (conn.c) have one role
 * each, given by their first message: control.c, bundle.c, attach.c, files.c (listing and probe, in children).
 * Before there is a session its interpreter may wait in the sandbox (warm.c). Should that one die before it has taken
 * the program, the program is started as if there had been none.
 * Everything that comes from the agent passes the journal and nothing else. */
#ifndef HOLDER_HOLDER_H
#define HOLDER_HOLDER_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/base/id.h"
#include "shared/config/config.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/wire.h"
#include "supervisor/holder/agent_ws.h"
#include "supervisor/holder/journal.h"
#include "supervisor/holder/lines.h"
#include "supervisor/holder/transcript.h"
#include "supervisor/holder/warm.h"
#include "supervisor/holder/way_out.h"
#include "supervisor/sandbox/facts.h"
#include "supervisor/sandbox/spawn.h"
#include "supervisor/sandbox/strv.h"

struct holder;
struct conn;

/* A role: what a connection may say after its first message. */
struct conn_role {
    const char *name;
    /* One message, the first included: 0, or -1 to end the connection. */
    int (*message)(struct conn *c, uint16_t type, struct wire_in *in);
    void (*turned)(struct conn *c); /* all messages that were there are handled; NULL: nothing to do */
    void (*sent)(struct conn *c);   /* some bytes have left; NULL: nothing to do */
    void (*closed)(struct conn *c); /* the connection ends; NULL: nothing to do */
};

struct conn {
    struct conn *next;
    struct holder *holder;
    const struct conn_role *role; /* NULL until the first message */
    int fd;                       /* -1: ended, waits to be freed */
    ev_io reader, writer;
    ev_timer patience; /* for the first message */
    struct frame_reader in;
    struct frame_writer out;
    size_t begun; /* attach: bytes of the journal's next frame that have left */
    bool paused;  /* messages wait until conn_resume() */
    bool broken;  /* takes nothing any more: ends when the loop comes to it */
    bool last;    /* ends when everything is sent */
    bool drain;   /* then what still comes in is read and dropped until the peer ends it */
};

struct agent {
    struct spawned proc;
    int inner; /* pidfd of the sandbox's first process, -1 unknown */
    ev_io output, report, gone;
    ev_child child;
    ev_timer harder;
    bool forked, child_gone, running; /* running: the interpreter was executed */
    bool finishing;                   /* nothing runs any more, its last frames are being read */
    int status;                       /* of the child, once it has gone */
    bool unreadable;                  /* pipe at its end */
    bool ended;                       /* end holds its report */
    struct pid1_report end;
};

struct bundle {
    struct conn *conn; /* who hands it over */
    bool seen;         /* there is one bundle in a session */
    uint64_t bytes;
    unsigned entries;
    struct strv extra; /* credentials, wiped at the start */
};

struct holder {
    struct ev_loop *loop;
    struct config config;
    struct sandbox_facts facts;
    uint32_t slot;
    struct id id;
    char session[ID_TEXT_LEN + 1];
    char *dir, *work;
    int work_fd;
    int listen_fd, life_fd;
    int memory_events;   /* tells of memory kills; -1 nothing does */
    int64_t kills;       /* of which so many were not the program's */
    struct strv entered; /* cgroup.procs files of the agent's control groups */
    uid_t service_uid;

    enum hold_phase phase; /* session.c's set_phase() only */
    bool ending;           /* being ended by us, for this reason */
    enum hold_reason reason;
    uint32_t code;
    bool done;
    bool launcher_gone;
    uint16_t port;
    bool private_network; /* the agent listens in a network of its own */

    char actor[128 + 1];
    uint64_t started_wall_ms, expires_wall_ms;
    int64_t begun_wall_ms, begun_mono_ms, ended_mono_ms;

    struct conn *conns, *dead, *control, *attach;
    uint32_t control_version; /* of who is at control; 0: it has not told */
    struct bundle bundle;
    struct journal journal;
    struct transcript transcript;
    struct lines lines;
    struct buf tail;      /* newest output while STARTING, for the error frame, or while nobody has a program */
    uint64_t told_frames; /* in the last HOLD_PHASE */
    unsigned tells;       /* so often it may still be told in this second */
    struct agent agent;
    struct warm warm;
    struct agent_ws ws;
    struct way_out way_out;
    unsigned helpers; /* children that answer files requests */

    ev_io listener, life;
    ev_timer lifetime, ready, detach, linger, tick, farewell;
    ev_timer accept_again; /* after descriptors ran out */
    ev_prepare burial, turn;
};

/* conn.c */
void conn_accept(struct holder *h); /* starts the listener */
void conn_close(struct conn *c);
void conn_close_all(struct holder *h);
void conn_resume(struct conn *c);                                       /* handles messages again after c->paused */
int conn_put(struct conn *c, uint16_t type, const struct buf *payload); /* -1: full, the caller closes */
void conn_push(struct conn *c);                                         /* sends now what goes out at once */
/* Bytes of these parts that went out now. Unless it was all of them, role->sent() is called when more may go. */
size_t conn_send(struct conn *c, struct iovec *parts, size_t count);
void conn_finish(struct conn *c);                      /* closes once everything is sent */
void conn_fail(struct conn *c, const struct err *err); /* HOLD_FAILED, then conn_finish() */
bool conn_peer_gone(const struct conn *c);

/* Roles, by their first message. */
extern const struct conn_role control_role, bundle_role, attach_role, files_role, transcript_role, probe_role;

/* control.c: news for the supervisor; nothing when none is connected. */
void control_phase(struct holder *h);
/* The count of frames, when it is new: whoever asks for the state of a session that says little learns that of this
 * very moment. A flood is counted now and then. */
#define CONTROL_COUNTS 50u /* in a second */
void control_count(struct holder *h);
void control_gone(struct holder *h);
void control_done(struct holder *h);
void control_warm(struct holder *h, const char *why); /* why: it is lost, else "" */

/* bundle.c: answers to the worker that waits for the start. */
void bundle_started(struct holder *h);
void bundle_failed(struct holder *h, const struct err *err);

/* attach.c */
void attach_pump(struct holder *h);    /* frames out, as far as the browser takes them */
void attach_drained(struct holder *h); /* the agent takes frames again */

/* agent.c */
int agent_start(struct holder *h, bool waits, struct err *err);    /* waits: for the program, which is not there yet */
void agent_output(struct holder *h, const char *data, size_t len); /* of the program, to the browser */
void agent_kill(struct holder *h);
void agent_finished(struct holder *h); /* its last frame has been read */
void agent_init(struct holder *h);     /* also behind one that is gone: another may be started */
void agent_release(struct holder *h);
void agent_flow(struct holder *h); /* reads the agent, or not, as the journal allows */

/* verdict.c: why the agent ended */
void verdict_find(struct holder *h);                  /* reason and code, of an end that was not ours */
int64_t verdict_memory_kills(const struct holder *h); /* in its group, so far */
/* For the browser, of one that never got ready; for the worker, of one whose interpreter was never executed.
 * start_error: what failed before the sandbox was there, or NULL. */
void verdict_sentence(const struct holder *h, const struct err *start_error, char *text, size_t size);
void verdict_of_start(const struct holder *h, const struct err *start_error, struct err *err);

/* session.c */
void session_init(struct holder *h);
uint64_t session_expires_wall_ms(const struct holder *h); /* by the clock as it is now */
void session_begin(struct holder *h, const char *actor, uint64_t started_wall_ms, uint64_t lifetime_ms);
void session_await_nothing(struct holder *h); /* there is no session yet: no deadline runs */
void session_await_bundle(struct holder *h);
int session_start(struct holder *h, struct err *err);        /* the bundle is complete */
void session_start_agent(struct holder *h);                  /* and so is the work directory */
void session_running(struct holder *h);                      /* the interpreter runs */
void session_end(struct holder *h, enum hold_reason reason); /* ends it, whatever it does */
void session_agent_gone(struct holder *h, const struct err *start_error);
void session_line(void *arg, const char *line, size_t len); /* one line of output */
void session_attached(struct holder *h);
void session_detached(struct holder *h);
void session_delivered(struct holder *h); /* HOLD_EXIT has left */
void session_progress(struct holder *h);  /* the browser took something after the end */

#endif
