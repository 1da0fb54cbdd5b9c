#include "shared/python/parser.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/wire.h"
#include "shared/python/answer.h"
#include "shared/python/cache.h"

#define START_MS 15000 /* interpreter start on a machine under load */
#define ATTEMPTS 2     /* a jail that dies on a question is given it once more */

struct python_parser {
    char *program;
    pid_t pid; /* 0 = not running */
    int sock;
    struct frame_reader in;
    struct python_cache cache; /* facts only: trees are asked once */
    int64_t left_ms, until_ms; /* what the request may still use of the jail, and when it has to be through */
    size_t left_bytes;         /* so much it may still ask about */
};

enum outcome { OUTCOME_ANSWER, OUTCOME_DIED, OUTCOME_LATE, OUTCOME_FAILED };

int python_parser_new(const char *program, struct python_parser **ret, struct err *err)
{
    struct python_parser *p = mem_zalloc(1, sizeof(*p));

    if (!p)
        return err_nomem(err);
    p->sock = -1;
    p->left_ms = p->until_ms = INT64_MAX;
    p->left_bytes = SIZE_MAX;
    p->program = mem_strdup(program);
    if (!p->program) {
        mem_free(p);
        return err_nomem(err);
    }
    frame_reader_init(&p->in, ANSWER_FRAME_MAX);
    *ret = p;
    return 0;
}

void python_parser_begin(struct python_parser *p, int64_t compute_ms, int64_t patience_ms)
{
    p->left_ms = compute_ms;
    p->left_bytes = PYTHON_REQUEST_MAX;
    p->until_ms = time_mono_ms() + patience_ms;
}

/* The jail holds nothing worth a goodbye. */
static void stop(struct python_parser *p)
{
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (p->sock >= 0)
        close(p->sock);
    p->pid = 0;
    p->sock = -1;
    frame_reader_release(&p->in);
    p->in.pos = 0;
}

void python_parser_free(struct python_parser *p)
{
    if (!p)
        return;
    stop(p);
    python_cache_clear(&p->cache);
    mem_free(p->program);
    mem_free(p);
}

/* Empty environment, default signals, the socket as standard input and output; the rest is
 * close-on-exec. */
