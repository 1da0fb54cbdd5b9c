#include "fcgi/door.h"

#include <fcgiapp.h>
#include <limits.h>

#include "shared/base/mem.h"

#define READ_CHUNK ((size_t)65536)

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct door {
    FCGX_Request request;
};

int door_new(int listen_fd, struct door **ret, struct err *err)
{
    struct door *d = mem_zalloc(1, sizeof(*d));

    if (!d)
        return err_nomem(err);
    if (FCGX_Init() != 0 || FCGX_InitRequest(&d->request, listen_fd, FCGI_FAIL_ACCEPT_ON_INTR) != 0) {
        mem_free(d);
        return err_set(err, ERR_INTERNAL, 0, "the FastCGI library cannot be set up");
    }
    *ret = d;
    return 0;
}

void door_free(struct door *d)
{
    if (!d)
        return;
    FCGX_Free(&d->request, 1);
    mem_free(d);
}

char *const *door_accept(struct door *d)
{
    if (FCGX_Accept_r(&d->request) < 0)
        return NULL;
    d->request.keepConnection = 0; /* asked for (nginx/snippets/fastcgi.conf), but who waits on one serves no other */
    return d->request.envp;
}

int door_read_body(void *port, struct buf *body, struct err *err)
{
    struct door *d = port;

    for (;;) {
        size_t spare = body->cap > body->len + 1 ? body->cap - body->len - 1 : READ_CHUNK;
        size_t room = min(min(spare, READ_CHUNK), body->max - body->len);
        int n;

        if (!room && FCGX_GetChar(d->request.in) >= 0)
            return err_set(err, ERR_TOO_LARGE, 0, "The request body is larger than %zu bytes", body->max);
        if (!room)
            return 0;
        if (buf_reserve(body, room) < 0)
            return err_nomem(err);
        n = FCGX_GetStr(body->data + body->len, (int)room, d->request.in);
        body->len += n > 0 ? (size_t)n : 0;
        body->data[body->len] = '\0';
        if (FCGX_GetError(d->request.in))
            return err_set(err, ERR_BAD_REQUEST, 0, "The request body ended too early");
        if (n < (int)room)
            return 0;
    }
}

int door_write(void *port, const void *data, size_t len)
{
    struct door *d = port;
    const char *p = data;

    while (len) {
        int part = len > INT_MAX ? INT_MAX : (int)len;

        if (FCGX_PutStr(p, part, d->request.out) != part)
            return -1;
        p += part;
        len -= (size_t)part;
    }
    return FCGX_GetError(d->request.out) ? -1 : 0;
}

int door_fd(const struct door *d)
{
    return d->request.ipcFd;
}

void door_hand_over(struct door *d)
{
    FCGX_Detach(&d->request); /* else the connection would be shut down, for both of us */
    FCGX_Free(&d->request, 1);
}

void door_done(struct door *d, bool broken)
{
    if (broken)
        FCGX_Free(&d->request, 1);
    else
        FCGX_Finish_r(&d->request);
}
