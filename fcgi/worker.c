#include "fcgi/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fcgi/door.h"
#include "fcgi/supervisor.h"
#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/listen.h"
#include "shared/json/json.h"
#include "shared/python/parser.h"
#include "shared/seal/seal.h"

#define REQUEST_SECONDS \
    400u /* longer than every deadline below it: a worker that is stuck ends, and is started again */
#define TRIM_BYTES (1u << 20)
#define REST_NS 200000000L   /* when descriptors or memory ran out */
#define KEPT_BYTES (8 << 20) /* of free memory from one request to the next */
#define REQUEST_BYTES \
    (24u << 20) /* of small pieces at a time; what a request needs beyond comes from the C library \
                 */
#define BACKLOG 511
#define PATH_BYTES 4096

static volatile sig_atomic_t stopping, listening = -1, nothing = -1;

/* The socket is swapped for one that accepts nothing, so a signal that comes right before accept() is not lost. */
static void on_stop(int number)
{
    int saved = errno;

    (void)number;
    stopping = 1;
    dup2(nothing, listening);
    errno = saved;
}

static int catch_signals(int listen_fd, struct err *err)
{
    /* Restarted, so that the request at hand is finished; accept() then finds the socket swapped. */
    struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART }, ignore = { .sa_handler = SIG_IGN };

    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    listening = listen_fd;
    if (nothing < 0 || sigaction(SIGTERM, &stop, NULL) < 0 || sigaction(SIGINT, &stop, NULL) < 0 ||
        sigaction(SIGPIPE, &ignore, NULL) < 0)
        return err_set(err, ERR_INTERNAL, errno, "set up signals");
    return 0;
}

/* Request bodies hold credentials: no core file, no reading of this memory by others of our user. */
static void guard_memory(void)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

static char *join(const char *dir, const char *name)
{
    auto_buf struct buf b;

    buf_init(&b, PATH_BYTES);
    buf_add_fmt(&b, "%s/%s", dir, name);
    return buf_steal(&b, NULL);
}

int worker_init(struct worker *w, const struct config *c, struct err *err)
{
    auto_free char *parser = join(c->program_dir, "agentsim-pyparse");

    *w = (struct worker){ .config = c, .supervisor_socket = join(c->runtime_dir, "supervisor.sock") };
    if (!parser || !w->supervisor_socket) {
        worker_release(w);
        return err_nomem(err);
    }
    if (python_parser_new(parser, &w->parser, err) < 0) {
        worker_release(w);
        return -1;
    }
    return 0;
}

void worker_release(struct worker *w)
{
    if (!w)
        return;
    mem_free(w->supervisor_socket);
    python_parser_free(w->parser);
    *w = (struct worker){ 0 };
}

static void log_answer(const struct request *rq, const struct reply *rp, int64_t began)
{
    enum log_level level = rp->status >= 500 || rp->broken ? LOG_WARN : rp->status >= 400 ? LOG_INFO : LOG_DEBUG;
    /* A 422 repeats what the client sent. */
    bool show = rp->status >= 400 && rp->status != 422 && !rp->streaming && rp->body.data;

    log_write(level, "%s %.300s: %d in %lld ms%s%s%.300s", request_param(rq, "REQUEST_METHOD"),
              rq->target.raw ? rq->target.raw : "", rp->status, (long long)(time_mono_ms() - began),
              rp->broken ? ", cut" : "", show ? ", " : "", show ? rp->body.data : "");
}

/* Just before its client is told of it, never behind: nobody is told of a session that ends because we were killed. */
static void tell_of_session(struct request *rq, const struct reply *rp)
{
    if (rq->claim < 0 || rp->status != 200)
        return;
    supervisor_taken(rq->claim);
    rq->claim = -1;
}

