#include "supervisor/signins.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/ipc/wire.h"

#define BUCKETS 4096u /* a power of two; the key is a digest, so nobody chooses who shares one */
#define FORMAT 1u
#define MINUTE INT64_C(60000)

const struct signins_rule signins_usual = {
    .state_ms = MINUTE * 10,
    .session_ms = MINUTE * 60 * 24,
    .talk_ms = 30000, /* longer than a worker talks to GitHub; for one that died meanwhile */
    .states = 4096,
    .states_per_actor = 16,
    .sessions = 4096,
    .sessions_per_user = 8,
    .talks = 1,
};

struct pending { /* a state, or a talk about one */
    struct list age;
    struct signin_hash state, browser;
    int64_t expires_ms;
    char *actor; /* in the same block */
};

struct signins {
    struct signins_rule rule;
    struct list states, talks, sessions; /* oldest first */
    size_t states_len, talks_len, sessions_len;
    struct signin **buckets;
};

struct signins *signins_new(const struct signins_rule *rule)
{
    struct signins *s = mem_zalloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->rule = *rule;
    list_init(&s->states);
    list_init(&s->talks);
    list_init(&s->sessions);
    s->buckets = mem_zalloc(BUCKETS, sizeof(struct signin *));
    if (!s->buckets) {
        signins_free(s);
        return NULL;
    }
    return s;
}

static struct pending *pending_at(struct list *l)
{
    return list_entry(l, struct pending, age);
}

static struct signin *session_at(struct list *l)
{
    return list_entry(l, struct signin, age);
}

static void drop_state(struct signins *s, struct pending *p)
{
    list_remove(&p->age);
    mem_free(p);
    s->states_len--;
}

static void drop_talk(struct signins *s, struct pending *p)
{
    list_remove(&p->age);
    mem_free(p);
    s->talks_len--;
}

static struct signin **bucket_of(const struct signins *s, const struct signin_hash *id)
{
    return &s->buckets[((unsigned)id->b[0] << 8 | id->b[1]) & (BUCKETS - 1)];
}

static void drop_session(struct signins *s, struct signin *one)
{
    struct signin **p = bucket_of(s, &one->id);

    while (*p != one)
        p = &(*p)->chain;
    *p = one->chain;
    list_remove(&one->age);
    mem_free(one);
    s->sessions_len--;
}

static void empty(struct signins *s)
{
    while (!list_empty(&s->states))
        drop_state(s, pending_at(s->states.next));
    while (!list_empty(&s->talks))
        drop_talk(s, pending_at(s->talks.next));
    while (!list_empty(&s->sessions))
        drop_session(s, session_at(s->sessions.next));
}

void signins_free(struct signins *s)
{
    if (!s)
        return;
    if (s->buckets)
        empty(s);
    mem_free(s->buckets);
    mem_free(s);
}

size_t signins_sessions(const struct signins *s)
{
    return s->sessions_len;
}

size_t signins_states(const struct signins *s)
{
    return s->states_len;
}

void signins_shift(struct signins *s, int64_t by_ms)
{
    struct list *l;

    for (l = s->states.next; l != &s->states; l = l->next)
        pending_at(l)->expires_ms += by_ms;
    for (l = s->talks.next; l != &s->talks; l = l->next)
        pending_at(l)->expires_ms += by_ms;
    for (l = s->sessions.next; l != &s->sessions; l = l->next)
        session_at(l)->expires_ms += by_ms;
}

/* All of one kind live equally long, so the oldest is the first to end. */
void signins_expire(struct signins *s, int64_t now_ms)
{
    while (!list_empty(&s->states) && pending_at(s->states.next)->expires_ms <= now_ms)
        drop_state(s, pending_at(s->states.next));
    while (!list_empty(&s->talks) && pending_at(s->talks.next)->expires_ms <= now_ms)
        drop_talk(s, pending_at(s->talks.next));
    while (!list_empty(&s->sessions) && session_at(s->sessions.next)->expires_ms <= now_ms)
        drop_session(s, session_at(s->sessions.next));
}

/* ---- states ---- */

static void make_room_for_state(struct signins *s, const char *actor)
{
    struct pending *oldest = NULL;
    struct list *l;
    size_t n = 0;

    for (l = s->states.next; l != &s->states; l = l->next) {
        if (strcmp(pending_at(l)->actor, actor) != 0)
            continue;
        if (!n++)
            oldest = pending_at(l);
    }
    if (oldest && n >= s->rule.states_per_actor)
        drop_state(s, oldest);
    if (!list_empty(&s->states) && s->states_len >= s->rule.states)
        drop_state(s, pending_at(s->states.next));
}

