/* agentsim-pyparse: a CPython that compiles what it is given and tells what it saw; it never runs
 * or imports it. Standard input and output are one socket; the questions are in
 * shared/python/answer.h. */
#include "shared/python/jail/jail.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shared/ipc/frame.h"
#include "shared/ipc/wire.h"
#include "shared/python/answer.h"

#define IDLE_MS 60000
#define STACK_MAX (64u << 20)
#define SOURCE_BIG (1u << 20) /* after one of this size, memory is given back by ending */

static int read_exactly(void *data, size_t len)
{
    char *at = data;

    while (len) {
        ssize_t n = read(STDIN_FILENO, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

static int write_exactly(const void *data, size_t len)
{
    const char *at = data;

    while (len) {
        ssize_t n = write(STDOUT_FILENO, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* The layout of frame.h; its own functions want calls that the filter does not allow. */
static int answer(enum python_answer type, const void *data, size_t len)
{
    char h[FRAME_HEADER] = { 0 };
    uint32_t size = (uint32_t)len;
    uint16_t what = (uint16_t)type;

    memcpy(h, &size, sizeof(size));
    memcpy(h + sizeof(size), &what, sizeof(what));
    if (write_exactly(h, sizeof(h)) < 0)
        return -1;
    return write_exactly(data, len);
}

static int answer_text(enum python_answer type, const struct verdict *v, const char *text)
{
    struct buf b;
    int r;

    buf_init(&b, 4096);
    if (v) {
        wire_put_u32(&b, (uint32_t)v->line);
        wire_put_u32(&b, (uint32_t)v->column);
    }
    wire_put_str(&b, text);
    r = buf_failed(&b) ? -1 : answer(type, b.data, b.len);
    buf_release(&b);
    return r;
}

static int emit_chunk(const void *data, size_t len)
{
    return answer(ANSWER_CHUNK, data, len);
}

static int describe(const struct node_types *types, uint16_t question, PyObject *module, const char *source)
{
    struct buf facts;
    int r;

    if (question == ASK_TREE) {
        if (tree_write(types, module, emit_chunk) < 0)
            return answer_text(ANSWER_REFUSED, NULL, "the Python code is too large or too deeply nested");
        return answer(ANSWER_END, NULL, 0);
    }
    buf_init(&facts, ANSWER_FACTS_MAX);
    if (describe_facts(types, module, source, &facts) < 0)
        r = answer_text(ANSWER_REFUSED, NULL, "the Python code is too large or too deeply nested");
    else
        r = answer(ANSWER_FACTS, facts.data, facts.len);
    buf_release(&facts);
    return r;
}

static int reply(const struct node_types *types, uint16_t question, const char *source, size_t len)
{
    struct verdict v;
    PyObject *module;
    int r;

    interpreter_judge(source, len, &v);
    if (!v.valid)
        return answer_text(ANSWER_INVALID, &v, v.message);
    if (question == ASK_VERDICT)
        return answer(ANSWER_VALID, NULL, 0);
    module = interpreter_tree(source);
    if (!module)
        return answer_text(ANSWER_REFUSED, NULL, "the Python code is too large or too deeply nested");
    r = describe(types, question, module, source);
    Py_DECREF(module);
    return r;
}

/* One question: 1 answered, 0 nothing more to do, -1 the parser is gone or broken. */
static int serve(const struct node_types *types)
{
    struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
    char h[FRAME_HEADER], *source;
    uint16_t question;
    uint32_t len;
    int r;

    r = poll(&in, 1, IDLE_MS);
    if (r == 0)
        return 0;
    if (r < 0)
        return errno == EINTR ? 1 : -1;
    if (read_exactly(h, sizeof(h)) < 0)
        return 0;
    memcpy(&len, h, sizeof(len));
    memcpy(&question, h + sizeof(len), sizeof(question));
    if (len > PYTHON_SOURCE_MAX || question < ASK_FACTS || question > ASK_VERDICT)
        return -1;
    source = malloc((size_t)len + 1);
    if (!source || read_exactly(source, len) < 0)
        return -1;
    source[len] = '\0';
    r = reply(types, question, source, len);
    free(source);
    if (r < 0)
        return -1;
    return len < SOURCE_BIG;
}

int main(void)
{
    struct node_types types;
    struct rlimit stack = { STACK_MAX, STACK_MAX };
    int r;

    /* The parser goes 6000 levels deep before it gives up. */
    setrlimit(RLIMIT_STACK, &stack);
    if (interpreter_start(&types) < 0 || walls_raise() < 0)
        return 1;
    r = answer(ANSWER_READY, NULL, 0) < 0 ? -1 : 1;
    while (r > 0)
        r = serve(&types);
    _exit(r < 0);
}
