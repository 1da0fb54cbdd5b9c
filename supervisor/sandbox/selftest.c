#include "supervisor/sandbox/selftest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "supervisor/sandbox/cure.h"
#include "supervisor/sandbox/facts.h"
#include "supervisor/sandbox/netns.h"
#include "supervisor/sandbox/plan.h"
#include "supervisor/sandbox/spawn.h"

#define OUTPUT_MAX 2048
#define STEP_MS 20

/* Says that it runs, tries its way out, then waits to be ended, so that its network can be joined. */
static const char program[] = "import os,time\n"
                              "os.write(1,b'inside\\n')\n"
                              "proxy=os.environ.get('HTTP_PROXY')\n"
                              "if proxy:\n"
                              "    import socket\n"
                              "    way=socket.create_connection(proxy.split('//')[1].rstrip('/').split(':'),20)\n"
                              "    way.sendall(b'out')\n"
                              "time.sleep(60)\n";

struct trial {
    struct spawned proc;
    struct buf output;
    bool ready;
    int way_out; /* listens inside, was handed over; -1: not yet */
    bool gone;
};

/* One look at all pipes; false once nothing more can come. */
static int look(struct trial *t, struct err *err)
{
    struct pollfd fds[] = { { .fd = t->proc.output, .events = POLLIN }, { .fd = t->proc.report, .events = POLLIN } };
    struct pid1_report r;
    char chunk[512];
    ssize_t n;
    int listener;

    (void)poll(fds, t->gone ? 0 : ARRAY_LEN(fds), STEP_MS);
    while ((n = read(t->proc.output, chunk, sizeof(chunk))) > 0)
        buf_add(&t->output, chunk, (size_t)n); /* what does not fit is not needed */
    while (spawn_next_report(&t->proc, &r, &listener) == 1) {
        if (listener >= 0) {
            cleanup_fd_close(&t->way_out);
            t->way_out = listener;
        }
        if (r.kind == PID1_DEAF)
            return err_set(err, ERR_UNAVAILABLE, r.value, "listen for the egress proxy inside the sandbox");
        if (r.kind == PID1_FAILED)
            return err_set(err, ERR_UNAVAILABLE, r.value, "start the interpreter inside the sandbox");
        if (r.kind == PID1_ENDED)
            return err_set(err, ERR_UNAVAILABLE, 0, "the interpreter ended inside the sandbox");
        t->ready = t->ready || r.kind == PID1_READY;
    }
    if (waitpid(t->proc.pid, NULL, WNOHANG) == t->proc.pid)
        t->gone = true;
    return 0;
}

static bool said(const struct trial *t, const char *word)
{
    return t->output.data && strstr(t->output.data, word);
}

static int wait_inside(struct trial *t, struct err *err)
{
    int64_t until = time_mono_ms() + (int64_t)SELFTEST_SECONDS * 1000;

    while (!t->ready || !said(t, "inside")) {
        if (look(t, err) < 0)
            return -1;
        if (t->gone && spawn_failed_step(&t->proc, err) < 0)
            return -1;
        if (t->gone)
            return err_set(err, ERR_UNAVAILABLE, 0, "the sandbox could not be built");
        if (time_mono_ms() > until)
            return err_set(err, ERR_UNAVAILABLE, 0, "the interpreter was not up after %d s", SELFTEST_SECONDS);
    }
    return 0;
}

/* What the proxy does first, with the same socket. */
static int try_way_out(struct trial *t, struct err *err)
{
    struct pollfd p = { .fd = t->way_out, .events = POLLIN };
    auto_fd int conn = -1;
    char word[4] = "";

    if (t->way_out < 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the egress proxy's socket did not come out of the sandbox");
    if (poll(&p, 1, SELFTEST_SECONDS * 1000) == 1)
        conn = accept4(t->way_out, NULL, NULL, SOCK_CLOEXEC);
    p.fd = conn;
    if (conn < 0 || poll(&p, 1, SELFTEST_SECONDS * 1000) != 1 || recv(conn, word, 3, MSG_WAITALL) != 3 ||
        strcmp(word, "out") != 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "the egress proxy is not reached from inside the sandbox");
    return 0;
}

static int join_network(struct trial *t, struct err *err)
{
    pid_t inner = spawn_inner_pid(&t->proc), maker;
    auto_fd int pidfd = inner < 0 ? -1 : spawn_open_pidfd(inner, t->proc.pid);
    int answer, sock;

    if (pidfd < 0)
        return err_set(err, ERR_UNAVAILABLE, inner < 0 ? 0 : errno, "find the sandbox's first process");
    if (netns_start(pidfd, &answer, &maker, err) < 0)
        return -1;
    sock = netns_take(answer, err);
    (void)waitpid(maker, NULL, 0);
    if (sock < 0)
        return -1;
    close(sock);
    return 0;
}

/* What the sandbox program itself said explains most. */
static void add_words(struct trial *t, struct err *err)
{
    const char *cure;
    char *end;

    if (t->output.len && t->output.data && !said(t, "inside")) {
        if ((end = strchr(t->output.data, '\n')))
            *end = '\0';
        err_set(err, err->kind, 0, "%.300s (%s)", t->output.data, err->msg[0] ? "sandbox program" : "");
    }
    if ((cure = cure_find(err->msg))) {
        struct err full = *err;

        err_set(err, full.kind, 0, "%.250s; %s", full.msg, cure);
    }
}

static void end_trial(struct trial *t)
{
    if (!t->gone) {
        kill(t->proc.pid, SIGKILL);
        (void)waitpid(t->proc.pid, NULL, 0);
    }
    while (waitpid(-1, NULL, 0) > 0) /* as sub-reaper: what bubblewrap left dies with it */
        ;
    spawn_close(&t->proc);
    cleanup_fd_close(&t->way_out);
}

int selftest_run(const struct config *config, const char *work, const struct strv *entered, struct err *err)
{
    static const char *const args[] = { "-I", "-S", "-c", program, NULL };
    struct sandbox_facts facts = { 0 };
    struct sandbox_plan plan = { 0 };
    struct trial t = { .gone = true, .way_out = -1 };
    int r = -1;

    buf_init(&t.output, OUTPUT_MAX);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (facts_probe(&facts, config, err) == 0 &&
        sandbox_plan_make(&plan, config, &facts,
                          &(struct sandbox_site){
                              .uid = getuid(), .work = work, .program = args, .service = environ, .entered = entered },
                          err) == 0 &&
        spawn_start(&t.proc, &plan, err) == 0) {
        t.gone = false;
        r = wait_inside(&t, err);
        if (r == 0 && plan.proxy_port)
            r = try_way_out(&t, err);
        if (r == 0 && plan.private_network)
            r = join_network(&t, err);
        end_trial(&t);
    }
    if (r < 0)
        add_words(&t, err);
    buf_release(&t.output);
    sandbox_plan_release(&plan);
    facts_release(&facts);
    return r;
}
