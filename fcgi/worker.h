/* fcgi/worker.h -- one FastCGI worker: takes a request, answers it, takes the next. No threads, no state that outlives
 * a request but the parser's process and what is read at the start; killed at any moment it costs its request only. */
#ifndef FCGI_WORKER_H
#define FCGI_WORKER_H

#include "fcgi/reply.h"
#include "fcgi/request.h"
#include "fcgi/waiting.h"
#include "shared/config/config.h"

struct python_parser;

struct worker { /* owns the texts and the parser; the configuration is borrowed */
    const struct config *config;
    char *supervisor_socket;
    struct python_parser *parser;
    struct waiting waiting;
};

int worker_init(struct worker *w, const struct config *c, struct err *err);
void worker_release(struct worker *w);

/* Answers one request: token, preflight, route, size, handler. rp is filled or streamed, not yet sent. */
void worker_answer(struct worker *w, struct request *rq, struct reply *rp);

/* The whole program: config file (NULL: the usual one), socket on standard input or inherited, until SIGTERM or SIGINT.
 * Its exit status. */
int worker_run(const char *config_file);

#endif
