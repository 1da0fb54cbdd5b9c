/* supervisor/egress/client.h -- one connection from an agent to the proxy: between proxy.c and client.c only. */
#ifndef EGRESS_CLIENT_H
#define EGRESS_CLIENT_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "shared/base/buf.h"
#include "supervisor/egress/proxy.h"
#include "supervisor/egress/pump.h"
#include "supervisor/egress/request.h"

struct client;

struct egress {
    struct ev_loop *loop;
    int listen_fd;
    struct egress_setup setup;
    struct resolver resolver;
    uint64_t budget; /* bytes left */
    ev_io listener;
    ev_timer pause; /* the listener rests: no descriptors, or too many new connections */
    double may_accept;
    ev_tstamp accepted_at; /* when may_accept was right */
    struct client *clients;
    unsigned n_clients;
};

/* HEAD -> (LOOKUP) -> DIAL -> RELAY, or from any of the first three ANSWER -> DRAIN. */
enum client_state {
    CLIENT_HEAD,   /* the request comes in */
    CLIENT_LOOKUP, /* its name is resolved */
    CLIENT_DIAL,   /* an address is tried */
    CLIENT_RELAY,  /* the pump works */
    CLIENT_ANSWER, /* our own answer goes out */
    CLIENT_DRAIN,  /* it has left; the client's rest is read away, or the kernel would take the answer back */
    CLIENT__MAX
};

struct client {
    struct client *prev, *next;
    struct egress *egress;
    enum client_state state;
    int fd, server;
    ev_io io;       /* of fd, or of server while dialling */
    ev_timer timer; /* of the state */
    struct buf in;  /* head and what came with it */
    size_t scanned;
    struct buf out; /* our answer */
    size_t sent;
    bool parsed;
    struct egress_request request;
    struct resolver_query *query;
    struct address found[EGRESS_ADDRESSES_MAX];
    size_t n_found, tried;
    struct pump pump;
    struct egress_answer answer;
    uint64_t first_up; /* of the body, with the head */

    enum egress_outcome outcome;
    char peer[ADDRESS_TEXT_MAX];
    char why[96];
};

/* Takes fd over. busy: it only gets told so. 0, or -1 when out of memory. */
int client_start(struct egress *e, int fd, bool busy);

/* Records it and frees it. */
void client_end(struct client *c);

/* proxy.c: a place is free. */
void egress_client_gone(struct egress *e);

#endif
