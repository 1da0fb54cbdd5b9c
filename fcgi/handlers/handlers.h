/* fcgi/handlers/handlers.h -- the functions behind the rows of the route table, and what several of them share. */
#ifndef FCGI_HANDLERS_H
#define FCGI_HANDLERS_H

#include "fcgi/access.h"
#include "fcgi/body.h"
#include "fcgi/supervisor.h"
#include "fcgi/route.h"
#include "fcgi/worker.h"
#include "shared/generate/compile.h"
#include "shared/ipc/hold.h"

/* public */
void handle_health(struct worker *w, struct request *rq, struct reply *rp);
void handle_openapi(struct worker *w, struct request *rq, struct reply *rp);
void handle_root(struct worker *w, struct request *rq, struct reply *rp);
void handle_limits(struct worker *w, struct request *rq, struct reply *rp);
void handle_validate(struct worker *w, struct request *rq, struct reply *rp);
void handle_session_create(struct worker *w, struct request *rq, struct reply *rp);
void handle_session_show(struct worker *w, struct request *rq, struct reply *rp);
void handle_session_end(struct worker *w, struct request *rq, struct reply *rp);
void handle_files(struct worker *w, struct request *rq, struct reply *rp);
void handle_file(struct worker *w, struct request *rq, struct reply *rp);
void handle_transcript(struct worker *w, struct request *rq, struct reply *rp);
void handle_archive(struct worker *w, struct request *rq, struct reply *rp);
void handle_generate(struct worker *w, struct request *rq, struct reply *rp);
void handle_validate_diagram(struct worker *w, struct request *rq, struct reply *rp);
void handle_import(struct worker *w, struct request *rq, struct reply *rp);
void handle_import_project(struct worker *w, struct request *rq, struct reply *rp);
void handle_github_login(struct worker *w, struct request *rq, struct reply *rp);
void handle_github_callback(struct worker *w, struct request *rq, struct reply *rp);
void handle_github_status(struct worker *w, struct request *rq, struct reply *rp);
void handle_github_logout(struct worker *w, struct request *rq, struct reply *rp);
void handle_export_buml(struct worker *w, struct request *rq, struct reply *rp);
void handle_export_project(struct worker *w, struct request *rq, struct reply *rp);

/* internal */
void handle_internal_create(struct worker *w, struct request *rq, struct reply *rp);
void handle_internal_files(struct worker *w, struct request *rq, struct reply *rp);
void handle_internal_end(struct worker *w, struct request *rq, struct reply *rp);
void handle_internal_health(struct worker *w, struct request *rq, struct reply *rp);
void handle_healthz(struct worker *w, struct request *rq, struct reply *rp);
void handle_readyz(struct worker *w, struct request *rq, struct reply *rp);
void handle_metrics(struct worker *w, struct request *rq, struct reply *rp);

/* fcgi/handlers/simulation.c: what validate and sessions have in common. */

struct simulation { /* owns all; simulation_release() wipes and frees */
    cJSON *body;
    bool nul; /* a text holds U+0000 */
    char actor[RPC_ACTOR_MAX + 1];
    struct credentials credentials; /* borrowed from body */
};

/* Body, schema, sign-in, rate: 0, or -1 and rp holds the answer. */
int simulation_open(struct worker *w, const struct request *rq, struct reply *rp, struct simulation *ret);
void simulation_release(struct simulation *s);

/* ERR_FORBIDDEN for custom code where that is refused. */
int simulation_allowed(const struct worker *w, const struct simulation *s, struct err *err);

/* The program for a session: 0 and *ret, whose findings may refuse it; -1 and err (ERR_BAD_REQUEST: the diagram's
 * fault). */
int simulation_compile(struct worker *w, const struct simulation *s, bool verdict, struct compiled *ret,
                       struct err *err);

/* Routes with an id: sign-in, then the id. 0, or -1 and rp holds the answer. */
int session_identify(struct worker *w, const struct request *rq, struct reply *rp, struct id *ret_id,
                     char ret_actor[RPC_ACTOR_MAX + 1]);
/* Not the caller's and unknown look the same: 404. */
void session_error(struct reply *rp, const struct err *err);

/* 400 whose detail has the messages of all errors. */
void findings_refuse(struct reply *rp, const struct findings *f);
/* ["message", ...] of one class. */
void findings_json(const struct findings *f, enum finding_class which, struct buf *out);
void str_list_json(const struct str_list *l, struct buf *out);

/* fcgi/handlers/start.c */

struct env_pair; /* holder.h */

struct start {
    struct id id;
    const char *actor;
    bool internal;
    const struct generate_options *options; /* what b was made with */
    const struct env_pair *env;
    size_t env_len;
    unsigned wait_s;          /* for a place; 0: not at all */
    struct request *rq;       /* of the client that waits; gets the claim to the session */
    struct place_queue *full; /* where it stood in vain; NULL: nobody wants to know */
};

/* A running session of bundle b, whose config.yaml is written anew when the session gets another port. After -1 the
 * request may have been handed over to a process that waits: then nothing is to be answered. */
int start_session(struct worker *w, const struct start *s, struct bundle *b, uint32_t *ret_port, struct err *err);

/* config.yaml holds the credentials; overwritten before it is freed. */
void bundle_wipe_config(struct bundle *b);

/* Port that a session is compiled for, before its slot is known. */
uint16_t start_port(const struct config *c);

/* fcgi/handlers/files.c */

struct holder_link; /* holder.h */

/* Asks the session's holder: 0 and a link that is to be released, or -1 and rp holds the answer. */
int session_ask(struct worker *w, const struct id *id, const char *actor, enum hold_type type,
                const struct buf *payload, struct holder_link *ret, struct reply *rp);

/* The listing, once access is settled. */
void files_list(struct worker *w, const struct id *id, const char *actor, struct reply *rp);

#endif
