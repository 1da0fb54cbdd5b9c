/* Listings, downloads and the self-test: each answered by a child of its own, so that the loop never waits. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shared/base/child.h"
#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "supervisor/holder/holder.h"
#include "supervisor/holder/tree.h"
#include "supervisor/sandbox/selftest.h"

#define HELPERS_MAX 8
#define HELPER_S 300 /* a peer that reads slowly is given up */
#define SEND_MS 30000

struct request {
    uint16_t type;
    uint64_t per_file;
    char path[HOLD_PATH_MAX + 1];
};

struct helper {
    struct holder *holder;
    ev_child end;
};

/* ---- in the child --------------------------------------------------------------------------------- */

static int answer_files(const struct holder *h, int sock, const struct request *r, struct err *err)
{
    const struct tree tree = { .root = h->work_fd, .sock = sock, .owner = getuid() };

    switch (r->type) {
    case HOLD_LIST:
        return tree_list(&tree, r->per_file, err);
    case HOLD_WALK:
        return tree_walk(&tree, err);
    default:
        return tree_read(&tree, r->path, err);
    }
}

static int answer_probe(const struct holder *h, int sock, struct err *err)
{
    auto_buf struct buf b;
    struct err why = { 0 };
    int failed = way_out_check(&h->config, &why);

    buf_init(&b, 4096);
    if (failed == 0)
        failed = selftest_run(&h->config, h->work, &h->entered, &why);
    wire_put_u8(&b, failed == 0);
    wire_put_str(&b, failed == 0 ? "" : why.msg);
    return frame_send(sock, HOLD_PROBED, &b, -1, err);
}

static void run_helper(const struct holder *h, int sock, const struct request *r) __attribute__((noreturn));
static void run_helper(const struct holder *h, int sock, const struct request *r)
{
    struct err err = { 0 };
    int result;

    child_reset_signals(NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    alarm(HELPER_S);
    if (io_set_nonblock(sock, false) < 0 || io_set_timeouts(sock, SEND_MS, SEND_MS) < 0)
        _exit(1);
    result = r->type == HOLD_PROBE ? answer_probe(h, sock, &err) : answer_files(h, sock, r, &err);
    if (result < 0)
        log_debug("files: %s", err.msg);
    _exit(result < 0 ? 1 : 0);
}

/* ---- in the holder -------------------------------------------------------------------------------- */

static void on_helper(struct ev_loop *loop, ev_child *w, int events)
{
    struct helper *p = w->data;

    (void)events;
    ev_child_stop(loop, w);
    p->holder->helpers--;
    mem_free(p);
}

static int start_helper(struct conn *c, const struct request *r, struct err *err)
{
    struct holder *h = c->holder;
    struct helper *p;
    pid_t pid;

    if (h->helpers >= HELPERS_MAX)
        return err_set(err, ERR_LIMIT, 0, "too many requests for the files of this session");
    p = mem_zalloc(1, sizeof(*p));
    if (!p)
        return err_nomem(err);
    pid = fork();
    if (pid == 0)
        run_helper(h, c->fd, r);
    if (pid < 0) {
        mem_free(p);
        return err_set(err, ERR_INTERNAL, 0, "no process for the files of this session");
    }
    p->holder = h;
    ev_child_init(&p->end, on_helper, pid, 0);
    p->end.data = p;
    ev_child_start(h->loop, &p->end);
    h->helpers++;
    conn_close(c); /* the child has its own descriptor of it */
    return 0;
}

static int parse(uint16_t type, struct wire_in *in, struct request *r)
{
    *r = (struct request){ .type = type };
    if (type == HOLD_LIST)
        r->per_file = wire_get_u64(in);
    else if (type == HOLD_READ)
        (void)snprintf(r->path, sizeof(r->path), "%s", wire_get_str(in, HOLD_PATH_MAX));
    return wire_end(in);
}

static int on_files(struct conn *c, uint16_t type, struct wire_in *in)
{
    struct request r;
    struct err err = { 0 };

    if ((type != HOLD_LIST && type != HOLD_READ && type != HOLD_WALK) || parse(type, in, &r) < 0)
        return -1;
    if (start_helper(c, &r, &err) < 0)
        conn_fail(c, &err);
    return 0;
}

static int on_probe(struct conn *c, uint16_t type, struct wire_in *in)
{
    struct request r;
    struct err err = { 0 };

    if (type != HOLD_PROBE || parse(type, in, &r) < 0 || c->holder->phase != HOLD_WAITING)
        return -1;
    if (start_helper(c, &r, &err) < 0)
        conn_fail(c, &err);
    return 0;
}

const struct conn_role files_role = { "files", on_files, NULL, NULL, NULL };
const struct conn_role probe_role = { "probe", on_probe, NULL, NULL, NULL };