static void serve_one(struct worker *w, struct door *d, char *const *params)
{
    int64_t began = time_mono_ms();
    struct request rq;
    struct reply rp;
    struct err err;
    bool big;

    mem_request_begin();
    reply_init(&rp, door_write, d);
    alarm(REQUEST_SECONDS);
    if (request_init(&rq, params, &err) == 0) {
        log_context(request_param(&rq, "REQUEST_ID"), NULL);
        rq.read_body = door_read_body;
        rq.port = d;
        python_parser_begin(w->parser, PYTHON_REQUEST_MS, PYTHON_REQUEST_PATIENCE_MS);
        worker_answer(w, &rq, &rp);
    } else {
        reply_err(&rp, &err);
    }
    if (!rq.handed_over) {
        tell_of_session(&rq, &rp);
        reply_send(&rp);
        log_answer(&rq, &rp, began);
    }
    big = rq.body.cap > TRIM_BYTES || rp.body.cap > TRIM_BYTES;
    if (rq.handed_over)
        door_hand_over(d);
    else
        door_done(d, rp.broken);
    request_release(&rq);
    reply_release(&rp);
    mem_request_end();
    if (w->waiting.here)
        _exit(0); /* without the worker's good-byes to its parser */
    waiting_reap(&w->waiting);
    alarm(0);
    log_context(NULL, NULL);
    if (big)
        malloc_trim(0); /* one large body must not make a large worker for life */
}

static bool is_short_of_something(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS || errnum == ENOMEM;
}

/* Another worker may take the connection; a signal ends the wait. */
static void rest(void)
{
    const struct timespec a_moment = { 0, REST_NS };

    log_error("accept: %s", strerror(errno));
    nanosleep(&a_moment, NULL);
}

static int serve(struct worker *w, int listen_fd, struct err *err)
{
    char *const *params;
    struct door *d;

    if (door_new(listen_fd, &d, err) < 0)
        return -1;
    while (!stopping) {
        params = door_accept(d);
        if (params)
            serve_one(w, d, params);
        else if (!stopping && is_short_of_something(errno))
            rest();
        else if (!stopping && errno != EINTR)
            break;
    }
    door_free(d);
    return stopping ? 0 : err_set(err, ERR_INTERNAL, errno, "accept");
}

/* The keeper's on standard input, one handed down by name, or, started by hand, our own. */
static int find_socket(const struct config *c, struct err *err)
{
    auto_free char *path = NULL;
    struct stat st;
    int fd;

    if (fstat(STDIN_FILENO, &st) == 0 && S_ISSOCK(st.st_mode))
        return STDIN_FILENO;
    fd = listen_inherited("fcgi");
    if (fd >= 0)
        return fd;
    path = join(c->runtime_dir, "fcgi.sock");
    if (!path)
        return err_nomem(err);
    return io_unix_listen(path, 0660, (gid_t)-1, BACKLOG, err);
}

static int run(const struct config *c, struct err *err)
{
    int listen_fd = find_socket(c, err);
    struct worker w;
    int r;

    if (listen_fd < 0 || catch_signals(listen_fd, err) < 0 || worker_init(&w, c, err) < 0)
        return -1;
    guard_memory();
    r = seal_self(SEAL_WORKER, err);
    if (r == 0)
        r = serve(&w, listen_fd, err);
    worker_release(&w);
    return r;
}

/* A diagram of 200 states takes and frees 3 MB: returned to the system each time, its pages cost a fifth of the
 * request. */
static void keep_memory(void)
{
    mallopt(M_MXFAST, 0); /* small pieces gathered in lists are joined again, all at once, at each large one */
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 2);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

static void *take_for_json(size_t bytes)
{
    return mem_resize(NULL, bytes, 1);
}

/* A sanitizer has to know each piece by itself. */
static int give_requests_memory(struct err *err)
{
    cJSON_Hooks ours = { .malloc_fn = take_for_json, .free_fn = mem_free };

    cJSON_InitHooks(&ours);
    return SEAL_SANITIZED ? 0 : mem_request_open(REQUEST_BYTES, KEPT_BYTES / 2, err);
}

int worker_run(const char *config_file)
{
    enum log_level level = LOG_INFO;
    struct config c;
    struct err err;
    int r;

    keep_memory();
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are marked as UTF-8 by it */
    log_setup("agentsim-fcgi", false, LOG_INFO);
    if (config_load(&c, config_file, &err) < 0) {
        log_error("%s", err.msg);
        return 1;
    }
    log_level_parse(c.log_level, &level);
    log_setup("agentsim-fcgi", strcmp(c.log, "json") == 0, level);
    r = give_requests_memory(&err);
    if (r == 0)
        r = run(&c, &err);
    if (r < 0)
        log_error("%s", err.msg);
    config_release(&c);
    return r < 0 ? 1 : 0;
}