static int add_state(struct signins *s, const struct signin_hash *state, const struct signin_hash *browser,
                     const char *actor, int64_t expires_ms, struct err *err)
{
    size_t len = strlen(actor) + 1;
    struct pending *p = mem_zalloc(1, sizeof(*p) + len);

    if (!p)
        return err_nomem(err);
    p->state = *state;
    p->browser = *browser;
    p->expires_ms = expires_ms;
    p->actor = memcpy(p + 1, actor, len);
    make_room_for_state(s, actor);
    list_init(&p->age);
    list_append(&s->states, &p->age);
    s->states_len++;
    return 0;
}

int signins_begin(struct signins *s, const struct signin_hash *state, const struct signin_hash *browser,
                  const char *actor, int64_t now_ms, struct err *err)
{
    signins_expire(s, now_ms);
    return add_state(s, state, browser, actor, now_ms + s->rule.state_ms, err);
}

static struct pending *find_pending(struct list *in, const struct signin_hash *state)
{
    struct list *l;

    for (l = in->next; l != in; l = l->next)
        if (signin_hash_equal(&pending_at(l)->state, state))
            return pending_at(l);
    return NULL;
}

int signins_take(struct signins *s, const struct signin_hash *state, const struct signin_hash *browser, int64_t now_ms,
                 struct err *err)
{
    static const struct signin_hash unknown;
    struct pending *p;
    bool same;

    signins_expire(s, now_ms);
    p = find_pending(&s->states, state);
    same = p && (signin_hash_equal(browser, &unknown) || signin_hash_equal(&p->browser, browser));
    if (same && s->talks_len >= s->rule.talks)
        return err_set(err, ERR_LIMIT, 0, "Too many people are signing in right now, try again in a moment");
    if (p && !same)
        drop_state(s, p);
    if (!same)
        return err_set(err, ERR_AUTH, 0, "The sign-in is unknown, over, used up or of another browser");
    p->expires_ms = now_ms + s->rule.talk_ms;
    list_append(&s->talks, &p->age); /* and out of the states */
    s->states_len--;
    s->talks_len++;
    return 0;
}

void signins_give_up(struct signins *s, const struct signin_hash *state)
{
    struct pending *p = find_pending(&s->talks, state);

    if (p)
        drop_talk(s, p);
}

/* ---- sessions ---- */

static void make_room_for_session(struct signins *s, const char *login)
{
    struct signin *oldest = NULL;
    struct list *l;
    size_t n = 0;

    for (l = s->sessions.next; l != &s->sessions; l = l->next) {
        if (strcmp(session_at(l)->login, login) != 0)
            continue;
        if (!n++)
            oldest = session_at(l);
    }
    if (oldest && n >= s->rule.sessions_per_user)
        drop_session(s, oldest);
    if (!list_empty(&s->sessions) && s->sessions_len >= s->rule.sessions)
        drop_session(s, session_at(s->sessions.next));
}

static int add_session(struct signins *s, const struct signin_hash *id, const char *login, const char *avatar,
                       int64_t expires_ms, struct err *err)
{
    size_t login_len = strlen(login) + 1, avatar_len = strlen(avatar) + 1;
    struct signin *one = mem_zalloc(1, sizeof(*one) + login_len + avatar_len), **head;

    if (!one)
        return err_nomem(err);
    one->id = *id;
    one->expires_ms = expires_ms;
    one->login = memcpy(one + 1, login, login_len);
    one->avatar = memcpy(one->login + login_len, avatar, avatar_len);
    make_room_for_session(s, login);
    list_init(&one->age);
    list_append(&s->sessions, &one->age);
    head = bucket_of(s, id);
    one->chain = *head;
    *head = one;
    s->sessions_len++;
    return 0;
}

int signins_make(struct signins *s, const struct signin_hash *state, const struct signin_hash *session,
                 const char *login, const char *avatar, int64_t now_ms, struct err *err)
{
    struct pending *talk;

    signins_expire(s, now_ms);
    talk = find_pending(&s->talks, state);
    if (!talk)
        return err_set(err, ERR_AUTH, 0, "There is no such sign-in any more");
    drop_talk(s, talk);
    if (!signin_login_valid(login) || !signin_avatar_valid(avatar))
        return err_set(err, ERR_BAD_REQUEST, 0, "The name or the picture of the user is malformed");
    return add_session(s, session, login, avatar, now_ms + s->rule.session_ms, err);
}

