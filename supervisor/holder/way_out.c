#include "supervisor/holder/way_out.h"

#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "supervisor/egress/proxy.h"

/* Log lines: so many at once, then one a second. An agent must not fill the service's log. */
#define LINES_AT_ONCE 30.0
#define LINES_PER_MS 0.001

static bool may_speak(struct way_out *w)
{
    int64_t now = time_mono_ms();

    w->words += (double)(now - w->spoken_at) * LINES_PER_MS;
    w->words = w->words > LINES_AT_ONCE ? LINES_AT_ONCE : w->words;
    w->spoken_at = now;
    if (w->words < 1) {
        w->unsaid++;
        return false;
    }
    w->words -= 1;
    return true;
}

static void say_unsaid(struct way_out *w)
{
    if (w->unsaid)
        log_info("egress: %u more connections", w->unsaid);
    w->unsaid = 0;
}

static void on_record(void *arg, const struct egress_record *r)
{
    static const char *const words[] = {
        [EGRESS_CARRIED] = "carried",
        [EGRESS_REFUSED] = "refused",
        [EGRESS_FAILED] = "failed",
    };
    struct way_out *w = arg;

    w->up += r->up;
    w->down += r->down;
    w->carried += r->outcome == EGRESS_CARRIED;
    w->refused += r->outcome == EGRESS_REFUSED;
    w->failed += r->outcome == EGRESS_FAILED;
    if (!may_speak(w))
        return;
    say_unsaid(w);
    log_info("egress: %s %s (%s), %llu bytes up, %llu down%s%s", words[r->outcome], *r->target ? r->target : "?",
             *r->peer ? r->peer : "not dialled", (unsigned long long)r->up, (unsigned long long)r->down,
             *r->why ? ": " : "", r->why);
}

static int make_policy(struct egress_policy *ret, const struct config *config, struct err *err)
{
    *ret = (struct egress_policy){ .listed_only = config->egress == EGRESS_ALLOW };
    return ret->listed_only ? allow_list_parse(config->egress_allow, &ret->list, err) : 0;
}

int way_out_check(const struct config *config, struct err *err)
{
    struct egress_policy policy;

    if (make_policy(&policy, config, err) < 0)
        return -1;
    allow_list_release(&policy.list);
    return 0;
}

/* Of one session, whatever its agent does. */
static struct egress_limits limits_of(const struct config *c)
{
    return (struct egress_limits){
        .connections = (unsigned)c->egress_connections,
        .per_second = (double)c->egress_per_second,
        .bytes = (uint64_t)c->egress_mb << 20,
        .head_s = (double)c->egress_head_s,
        .resolve_s = (double)c->egress_resolve_s,
        .connect_s = (double)c->egress_connect_s,
        .linger_s = (double)c->egress_half_closed_s,
    };
}

int way_out_open(struct way_out *w, struct ev_loop *loop, int listen_fd, const struct config *config, struct err *err)
{
    struct egress_setup setup = {
        .limits = limits_of(config),
        .lookup = egress_lookup_system,
        .record = on_record,
        .arg = w,
    };

    way_out_close(w);
    *w = (struct way_out){ .words = LINES_AT_ONCE, .spoken_at = time_mono_ms() };
    if (make_policy(&setup.policy, config, err) < 0) {
        close(listen_fd);
        return -1;
    }
    return egress_new(loop, listen_fd, &setup, &w->proxy, err);
}

void way_out_close(struct way_out *w)
{
    if (!w->proxy)
        return;
    egress_free(steal_ptr(w->proxy));
    say_unsaid(w);
    if (w->carried || w->refused || w->failed)
        log_info("egress: %u connections carried, %u refused, %u failed, %llu bytes up, %llu down", w->carried,
                 w->refused, w->failed, (unsigned long long)w->up, (unsigned long long)w->down);
}
