#include "supervisor/keeper/children.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"

#define WORKER_NICE 5 /* who compiles can wait a moment, a conversation shows it */

enum path { PATH_LAUNCHER, PATH_SUPERVISOR, PATH_WORKER, PATH_FORGET, PATH__MAX };

static char *program(const struct config *c, const char *name)
{
    auto_buf struct buf b;

    buf_init(&b, 4096);
    buf_add_fmt(&b, "%s/%s", c->program_dir, name);
    return buf_steal(&b, NULL);
}

static struct child *add(struct children *all, const char *name, const char *path, int stop_signal, int64_t stop_ms)
{
    struct child *child = &all->items[all->len++];

    (void)snprintf(child->name, sizeof(child->name), "%s", name);
    child->argv[0] = path;
    child->stop_signal = stop_signal;
    child->stop_ms = stop_ms;
    child->reload_signal = SIGHUP;
    return child;
}

static void with_config(struct child *child, const char *config_file)
{
    if (!config_file)
        return;
    child->argv[1] = "--config";
    child->argv[2] = config_file;
}

static void with_socket(struct child *child, const struct keeper_sockets *s, enum keeper_socket which)
{
    child->sockets[child->sockets_len].name = keeper_socket_name(which);
    child->sockets[child->sockets_len++].fd = s->fds[which];
}

static void add_worker(struct children *all, const char *config_file, const struct keeper_sockets *s, int64_t number)
{
    char name[32];
    struct child *worker;

    (void)snprintf(name, sizeof(name), "agentsim-fcgi %d", (int)number);
    worker = add(all, name, all->paths[PATH_WORKER], SIGTERM, 5000);
    with_config(worker, config_file);
    with_socket(worker, s, SOCKET_FCGI);
    worker->reload_signal = SIGTERM; /* after the request at hand */
    worker->nice = WORKER_NICE;
    worker->service_user = worker->socket_is_stdin = true;
}

int children_make(const struct config *c, const char *config_file, const struct keeper_sockets *s, struct children *ret,
                  struct err *err)
{
    static const char *const programs[PATH__MAX] = { "agentsim-launcher", "agentsim-supervisor", "agentsim-fcgi",
                                                     "agentsim-forget.so" };
    struct children all = { 0 };
    struct child *child;
    int64_t i;

    all.items = mem_zalloc((size_t)c->workers + 3, sizeof(*all.items));
    for (i = 0; i < PATH__MAX; i++)
        all.paths[i] = program(c, programs[i]);
    if (!all.items || !all.paths[PATH_LAUNCHER] || !all.paths[PATH_SUPERVISOR] || !all.paths[PATH_WORKER] ||
        !all.paths[PATH_FORGET]) {
        children_release(&all);
        return err_nomem(err);
    }
    /* nginx ends last: what the others still have to say reaches the browsers. */
    if (c->nginx[0]) {
        child = add(&all, "nginx", c->nginx, SIGTERM, 3000);
        child->argv[1] = "-c";
        child->argv[2] = c->nginx_conf;
        child->argv[3] = "-g";
        child->argv[4] = "daemon off;";
        child->preload = all.paths[PATH_FORGET];
    }
    /* The launcher ends last of ours and takes its time: it kills sessions and removes their directories. */
    with_config(add(&all, "agentsim-launcher", all.paths[PATH_LAUNCHER], SIGTERM, 15000), config_file);
    child = add(&all, "agentsim-supervisor", all.paths[PATH_SUPERVISOR], SIGTERM, 5000);
    with_config(child, config_file);
    with_socket(child, s, SOCKET_SUPERVISOR);
    with_socket(child, s, SOCKET_WEBSOCKET);
    child->service_user = true;
    for (i = 1; i <= c->workers; i++)
        add_worker(&all, config_file, s, i);
    *ret = all;
    return 0;
}

struct child *children_find(const struct children *all, const char *name)
{
    size_t i;

    for (i = 0; i < all->len; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    return NULL;
}

void children_release(struct children *all)
{
    size_t i;

    if (!all)
        return;
    mem_free(all->items);
    for (i = 0; i < ARRAY_LEN(all->paths); i++)
        mem_free(all->paths[i]);
    *all = (struct children){ 0 };
}