static struct signin *find_session(const struct signins *s, const struct signin_hash *id)
{
    struct signin *one = *bucket_of(s, id);

    while (one && !signin_hash_equal(&one->id, id))
        one = one->chain;
    return one;
}

const struct signin *signins_find(const struct signins *s, const struct signin_hash *session, int64_t now_ms)
{
    const struct signin *one = find_session(s, session);

    return one && one->expires_ms > now_ms ? one : NULL;
}

void signins_end(struct signins *s, const struct signin_hash *session)
{
    struct signin *one = find_session(s, session);

    if (one)
        drop_session(s, one);
}

/* ---- as bytes ---- */

void signins_write(const struct signins *s, struct buf *out)
{
    struct list *l;

    wire_put_u32(out, FORMAT);
    wire_put_u32(out, (uint32_t)s->states_len);
    for (l = s->states.next; l != &s->states; l = l->next) {
        const struct pending *p = pending_at(l);

        signin_put_hash(out, &p->state);
        signin_put_hash(out, &p->browser);
        wire_put_str(out, p->actor);
        wire_put_u64(out, (uint64_t)p->expires_ms);
    }
    wire_put_u32(out, (uint32_t)s->sessions_len);
    for (l = s->sessions.next; l != &s->sessions; l = l->next) {
        const struct signin *one = session_at(l);

        signin_put_hash(out, &one->id);
        wire_put_str(out, one->login);
        wire_put_str(out, one->avatar);
        wire_put_u64(out, (uint64_t)one->expires_ms);
    }
}

/* When what was read ends: 0 for what is over. A clock that was set back must not make it live longer than new ones. */
static int64_t end_of(uint64_t expires, int64_t now_ms, int64_t lifetime_ms)
{
    if (expires > INT64_MAX || (int64_t)expires > now_ms + lifetime_ms)
        return now_ms + lifetime_ms;
    return (int64_t)expires > now_ms ? (int64_t)expires : 0;
}

static int read_states(struct signins *s, struct wire_in *in, int64_t now_ms, struct err *err)
{
    uint32_t n = wire_get_u32(in);

    for (; n && !in->bad; n--) {
        struct signin_hash state, browser;
        const char *actor;
        int64_t end;

        signin_get_hash(in, &state);
        signin_get_hash(in, &browser);
        actor = wire_get_str(in, RPC_ACTOR_MAX);
        end = end_of(wire_get_u64(in), now_ms, s->rule.state_ms);
        if (!in->bad && end && !find_pending(&s->states, &state) && add_state(s, &state, &browser, actor, end, err) < 0)
            return -1;
    }
    return 0;
}

static int read_sessions(struct signins *s, struct wire_in *in, int64_t now_ms, struct err *err)
{
    uint32_t n = wire_get_u32(in);

    for (; n && !in->bad; n--) {
        const char *login, *avatar;
        struct signin_hash id;
        int64_t end;

        signin_get_hash(in, &id);
        login = wire_get_str(in, SIGNIN_LOGIN_MAX);
        avatar = wire_get_str(in, SIGNIN_AVATAR_MAX);
        end = end_of(wire_get_u64(in), now_ms, s->rule.session_ms);
        if (in->bad || !signin_login_valid(login) || !signin_avatar_valid(avatar))
            in->bad = true;
        else if (end && !find_session(s, &id) && add_session(s, &id, login, avatar, end, err) < 0)
            return -1;
    }
    return 0;
}

int signins_read(struct signins *s, const void *data, size_t len, int64_t now_ms, struct err *err)
{
    struct wire_in in;

    empty(s);
    wire_start(&in, data, len);
    if (wire_get_u32(&in) != FORMAT)
        return err_set(err, ERR_BAD_REQUEST, 0, "the sign-ins are of another format");
    if (read_states(s, &in, now_ms, err) < 0 || read_sessions(s, &in, now_ms, err) < 0) {
        empty(s);
        return -1;
    }
    if (wire_end(&in) < 0) {
        empty(s);
        return err_set(err, ERR_BAD_REQUEST, 0, "the sign-ins are malformed");
    }
    return 0;
}
