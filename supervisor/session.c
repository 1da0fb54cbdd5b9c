#include "supervisor/session.h"

#include <assert.h>
#include <stdio.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"

#define TO(state) (1u << SESSION_##state)

static const unsigned allowed[SESSION__MAX] = {
    /* from: set of legal next states */
    [SESSION_NEW] = TO(STARTING) | TO(STOPPING) | TO(GONE),
    [SESSION_STARTING] = TO(READY) | TO(ATTACHED) | TO(DETACHED) | TO(STOPPING) | TO(GONE),
    [SESSION_READY] = TO(ATTACHED) | TO(STOPPING) | TO(GONE),
    [SESSION_ATTACHED] = TO(DETACHED) | TO(STOPPING) | TO(GONE),
    [SESSION_DETACHED] = TO(ATTACHED) | TO(STOPPING) | TO(GONE),
    [SESSION_STOPPING] = TO(GONE),
};

const char *session_state_name(enum session_state state)
{
    static const char *const names[SESSION__MAX] = {
#define X(name) [SESSION_##name] = #name,
        SESSION_STATES(X)
#undef X
    };

    return (unsigned)state < SESSION__MAX ? names[state] : "";
}

struct session *session_new(const struct id *id, const char *actor, uint32_t slot,
                            const struct session_actions *actions, void *keeper)
{
    struct session *s = mem_zalloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->id = *id;
    id_format(id, s->name);
    snprintf(s->actor, sizeof(s->actor), "%s", actor);
    s->slot = slot;
    s->asked_us = time_mono_us();
    s->actions = actions;
    s->keeper = keeper;
    list_init(&s->creators);
    list_init(&s->enders);
    list_init(&s->link);
    return s;
}

void session_free(struct session *s)
{
    mem_free(s);
}

bool session_may(const struct session *s, enum session_state to)
{
    return (allowed[s->state] >> to) & 1u;
}

void session_set_state(struct session *s, enum session_state to)
{
    if (s->state == to)
        return;
    assert(session_may(s, to));
    log_debug("session %s: %s -> %s", s->name, session_state_name(s->state), session_state_name(to));
    s->state = to;
    if (s->actions->enter[to])
        s->actions->enter[to](s);
}

bool session_counts(const struct session *s)
{
    return !session_is_leaving(s) && s->state != SESSION_DETACHED && s->reason == HOLD_REASON_NONE;
}

bool session_is_leaving(const struct session *s)
{
    return s->ending || s->state >= SESSION_STOPPING;
}

bool session_can_attach(const struct session *s)
{
    return !session_is_leaving(s) && !s->found && s->state > SESSION_NEW;
}

void session_describe(const struct session *s, struct rpc_session *ret)
{
    *ret = (struct rpc_session){
        .id = s->id,
        .actor = s->actor,
        .state = session_state_name(s->state),
        .started_wall_ms = (uint64_t)s->started_wall_ms,
        .expires_wall_ms = (uint64_t)s->expires_wall_ms,
        .attached = s->browser != NULL,
        .frames = s->frames,
        .exit_reason = hold_reason_name(s->reason),
        .exit_code = s->code,
        .slot = s->slot,
    };
}