static int spawn(const char *program, int sock, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    char name[] = "agentsim-pyparse", *argv[] = { name, NULL }, *env[] = { NULL };
    int r;

    sigemptyset(&none);
    sigfillset(&all);
    r = posix_spawn_file_actions_init(&files);
    if (r)
        return r;
    r = posix_spawnattr_init(&attr);
    if (r) {
        posix_spawn_file_actions_destroy(&files);
        return r;
    }
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    r = posix_spawn_file_actions_adddup2(&files, sock, STDIN_FILENO);
    if (!r)
        r = posix_spawn_file_actions_adddup2(&files, sock, STDOUT_FILENO);
    if (!r)
        r = posix_spawn(ret, program, &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return r;
}

/* When a question has to be over. What counts is the time the jail computes, or a busy machine
 * would turn good sources into bad ones; a jail that only waits is given up as well, later. */
struct deadline {
    clockid_t clock; /* the jail's processor time */
    bool has_clock;
    int64_t compute_ms, used_ms, until_ms, at_last_ms;
};

static int64_t used_ms(const struct deadline *d)
{
    struct timespec t;

    if (!d->has_clock || clock_gettime(d->clock, &t) < 0)
        return d->used_ms;
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct deadline deadline_after(const struct python_parser *p, int64_t ms, int64_t at_last_ms)
{
    int64_t now = time_mono_ms();
    struct deadline d = { .compute_ms = ms, .at_last_ms = least(now + at_last_ms, p->until_ms) };

    d.until_ms = least(now + ms, d.at_last_ms);
    d.has_clock = clock_getcpuclockid(p->pid, &d.clock) == 0;
    d.used_ms = used_ms(&d);
    return d;
}

/* At the end of the time: is there more, because the jail could not use it? */
static bool extended(struct deadline *d)
{
    int64_t now = time_mono_ms(), left = d->compute_ms - (used_ms(d) - d->used_ms);

    if (!d->has_clock || now >= d->at_last_ms || left <= 0)
        return false;
    d->until_ms = least(now + left, d->at_last_ms);
    return true;
}

/* Waits until the socket can do what is asked for: false when the deadline has passed. */
static bool wait_for(int sock, short events, struct deadline *d)
{
    for (;;) {
        struct pollfd p = { sock, events, 0 };
        int64_t left = d->until_ms - time_mono_ms();
        int r = poll(&p, 1, left > 0 ? (int)left : 0);

        if (r > 0)
            return true;
        if (left <= 0 && !extended(d))
            return false;
    }
}

/* Next message of the jail, borrowed until the following call. */
static enum outcome receive(struct python_parser *p, struct deadline *deadline, uint16_t *ret_type,
                            const void **ret_data, size_t *ret_len, struct err *err)
{
    for (;;) {
        int r = frame_reader_next(&p->in, ret_type, ret_data, ret_len, err);

        if (r > 0)
            return OUTCOME_ANSWER;
        if (r < 0)
            return OUTCOME_FAILED;
        if (!wait_for(p->sock, POLLIN, deadline))
            return OUTCOME_LATE;
        r = frame_reader_fill(&p->in, p->sock, err);
        if (r < 0 && err && err->kind == ERR_INTERNAL)
            return OUTCOME_FAILED;
        if (r <= 0)
            return OUTCOME_DIED;
    }
}

static int start(struct python_parser *p, struct err *err)
{
    struct err why = { 0 };
    int sock[2], r;
    enum outcome o;
    struct deadline limit;
    const void *data;
    uint16_t type;
    size_t len;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "start the Python checker: socketpair");
    r = spawn(p->program, sock[1], &p->pid);
    close(sock[1]);
    p->sock = sock[0];
    if (r) {
        p->pid = 0;
        stop(p);
        return err_set(err, ERR_UNAVAILABLE, r, "start the Python checker %s", p->program);
    }
    io_set_nonblock(p->sock, true);
    limit = deadline_after(p, START_MS, START_MS);
    o = receive(p, &limit, &type, &data, &len, &why);
    if (o == OUTCOME_ANSWER && type == ANSWER_READY)
        return 0;
    stop(p);
    if (o == OUTCOME_FAILED)
        return err_set(err, why.kind, 0, "start the Python checker: %s", why.msg);
    return err_set(err, ERR_UNAVAILABLE, 0, "the Python checker %s ended or hung at its start", p->program);
}

/* A jail that went to sleep, died or speaks out of turn is replaced; it has no question open. */
static int ensure_running(struct python_parser *p, struct err *err)
{
    struct pollfd look = { p->sock, POLLIN, 0 };

    if (p->pid && p->in.pos == p->in.in.len && poll(&look, 1, 0) == 0)
        return 0;
    stop(p);
    return start(p, err);
}

static enum outcome send_all(int sock, const void *data, size_t len, struct deadline *deadline)
{
    const char *at = data;

    while (len) {
        ssize_t n = send(sock, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return OUTCOME_DIED;
        if (n < 0) {
            if (!wait_for(sock, POLLOUT, deadline))
                return OUTCOME_LATE;
            continue;
        }
        at += n;
        len -= (size_t)n;
    }
    return OUTCOME_ANSWER;
}

/* Where an answer goes. */
struct reply {
    struct python_facts *facts; /* with a tree: only to learn that the source is invalid */
    struct buf *tree;           /* NULL: facts are wanted */
    enum python_answer type;    /* that holds them */
};

/* OUTCOME_ANSWER with err set means: answered, and the answer is no. */
static enum outcome take_message(const struct reply *want, uint16_t type, const void *data, size_t len, bool *ret_done,
                                 struct err *err)
{
    struct wire_in in;

    *ret_done = true;
    if (type == ANSWER_REFUSED) {
        wire_start(&in, data, len);
        err_set(err, ERR_BAD_REQUEST, 0, "%s", wire_get_str(&in, ANSWER_ERROR_MAX));
        return OUTCOME_ANSWER;
    }
    if (want->tree && type == ANSWER_CHUNK) {
        *ret_done = false;
        if (buf_add(want->tree, data, len) == 0)
            return OUTCOME_ANSWER;
        if (want->tree->len + len > want->tree->max)
            err_set(err, ERR_BAD_REQUEST, 0, "the Python code is too large to be read");
        else
            err_nomem(err);
        return OUTCOME_FAILED;
    }
    if (want->tree && type == ANSWER_END && !len)
        return OUTCOME_ANSWER;
    if (type == ANSWER_INVALID || type == want->type)
        return python_answer_decode((enum python_answer)type, data, len, want->facts, err) < 0 ? OUTCOME_FAILED
                                                                                               : OUTCOME_ANSWER;
    err_set(err, ERR_UPSTREAM, 0, "the Python checker answered with message %u", type);
    return OUTCOME_FAILED;
}

/* A verdict is asked of programs of ours, which are longer than what people write, but nowhere more difficult. */
static int64_t deadline_ms(enum python_ask what, size_t len)
{
    return PYTHON_DEADLINE_MS + (what == ASK_VERDICT ? (int64_t)(len >> 10) : 0);
}

static enum outcome ask_once(struct python_parser *p, enum python_ask what, const char *source, size_t len,
                             const struct reply *want, struct err *err)
{
    struct deadline limit = deadline_after(p, least(deadline_ms(what, len), p->left_ms), PYTHON_PATIENCE_MS);
    struct frame_writer head;
    enum outcome o;
    bool done = false;

    frame_writer_init(&head, FRAME_HEADER + PYTHON_SOURCE_MAX);
    if (frame_writer_put(&head, (uint16_t)what, source, len) < 0) {
        err_nomem(err);
        o = OUTCOME_FAILED;
    } else {
        o = send_all(p->sock, head.out.data, head.out.len, &limit);
    }
    frame_writer_release(&head);
    while (o == OUTCOME_ANSWER && !done) {
        const void *data;
        size_t got;
        uint16_t type;

        o = receive(p, &limit, &type, &data, &got, err);
        if (o == OUTCOME_ANSWER)
            o = take_message(want, type, data, got, &done, err);
        if (o == OUTCOME_ANSWER && what != ASK_TREE && type != ANSWER_REFUSED)
            python_cache_put(&p->cache, source, len, type, data, got);
    }
    if (p->left_ms != INT64_MAX)
        p->left_ms -= least(used_ms(&limit) - limit.used_ms, p->left_ms);
    return o;
}

/* Whose fault it is that the time is over: of this piece, of all pieces of the request, or of a busy machine. */
static int too_late(const struct python_parser *p, struct err *err)
{
    if (time_mono_ms() >= p->until_ms)
        return err_set(err, ERR_UNAVAILABLE, 0, "The Python checker is too busy, try again in a moment");
    if (p->left_ms <= 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "there is too much Python code: it could not be checked in time");
    return err_set(err, ERR_BAD_REQUEST, 0, "the Python code could not be checked within %d seconds",
                   PYTHON_DEADLINE_MS / 1000);
}

/* 0 answered (err may hold a refusal), -1 err. */
static int ask_within(struct python_parser *p, enum python_ask what, const char *source, size_t len,
                      const struct reply *want, struct err *err)
{
    int attempt;

    if (len > PYTHON_SOURCE_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "Python code of more than %u bytes", PYTHON_SOURCE_MAX);
    if (p->left_ms <= 0 || time_mono_ms() >= p->until_ms)
        return too_late(p, err);
    if (len > p->left_bytes)
        return err_set(err, ERR_BAD_REQUEST, 0, "there is too much Python code: more than %u MiB",
                       PYTHON_REQUEST_MAX >> 20);
    p->left_bytes -= p->left_bytes == SIZE_MAX ? 0 : len;
    for (attempt = 0; attempt < ATTEMPTS; attempt++) {
        enum outcome o;

        err_clear(err);
        if (ensure_running(p, err) < 0)
            return -1;
        if (want->tree)
            buf_clear(want->tree);
        o = ask_once(p, what, source, len, want, err);
        if (o == OUTCOME_ANSWER)
            return 0;
        stop(p);
        if (o == OUTCOME_FAILED)
            return -1;
        if (o == OUTCOME_LATE)
            return too_late(p, err);
    }
    return err_set(err, ERR_BAD_REQUEST, 0, "the Python code is too complex to be checked");
}

/* The jail's connection and the cache outlive the request. */
static int ask(struct python_parser *p, enum python_ask what, const char *source, size_t len, const struct reply *want,
               struct err *err)
{
    bool was_on = mem_request_pause();
    int r = ask_within(p, what, source, len, want, err);

    mem_request_resume(was_on);
    return r;
}

/* One question whose answer fits into facts. */
static int ask_facts(struct python_parser *p, enum python_ask what, enum python_answer type, const char *source,
                     size_t len, struct python_facts *ret, struct err *err)
{
    struct python_facts facts = { 0 };
    struct reply want = { .facts = &facts, .type = type };
    struct err e = { 0 };

    if (ask(p, what, source, len, &want, &e) < 0 || e.kind) {
        python_facts_release(&facts);
        if (err)
            *err = e;
        return -1;
    }
    *ret = facts;
    return 0;
}

int python_parse(struct python_parser *p, const char *source, size_t len, struct python_facts *ret, struct err *err)
{
    const struct python_cache_entry *known = python_cache_get(&p->cache, source, len);

    if (known && known->type != ANSWER_VALID)
        return python_answer_decode((enum python_answer)known->type, known->answer, known->answer_len, ret, err);
    return ask_facts(p, ASK_FACTS, ANSWER_FACTS, source, len, ret, err);
}

int python_check(struct python_parser *p, const char *source, size_t len, struct python_facts *ret, struct err *err)
{
    const struct python_cache_entry *known = python_cache_get(&p->cache, source, len);

    if (known && known->type == ANSWER_INVALID)
        return python_answer_decode(ANSWER_INVALID, known->answer, known->answer_len, ret, err);
    if (known) {
        *ret = (struct python_facts){ .valid = true };
        return 0;
    }
    return ask_facts(p, ASK_VERDICT, ANSWER_VALID, source, len, ret, err);
}

int python_tree(struct python_parser *p, const char *source, size_t len, char **ret_json, struct err *err)
{
    struct python_facts facts = { 0 };
    auto_buf struct buf tree;
    struct reply want = { .facts = &facts, .tree = &tree, .type = ANSWER_INVALID };
    struct err e = { 0 };
    char *text;

    buf_init(&tree, ANSWER_TREE_MAX);
    if (ask(p, ASK_TREE, source, len, &want, &e) == 0 && !e.kind && facts.error)
        err_set(&e, ERR_BAD_REQUEST, 0, "line %d, column %d: %s", facts.error_line, facts.error_column, facts.error);
    python_facts_release(&facts);
    if (e.kind) {
        if (err)
            *err = e;
        return -1;
    }
    text = buf_steal(&tree, NULL);
    if (!text)
        return err_nomem(err);
    *ret_json = text;
    return 0;
}
