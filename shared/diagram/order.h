/* shared/diagram/order.h -- the place of every transition among all of a model: what conditions are called after (4.5).
 * A model keeps transitions by state; where labels of conditions (condition_<n>_<i>) say places, those are kept as far
 * as the order within each state allows. */
#ifndef DIAGRAM_ORDER_H
#define DIAGRAM_ORDER_H

#include <stddef.h>

struct model;

struct arc_place {
    size_t state, nth;
};

/* ret has room for the transitions of all states. 0, or -1 out of memory. */
int diagram_order(const struct model *m, struct arc_place *ret);

#endif
