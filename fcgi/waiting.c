#include "fcgi/waiting.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fcgi/door.h"
#include "shared/base/mem.h"
#include "shared/ipc/rpc.h"

#define CHILD_SECONDS (RPC_QUEUE_SECONDS_MAX + 120) /* longer than the wait, the start and the answer may take */

void waiting_reap(struct waiting *w)
{
    size_t i;

    for (i = 0; i < WAITING_MAX; i++)
        if (w->children[i] && waitpid(w->children[i], NULL, WNOHANG) != 0)
            w->children[i] = 0;
}

static pid_t *free_place(struct waiting *w)
{
    size_t i;

    for (i = 0; i < WAITING_MAX; i++)
        if (!w->children[i])
            return &w->children[i];
    return NULL;
}

/* Out of the worker's group, whose end is not ours: the client waits for us. */
static void become_child(struct waiting *w)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };

    sigaction(SIGTERM, &usual, NULL);
    sigaction(SIGINT, &usual, NULL);
    setsid();
    alarm(CHILD_SECONDS);
    *w = (struct waiting){ .here = true };
}

int waiting_fork(struct waiting *w, struct request *rq)
{
    pid_t *place, pid;

    waiting_reap(w);
    place = w->here || !rq->port ? NULL : free_place(w);
    if (!place)
        return -1;
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        become_child(w);
        return 1;
    }
    *place = pid;
    rq->handed_over = true;
    return 0;
}

bool waiting_client_gone(const struct request *rq)
{
    struct pollfd p = { .fd = rq->port ? door_fd(rq->port) : -1, .events = POLLRDHUP };

    return poll(&p, 1, 0) > 0;
}
