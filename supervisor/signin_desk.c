#include "supervisor/signin_desk.h"

#include <stdio.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/wire.h"

#define LATER_SECONDS 1.
#define CLOCK_SLACK_MS 1000 /* what clocks drift apart is no jump */
#define PATH_BYTES 4100

/* Times in the table and in its file are the wall clock's, so that they mean something after a restart. When somebody
 * sets that clock, they go along: nobody who is about to sign in is sent away, nobody stays for years. */
static int64_t now_ms(struct signin_desk *d)
{
    int64_t now = time_wall_ms(), jump = now - time_boot_ms() - d->wall_is_ahead_ms;

    if (jump > -CLOCK_SLACK_MS && jump < CLOCK_SLACK_MS)
        return now;
    signins_shift(d->table, jump);
    d->wall_is_ahead_ms += jump;
    d->changed = true;
    log_info("the clock was set by %lld ms: sign-ins go along", (long long)jump);
    return now;
}

static void save(struct signin_desk *d, bool durable)
{
    auto_buf struct buf plain;
    struct err err;

    buf_init(&plain, SIGNIN_STORE_MAX);
    signins_write(d->table, &plain);
    if (buf_failed(&plain))
        err_nomem(&err);
    else if (signin_store_save(&d->store, &plain, durable, &err) == 0)
        d->changed = false;
    if (d->changed && !d->complained) /* it is tried again every second */
        log_error("sign-ins are not kept for the next start: %s", err.msg);
    else if (!d->changed && d->complained)
        log_info("sign-ins are kept for the next start again");
    d->complained = d->changed;
}

static void on_later(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    struct signin_desk *d = w->data;

    (void)loop;
    (void)revents;
    signins_expire(d->table, now_ms(d));
    if (d->changed)
        save(d, false);
}

static void open_store(struct signin_desk *d, const struct config *config)
{
    char dir[PATH_BYTES];
    auto_buf struct buf plain;
    struct err err;

    buf_init(&plain, SIGNIN_STORE_MAX);
    snprintf(dir, sizeof(dir), "%s/signin", config->state_dir);
    if (signin_store_open(&d->store, dir, config->signin_key, &err) < 0) {
        log_error("sign-ins will not survive a restart: %s", err.msg);
        return;
    }
    if (signin_store_load(&d->store, &plain, &err) < 0 ||
        (plain.len && signins_read(d->table, plain.data, plain.len, time_wall_ms(), &err) < 0))
        log_warn("sign-ins of an earlier start are refused, everybody has to sign in again: %s", err.msg);
    else
        log_info("%zu sign-ins of an earlier start", signins_sessions(d->table));
}

int signin_desk_open(struct signin_desk *d, struct ev_loop *loop, const struct config *config, struct err *err)
{
    struct signins_rule rule = signins_usual;

    rule.talks = config->workers > 1 ? (size_t)config->workers / 2 : 1;
    *d = (struct signin_desk){ .loop = loop, .table = signins_new(&rule) };
    if (!d->table)
        return err_nomem(err);
    d->wall_is_ahead_ms = time_wall_ms() - time_boot_ms();
    open_store(d, config);
    ev_timer_init(&d->later, on_later, LATER_SECONDS, LATER_SECONDS);
    d->later.data = d;
    ev_timer_start(loop, &d->later);
    return 0;
}

void signin_desk_release(struct signin_desk *d)
{
    if (!d->table)
        return;
    if (d->changed)
        save(d, true);
    ev_timer_stop(d->loop, &d->later);
    signin_store_release(&d->store);
    signins_free(d->table);
    d->table = NULL;
}

int signin_desk_check(struct signin_desk *d, const struct signin_hash *session, struct err *err)
{
    if (d->table && signins_find(d->table, session, now_ms(d)))
        return 0;
    return err_set(err, ERR_AUTH, 0, "The GitHub session is unknown or has expired, sign in again");
}

static void audit(const struct signin_hash *session, const char *what, const char *login)
{
    char actor[RPC_ACTOR_MAX + 1];

    signin_actor(session, actor);
    log_audit("", actor, "%s %s", what, login);
}

static void answer(struct rpc_conn *c, int r, const struct err *err)
{
    if (r < 0)
        rpc_answer_error(c, err);
    else
        rpc_answer(c, RPC_OK, NULL, -1);
}

static void call_begin(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    struct err err;
    int done = signins_begin(d->table, &r->hashes[0], &r->hashes[1], r->actor, now_ms(d), &err);

    d->changed = true; /* not written at once: anybody can ask for this, as often as he likes */
    answer(c, done, &err);
}

static void call_take(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    size_t before = signins_states(d->table);
    struct err err;
    int done = signins_take(d->table, &r->hashes[0], &r->hashes[1], now_ms(d), &err);

    if (signins_states(d->table) != before) { /* else a restart would bring a used one back */
        d->changed = true;
        save(d, false);
    }
    answer(c, done, &err);
}

static void call_make(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    struct err err;
    int done = signins_make(d->table, &r->hashes[0], &r->hashes[1], r->login, r->avatar, now_ms(d), &err);

    if (done == 0) {
        audit(&r->hashes[1], "signed in with GitHub as", r->login);
        d->changed = true;
        save(d, true);
    }
    answer(c, done, &err);
}

static void call_give_up(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    signins_give_up(d->table, &r->hashes[0]);
    rpc_answer(c, RPC_OK, NULL, -1);
}

static void call_show(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    const struct signin *one = signins_find(d->table, &r->hashes[0], now_ms(d));
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, RPC_MAX_PAYLOAD);
    if (!one) {
        signin_desk_check(d, &r->hashes[0], &err);
        rpc_answer_error(c, &err);
        return;
    }
    wire_put_str(&b, one->login);
    wire_put_str(&b, one->avatar);
    wire_put_u64(&b, (uint64_t)one->expires_ms);
    if (buf_failed(&b)) {
        err_nomem(&err);
        rpc_answer_error(c, &err);
    } else {
        rpc_answer(c, RPC_SIGNIN, &b, -1);
    }
}

static void call_end(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    const struct signin *one = signins_find(d->table, &r->hashes[0], now_ms(d));

    if (one) {
        audit(&r->hashes[0], "signed out, was", one->login);
        signins_end(d->table, &r->hashes[0]);
        d->changed = true;
        save(d, true);
    }
    rpc_answer(c, RPC_OK, NULL, -1);
}

static const struct {
    enum rpc_type type;
    void (*run)(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r);
} calls[] = {
    { RPC_SIGNIN_BEGIN, call_begin },     { RPC_SIGNIN_TAKE, call_take }, { RPC_SIGNIN_MAKE, call_make },
    { RPC_SIGNIN_GIVE_UP, call_give_up }, { RPC_SIGNIN_SHOW, call_show }, { RPC_SIGNIN_END, call_end },
};

bool signin_desk_call(struct signin_desk *d, struct rpc_conn *c, const struct rpc_request *r)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(calls) && calls[i].type != r->type; i++)
        ;
    if (i == ARRAY_LEN(calls))
        return false;
    calls[i].run(d, c, r);
    return true;
}
