/* Where states lie: columns by distance from the first state, in each the order that lets arcs cross least (each state
 * near the middle of those it is reached from). A column that would grow too high goes on in another beside it. */
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/writer.h"

#define COLUMN_STEP 320
#define ROW_STEP 180
#define ROWS_MAX 12
#define FIRST_X (-280)
#define FIRST_Y (-300)
#define START_GAP 200 /* from the initial node to the first state */

struct place {
    size_t state, layer;
    double wish; /* row it would like */
};

/* Distance of every state from those before it in the list; what cannot be reached begins a layer of its own. */
static void find_layers(const struct model *m, struct place *places, size_t *queue)
{
    size_t i, k, head = 0, tail = 0, next = 0, deepest = 0;

    for (i = 0; i < m->states_len; i++)
        places[i] = (struct place){ i, MODEL_NONE, 0 };
    while (tail < m->states_len) {
        while (places[next].layer != MODEL_NONE)
            next++;
        places[next].layer = tail ? deepest + 1 : 0;
        queue[tail++] = next;
        while (head < tail) {
            const struct state *s = &m->states[queue[head]];
            size_t layer = places[queue[head++]].layer;

            if (layer > deepest)
                deepest = layer;
            for (k = 0; k < s->transitions_len; k++)
                if (places[s->transitions[k].target].layer == MODEL_NONE) {
                    places[s->transitions[k].target].layer = layer + 1;
                    queue[tail++] = s->transitions[k].target;
                }
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const struct place *one = a, *two = b;

    if (one->layer != two->layer)
        return one->layer < two->layer ? -1 : 1;
    if (one->wish != two->wish)
        return one->wish < two->wish ? -1 : 1;
    return one->state < two->state ? -1 : one->state > two->state;
}

/* The mean row of all states that lead to each one; rows are by state. */
static void wish_rows(const struct model *m, struct place *places, const double *rows, double *sums, size_t *counts)
{
    size_t i, k;

    memset(sums, 0, m->states_len * sizeof(*sums));
    memset(counts, 0, m->states_len * sizeof(*counts));
    for (i = 0; i < m->states_len; i++)
        for (k = 0; k < m->states[i].transitions_len; k++) {
            size_t target = m->states[i].transitions[k].target;

            sums[target] += rows[i];
            counts[target]++;
        }
    for (i = 0; i < m->states_len; i++)
        places[i].wish = counts[places[i].state] ? sums[places[i].state] / (double)counts[places[i].state] : 0;
}

/* Sorted places -> rows by state, each layer around the middle. */
static void number_rows(const struct place *places, size_t len, double *rows)
{
    size_t i, first, end;

    for (first = 0; first < len; first = end) {
        for (end = first; end < len && places[end].layer == places[first].layer; end++)
            ;
        for (i = first; i < end; i++)
            rows[places[i].state] = (double)(i - first) - (double)(end - first - 1) / 2;
    }
}

static void set_boxes(const struct model *m, const struct place *places, struct box *boxes)
{
    size_t first, end, i, column = 0, columns, height;

    for (first = 0; first < m->states_len; first = end, column += columns) {
        for (end = first; end < m->states_len && places[end].layer == places[first].layer; end++)
            ;
        columns = (end - first + ROWS_MAX - 1) / ROWS_MAX;
        height = (end - first + columns - 1) / columns;
        for (i = first; i < end; i++) {
            const struct state *s = &m->states[places[i].state];
            size_t row = (i - first) % height, at = column + (i - first) / height;

            boxes[places[i].state] = (struct box){ FIRST_X + COLUMN_STEP * (double)at,
                                                   FIRST_Y + ROW_STEP * ((double)row + (ROWS_MAX - (double)height) / 2),
                                                   s->reasoning ? 200 : 160, s->reasoning ? 110 : 100 };
        }
    }
}

int diagram_place(const struct model *m, struct box *ret_states, struct box *ret_start)
{
    auto_free struct place *places = mem_zalloc(m->states_len + 1, sizeof(*places));
    auto_free size_t *numbers = mem_zalloc(m->states_len + 1, sizeof(*numbers));
    auto_free double *rows = mem_zalloc(m->states_len + 1, sizeof(*rows));
    auto_free double *sums = mem_zalloc(m->states_len + 1, sizeof(*sums));
    int sweep;

    if (!places || !numbers || !rows || !sums)
        return -1;
    if (!m->states_len)
        return 0;
    find_layers(m, places, numbers);
    for (sweep = 0; sweep < 4; sweep++) {
        qsort(places, m->states_len, sizeof(*places), by_place);
        number_rows(places, m->states_len, rows);
        wish_rows(m, places, rows, sums, numbers);
    }
    qsort(places, m->states_len, sizeof(*places), by_place);
    set_boxes(m, places, ret_states);
    *ret_start = (struct box){ ret_states[0].x - START_GAP, ret_states[0].y + 35 - 22.5, 45, 45 };
    return 0;
}
