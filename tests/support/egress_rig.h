/* tests/support/egress_rig.h -- a proxy over loopback whose servers and clients are the test, on one loop with it.
 * What may be reached is said by an allow list, as an operator would; names are answered by a table (egress_rig.c). */
#ifndef TESTS_SUPPORT_EGRESS_RIG_H
#define TESTS_SUPPORT_EGRESS_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/time.h"
#include "supervisor/egress/proxy.h"

struct egress_rig {
    struct ev_loop *loop;
    struct egress *proxy;
    uint16_t proxy_port, server_port;
    int server; /* listening */
    int records;
    enum egress_outcome outcome; /* of the newest record */
    char target[300], peer[64], why[128];
    uint64_t up, down;
};

/* The list of `allow` has the server's port on 127.0.0.1 and on the names of the table. NULL: roomy limits. 0 or -1. */
int egress_rig_open(struct egress_rig *rig, bool listed_only, const struct egress_limits *limits);
void egress_rig_close(struct egress_rig *rig);

/* One turn of the loop that does not wait long. */
void egress_rig_turn(struct egress_rig *rig);

/* Turns until the condition holds; fails the test after 20 s. */
#define UNTIL(rig, condition) \
    do { \
        int64_t until_ = time_mono_ms() + 20000; \
        while (!(condition)) { \
            if (time_mono_ms() > until_) \
                fail_msg("not in time: %s", #condition); \
            egress_rig_turn(rig); \
        } \
    } while (0)

/* A client: connected to a port of this machine, or to the proxy with these first words. Not blocking. */
int egress_rig_connect(uint16_t port);
int egress_rig_ask(struct egress_rig *rig, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void egress_rig_say(int fd, const char *text);

/* Reads what has come: true at the end of the stream; true when the text is part of it. */
bool egress_rig_hear(int fd, struct buf *b);
bool egress_rig_heard(int fd, struct buf *b, const char *text);

/* What reaches the server. */
int egress_rig_accept(struct egress_rig *rig);

/* All that comes to a client until the end, which closes it; or the test fails without status and words. */
struct buf egress_rig_answer(struct egress_rig *rig, int fd);
void egress_rig_expect(struct egress_rig *rig, int fd, const char *status, const char *words);

#endif
