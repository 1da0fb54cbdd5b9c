/* supervisor/holder/way_out.h -- the session's egress proxy, and what is said about it in the log. */
#ifndef HOLDER_WAY_OUT_H
#define HOLDER_WAY_OUT_H

#include <ev.h>
#include <stdint.h>

#include "shared/base/err.h"
#include "shared/config/config.h"

struct egress;

/* What the session did so far; logged at its end. Zeroed: no proxy. */
struct way_out {
    struct egress *proxy; /* NULL: none */
    uint64_t up, down;
    unsigned carried, refused, failed;
    unsigned unsaid;   /* connections that the log did not name */
    double words;      /* lines that may be written now */
    int64_t spoken_at; /* when words was right */
};

/* What would fail in every session: the list of `allow`. Pure. 0, or -1 and err. */
int way_out_check(const struct config *config, struct err *err);

/* Takes listen_fd over: 0, or -1 and err. */
int way_out_open(struct way_out *w, struct ev_loop *loop, int listen_fd, const struct config *config, struct err *err);

/* Ends all connections and says what they came to; nothing when there is no proxy. */
void way_out_close(struct way_out *w);

#endif
