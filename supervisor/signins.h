/* supervisor/signins.h -- who is signed in, and who is about to be: one truth for all workers (HTTP contract, section
 * 5). Owns three bounded tables: states (a browser was sent to GitHub), talks (a worker asks GitHub about one of them)
 * and sessions. Only SHA-256 of secrets are here. Times are the caller's, wall clock, so that tests own time and
 * sessions outlive a restart. When a table is full the oldest entry makes room; nobody can fill a table alone: there is
 * a bound per address for states, one per user for sessions. */
#ifndef SUPERVISOR_SIGNINS_H
#define SUPERVISOR_SIGNINS_H

#include <stddef.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/ipc/signin.h"
#include "supervisor/list.h"

struct signins_rule {
    int64_t state_ms, session_ms, talk_ms;
    size_t states, states_per_actor;
    size_t sessions, sessions_per_user;
    size_t talks; /* at a time: a slow GitHub holds so many workers and no more */
};

extern const struct signins_rule signins_usual; /* of the contract; talks is the caller's to set */

struct signin {
    struct list age; /* in signins.sessions, oldest first */
    struct signin *chain;
    struct signin_hash id;
    int64_t expires_ms;
    char *login, *avatar; /* in the same block */
};

struct signins; /* opaque; freed by signins_free(), NULL is fine */

struct signins *signins_new(const struct signins_rule *rule); /* NULL: out of memory */
void signins_free(struct signins *s);

/* A browser goes to GitHub. 0, or -1 out of memory. */
int signins_begin(struct signins *s, const struct signin_hash *state, const struct signin_hash *browser,
                  const char *actor, int64_t now_ms, struct err *err);

/* It came back; browser is all zeros for a client that keeps no cookies: the state alone decides then. 0: the state is
 * used up and a talk has begun. -1: ERR_AUTH when the state is unknown, over, or of another browser (it is used up then
 * too); ERR_LIMIT when too many talks go on (it stays). */
int signins_take(struct signins *s, const struct signin_hash *state, const struct signin_hash *browser, int64_t now_ms,
                 struct err *err);

/* The talk's end: with a session, or with nothing. -1: ERR_AUTH when there is no such talk (any more), ERR_BAD_REQUEST
 * when login or avatar cannot be GitHub's, or out of memory. */
int signins_make(struct signins *s, const struct signin_hash *state, const struct signin_hash *session,
                 const char *login, const char *avatar, int64_t now_ms, struct err *err);
void signins_give_up(struct signins *s, const struct signin_hash *state);

/* Borrowed until the next change; NULL: unknown or expired. */
const struct signin *signins_find(const struct signins *s, const struct signin_hash *session, int64_t now_ms);
void signins_end(struct signins *s, const struct signin_hash *session); /* unknown is fine */
void signins_expire(struct signins *s, int64_t now_ms);                 /* forgets what is over */

/* The caller's clock was set: everything ends as much later (earlier, when negative). */
void signins_shift(struct signins *s, int64_t by_ms);

size_t signins_sessions(const struct signins *s);
size_t signins_states(const struct signins *s);

/* States and sessions as bytes, and back: hostile bytes are refused as a whole (ERR_BAD_REQUEST) and leave s empty. */
void signins_write(const struct signins *s, struct buf *out);
int signins_read(struct signins *s, const void *data, size_t len, int64_t now_ms, struct err *err);

#endif
