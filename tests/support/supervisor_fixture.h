/* tests/support/supervisor_fixture.h -- a supervisor's insides on a loop of the test's own, in a directory of its own;
 * the test plays launcher, holders, workers and browsers with non-blocking sockets of the same thread. Every wait turns
 * the loop and fails the test after some seconds. */
#ifndef TESTS_SUPPORT_SUPERVISOR_FIXTURE_H
#define TESTS_SUPPORT_SUPERVISOR_FIXTURE_H

#include "shared/base/buf.h"
#include "shared/ipc/launch.h"
#include "supervisor/supervisor.h"

#define FIXTURE_SLOTS 3

struct fixture {
    char dir[48];
    struct config config;
    struct supervisor sv;
    int launcher_door, launcher; /* the launcher's listener and its end of the channel */
    int holders[FIXTURE_SLOTS];  /* listeners */
};

void fixture_open_pool(struct fixture *f, int64_t warm_pool); /* so many are to wait; the other one: none */
void fixture_open(struct fixture *f);  /* loop, sessions (not started), quota, doors; fails the test itself */
void fixture_close(struct fixture *f); /* everything down, memory and files gone */

/* Launcher: connects the channel, tells all slots free, plays a self-test that passes. */
void fixture_ready(struct fixture *f);
void fixture_connect_launcher(struct fixture *f);
void fixture_tell(struct fixture *f, enum launch_op op, uint32_t slot, const struct id *id, int64_t value);
void fixture_tell_slot(struct fixture *f, uint32_t slot, enum launch_slot_state state, const struct id *id);
struct launch_msg fixture_asked(struct fixture *f, enum launch_op op); /* the next message, which must be that */
void fixture_asked_nothing(struct fixture *f);

/* Holders: the listener of a slot, then connections to it. */
void fixture_open_holder(struct fixture *f, uint32_t slot);
void fixture_close_holder(struct fixture *f, uint32_t slot);
int fixture_accept_holder(struct fixture *f, uint32_t slot);
void fixture_identify(struct fixture *f, int control, const struct id *id, const char *actor);
void fixture_phase(struct fixture *f, int control, enum hold_phase phase);

/* A session whose agent listens; *ret_control is the holder's end of the control connection. */
struct session *fixture_session(struct fixture *f, const char *actor, int *ret_control);

/* Somebody who asks for a session or for an end, and what it was told. */
struct asker {
    struct create_request request;
    struct waiter end;
    int told, ended; /* how often */
    struct session *session;
    struct err err; /* of the last time */
};

void asker_init(struct asker *a);
void asker_ask(struct fixture *f, struct asker *a, const char *actor); /* for a session of a new id; a starts anew */

/* Sockets of the test: whole messages, waiting with the loop. recv: 0 when the other side has closed. */
int fixture_connect(struct fixture *f, const char *file);
void fixture_send(int fd, uint16_t type, const void *payload, size_t len);
int fixture_recv(struct fixture *f, int fd, uint16_t *ret_type, struct buf *payload, int *ret_fd);
size_t fixture_read(struct fixture *f, int fd, void *data, size_t len); /* exactly len, or less at the end */

void fixture_turn(struct fixture *f); /* one pass of the loop without waiting */
/* Turns the loop until the condition holds. */
#define fixture_wait(f, condition) \
    do { \
        for (int64_t until_ = time_mono_ms() + 10000; !(condition);) { \
            assert_true(time_mono_ms() < until_); \
            fixture_pass(f); \
        } \
    } while (0)
void fixture_pass(struct fixture *f); /* one pass, waits a little for events */

#endif
