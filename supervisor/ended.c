#include "supervisor/ended.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

struct ended_session {
    struct rpc_session is; /* its actor points to the text below */
    char actor[RPC_ACTOR_MAX + 1];
    int64_t ended_ms;
};

int ended_init(struct ended *e)
{
    *e = (struct ended){ .ring = mem_zalloc(ENDED_MAX, sizeof(*e->ring)) };
    return e->ring ? 0 : -1;
}

void ended_release(struct ended *e)
{
    mem_free(e->ring);
    *e = (struct ended){ 0 };
}

void ended_add(struct ended *e, const struct session *s, int64_t now_ms)
{
    struct ended_session *place = &e->ring[e->newest];

    session_describe(s, &place->is);
    memcpy(place->actor, s->actor, sizeof(place->actor));
    place->is.actor = place->actor;
    place->is.attached = false;
    place->ended_ms = now_ms;
    e->newest = (e->newest + 1) % ENDED_MAX;
    e->count += e->count < ENDED_MAX;
}

bool ended_find(const struct ended *e, const struct id *id, const char *actor, int64_t now_ms, struct rpc_session *ret)
{
    size_t i;

    for (i = 1; i <= e->count; i++) {
        const struct ended_session *s = &e->ring[(e->newest + ENDED_MAX - i) % ENDED_MAX];

        if (now_ms - s->ended_ms >= ENDED_SECONDS * 1000)
            return false; /* and so are all before it */
        if (id_equal(&s->is.id, id) && str_eq_consttime(s->actor, actor)) {
            *ret = s->is;
            return true;
        }
    }
    return false;
}
