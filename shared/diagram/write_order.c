/* In which order transitions are written. Only that of each state means something to an agent, but conditions are
 * called after the place of their transition among all (4.5), and a function of that name decides. So a transition
 * whose conditions have such a name comes to its place again: states wait for the next of their transitions, those
 * first that have to have written the most before such a place. */
#include <stdio.h>

#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

#define NO_PLACE ((int64_t)1 << 40)

struct waiting {
    int64_t key; /* place at which the next transition has to be written, at the latest */
    size_t state;
};

struct heap {
    struct waiting *items;
    size_t len;
};

static bool before(const struct waiting *a, const struct waiting *b)
{
    return a->key < b->key || (a->key == b->key && a->state < b->state);
}

static void swap(struct heap *h, size_t a, size_t b)
{
    struct waiting kept = h->items[a];

    h->items[a] = h->items[b];
    h->items[b] = kept;
}

static void push(struct heap *h, struct waiting one)
{
    size_t i = h->len++;

    h->items[i] = one;
    for (; i && before(&h->items[i], &h->items[(i - 1) / 2]); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static size_t pop(struct heap *h)
{
    size_t state = h->items[0].state, i = 0, least;

    h->items[0] = h->items[--h->len];
    for (;; i = least) {
        least = i;
        if (2 * i + 1 < h->len && before(&h->items[2 * i + 1], &h->items[least]))
            least = 2 * i + 1;
        if (2 * i + 2 < h->len && before(&h->items[2 * i + 2], &h->items[least]))
            least = 2 * i + 2;
        if (least == i)
            return state;
        swap(h, i, least);
    }
}

/* n of condition_<n>_<i>, the name of any of its conditions; NO_PLACE: all are called otherwise. */
static int64_t place_of(const struct transition *t)
{
    size_t k;

    for (k = 0; k < t->conditions_len; k++) {
        const char *label = t->conditions[k].label;
        unsigned n, i;
        int end = 0;

        if (label && sscanf(label, "condition_%9u_%9u%n", &n, &i, &end) == 2 && !label[end] && i == k + 1)
            return n;
    }
    return NO_PLACE;
}

struct order {
    const struct model *m;
    struct heap placed, free; /* states by what their next transition is */
    size_t *next;             /* of each state */
    int64_t **latest;         /* of each transition of a state */
};

static void wait(struct order *o, size_t state)
{
    const struct state *s = &o->m->states[state];
    size_t next = o->next[state];
    int64_t place;

    if (next == s->transitions_len)
        return;
    place = place_of(&s->transitions[next]);
    if (place == NO_PLACE)
        push(&o->free, (struct waiting){ o->latest[state][next], state });
    else
        push(&o->placed, (struct waiting){ place, state });
}

static int find_latest(struct order *o)
{
    size_t i, k;

    for (i = 0; i < o->m->states_len; i++) {
        const struct state *s = &o->m->states[i];
        int64_t latest = NO_PLACE;

        o->latest[i] = mem_zalloc(s->transitions_len + 1, sizeof(**o->latest));
        if (!o->latest[i])
            return -1;
        for (k = s->transitions_len; k-- > 0;) {
            int64_t place = place_of(&s->transitions[k]);

            latest = place < latest - 1 ? place : latest - 1;
            o->latest[i][k] = latest;
        }
    }
    return 0;
}

static void put_in_order(struct order *o, struct arc_place *ret)
{
    size_t i, n = 0;

    for (i = 0; i < o->m->states_len; i++)
        wait(o, i);
    while (o->placed.len || o->free.len) {
        bool due = o->placed.len && (!o->free.len || o->placed.items[0].key <= (int64_t)n + 1);
        size_t state = pop(due ? &o->placed : &o->free);

        ret[n++] = (struct arc_place){ state, o->next[state]++ };
        wait(o, state);
    }
}

int diagram_order(const struct model *m, struct arc_place *ret)
{
    struct order o = { .m = m };
    size_t i;
    int rc = -1;

    o.placed.items = mem_zalloc(m->states_len + 1, sizeof(*o.placed.items));
    o.free.items = mem_zalloc(m->states_len + 1, sizeof(*o.free.items));
    o.next = mem_zalloc(m->states_len + 1, sizeof(*o.next));
    o.latest = mem_zalloc(m->states_len + 1, sizeof(*o.latest));
    if (o.placed.items && o.free.items && o.next && o.latest && find_latest(&o) == 0) {
        put_in_order(&o, ret);
        rc = 0;
    }
    for (i = 0; o.latest && i < m->states_len; i++)
        mem_free(o.latest[i]);
    mem_free(o.latest);
    mem_free(o.next);
    mem_free(o.free.items);
    mem_free(o.placed.items);
    return rc;
}
