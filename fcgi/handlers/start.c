#include <string.h>

#include "fcgi/door.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "fcgi/supervisor.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"

#define CONFIG_FILE "config.yaml"

uint16_t start_port(const struct config *c)
{
    return hold_agent_port(c->egress == EGRESS_HOST || c->sandbox == SANDBOX_OFF, c->port_pool_start, 0);
}

static struct bundle_file *config_of(struct bundle *b)
{
    size_t i;

    for (i = 0; i < b->files_len; i++)
        if (strcmp(b->files[i].path, CONFIG_FILE) == 0)
            return &b->files[i];
    return NULL;
}

void bundle_wipe_config(struct bundle *b)
{
    struct bundle_file *f = config_of(b);

    if (f)
        mem_wipe(f->content, f->size);
}

/* The port is in config.yaml and nowhere else in a program. */
static int change_port(struct bundle *b, const struct generate_options *o, uint16_t port, struct err *err)
{
    struct generate_options changed = *o;
    struct bundle_file *f = config_of(b);
    char *text;

    if (!f)
        return err_set(err, ERR_INTERNAL, 0, "the program has no " CONFIG_FILE);
    changed.port = port;
    if (config_yaml_override(f->content, f->size, &changed, &text, err) < 0)
        return -1;
    mem_wipe(f->content, f->size);
    mem_free(f->content);
    f->content = text;
    f->size = strlen(text);
    return 0;
}

/* The slot is taken from here on: whatever fails gives it back. */
static int give_up(struct worker *w, const struct start *s, struct err *err)
{
    struct err ignored;

    log_warn("start: %s", err->msg);
    if (supervisor_end(w->supervisor_socket, &s->id, s->actor, &ignored) < 0 && ignored.kind != ERR_NOT_FOUND)
        log_warn("start: end the session that did not start: %s", ignored.msg);
    return -1;
}

/* A place, now or, if the client is willing, later: then this goes on in a process that waits. */
static int find_place(struct worker *w, const struct start *s, struct place *ret, struct err *err)
{
    uint32_t flags = (s->internal ? RPC_CREATE_INTERNAL : 0) | (s->full ? RPC_CREATE_MAY_WAIT : 0);
    int r = supervisor_create(w->supervisor_socket, &s->id, s->actor, flags, ret, s->full, err);

    if (r == 0 || !s->full || !s->full->position || !s->wait_s)
        return r;
    if (waiting_fork(&w->waiting, s->rq) <= 0)
        return -1;
    return supervisor_queue(w->supervisor_socket, &s->id, s->actor, s->wait_s, door_fd(s->rq->port), ret, s->full, err);
}

int start_session(struct worker *w, const struct start *s, struct bundle *b, uint32_t *ret_port, struct err *err)
{
    char name[ID_TEXT_LEN + 1];
    struct place place;
    bool told;

    id_format(&s->id, name);
    if (find_place(w, s, &place, err) < 0)
        return -1;
    s->rq->claim = place.claim;
    if (place.port != s->options->port && change_port(b, s->options, (uint16_t)place.port, err) < 0) {
        cleanup_fd_close(&place.holder);
        return give_up(w, s, err);
    }
    if (holder_start(place.holder, b, s->env, s->env_len, ret_port, &told, err) < 0) {
        if (told) {
            log_warn("start: session %s: %s", name, err->msg);
            return -1;
        }
        return give_up(w, s, err);
    }
    if (waiting_client_gone(s->rq)) {
        err_set(err, ERR_UNAVAILABLE, 0, "The client has left");
        return give_up(w, s, err);
    }
    log_info("session %s started, port %u", name, *ret_port);
    return 0;
}
