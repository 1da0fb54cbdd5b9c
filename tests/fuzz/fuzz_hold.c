/* What peers of a holder may say: any messages of any role, on several connections of a live holder.
 * Its interpreter does not exist, so that nothing is ever started; files requests, which fork, are left out. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/holder/holder.h"
#include "supervisor/launcher/remove_tree.h"
#include "tests/support/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CONNECTIONS 4

static const uint16_t types[] = { HOLD_CONTROL, HOLD_END,    HOLD_BUNDLE, HOLD_FILE,       HOLD_DIR,    HOLD_ENV,
                                  HOLD_START,   HOLD_ATTACH, HOLD_SEND,   HOLD_STARTED,    HOLD_FRAME,  HOLD_WARM_UP,
                                  HOLD_CLAIM,   HOLD_PING,   999,         HOLD_TRANSCRIPT, HOLD_VERSION };

static void must(bool fact)
{
    if (!fact)
        abort();
}

struct world {
    struct holder holder;
    char dir[40];
    int life; /* our end of the launcher's pipe */
    int peers[CONNECTIONS];
};

static void set_up(struct world *w)
{
    struct holder *h = &w->holder;
    char path[64];
    int pipe_fds[2];
    size_t i;

    *w = (struct world){ .holder = { .work_fd = -1, .listen_fd = -1, .memory_events = -1 } };
    memcpy(w->dir, "/tmp/agentsim-fuzz-XXXXXX", 26);
    must(mkdtemp(w->dir) != NULL && config_load_env(&h->config, NULL) == 0);
    must(put_setting(&h->config, "AGENT_SIMULATOR_PYTHON", "/nonexistent/bin/python", NULL) == 0);
    snprintf(path, sizeof(path), "%s/work", w->dir);
    must(mkdir(path, 0700) == 0);
    h->work = mem_strdup(path);
    h->work_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof(path), "%s/s", w->dir);
    h->listen_fd = io_unix_listen(path, 0600, (gid_t)-1, 8, NULL);
    must(h->work_fd >= 0 && h->listen_fd >= 0 && io_set_nonblock(h->listen_fd, true) == 0 && pipe(pipe_fds) == 0);
    h->life_fd = pipe_fds[0];
    w->life = pipe_fds[1];
    h->service_uid = getuid();
    h->loop = ev_default_loop(EVBACKEND_EPOLL);
    session_init(h);
    conn_accept(h);
    for (i = 0; i < CONNECTIONS; i++)
        must((w->peers[i] = io_unix_connect(path, true, NULL)) >= 0);
}

static void stop_watchers(struct holder *h)
{
    ev_timer *const timers[] = { &h->lifetime, &h->ready, &h->detach, &h->linger, &h->tick, &h->farewell };
    size_t i;

    for (i = 0; i < ARRAY_LEN(timers); i++)
        ev_timer_stop(h->loop, timers[i]);
    ev_io_stop(h->loop, &h->listener);
    ev_io_stop(h->loop, &h->life);
    ev_prepare_stop(h->loop, &h->burial);
}

static void tear_down(struct world *w)
{
    struct holder *h = &w->holder;
    int top;
    size_t i;

    conn_close_all(h);
    stop_watchers(h);
    agent_release(h);
    agent_ws_release(&h->ws);
    journal_release(&h->journal);
    transcript_release(&h->transcript);
    lines_release(&h->lines);
    buf_release(&h->tail);
    strv_release(&h->bundle.extra);
    strv_release(&h->entered);
    facts_release(&h->facts);
    config_release(&h->config);
    mem_free(h->work);
    close(h->work_fd);
    close(h->listen_fd);
    close(h->life_fd);
    close(w->life);
    for (i = 0; i < CONNECTIONS; i++)
        close(w->peers[i]);
    top = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(top >= 0 && remove_tree(top) == 0);
    close(top);
    rmdir(w->dir);
}

/* One message: which connection, which type, how long, then its payload. */
static const uint8_t *say(struct world *w, const uint8_t *data, const uint8_t *end)
{
    uint8_t header[FRAME_HEADER] = { 0 }, drop[4096];
    uint32_t len = data[2];
    int peer = w->peers[data[0] % CONNECTIONS];
    uint16_t type = types[data[1] % ARRAY_LEN(types)];

    data += 3;
    if (len > (size_t)(end - data))
        len = (uint32_t)(end - data);
    memcpy(header, &len, sizeof(len));
    memcpy(header + 4, &type, sizeof(type));
    if (send(peer, header, sizeof(header), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(header))
        (void)!send(peer, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    ev_run(w->holder.loop, EVRUN_NOWAIT);
    while (recv(peer, drop, sizeof(drop), MSG_DONTWAIT) > 0)
        ;
    return data + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    struct world w;

    log_setup("fuzz", false, LOG__MAX);
    set_up(&w);
    ev_run(w.holder.loop, EVRUN_NOWAIT);
    while (end - data >= 3) {
        data = say(&w, data, end);
        must(w.holder.phase != HOLD_READY && !w.holder.agent.forked);
        must(!w.holder.done || w.holder.phase == HOLD_ENDED);
    }
    tear_down(&w);
    return 0;
}
