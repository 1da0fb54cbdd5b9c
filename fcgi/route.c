#include "fcgi/route.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

/* One segment of a pattern: [*p, end), and *p behind it. */
static const char *next_segment(const char **p, size_t *ret_len)
{
    const char *start = *p;

    *ret_len = strcspn(start, "/");
    *p = start + *ret_len + (start[*ret_len] == '/');
    return start;
}

static bool is_placeholder(const char *segment, size_t len)
{
    return len > 2 && segment[0] == '{';
}

static bool takes_rest(const char *segment, size_t len)
{
    return len > 3 && segment[0] == '{' && segment[len - 2] == '*';
}

/* Arguments are numbers of segments; rest: the last one takes all that follows. */
struct match {
    size_t args[REQUEST_ARGS_MAX], len;
    bool rest;
};

static bool matches(const char *pattern, const struct target *t, struct match *ret)
{
    struct match m = { .len = 0 };
    const char *p = pattern + 1;
    size_t i, len;

    for (i = 0;; i++) {
        const char *segment = next_segment(&p, &len);
        bool last = segment[len] != '/';

        if (i >= t->len)
            return false;
        if (is_placeholder(segment, len)) {
            if (!*t->segments[i] && !takes_rest(segment, len))
                return false;
            m.args[m.len++] = i;
            m.rest = takes_rest(segment, len);
        } else if (strlen(t->segments[i]) != len || memcmp(t->segments[i], segment, len) != 0) {
            return false;
        }
        if (last)
            break;
    }
    if (m.rest ? !t->more && i + 1 == t->len && !*t->segments[i] : i + 1 != t->len || t->more)
        return false; /* the rest is something, too: else it is the address without the slash */
    *ret = m;
    return true;
}

static int fill_args(struct request *rq, const struct match *m)
{
    size_t i;

    for (i = 0; i < m->len; i++) {
        bool rest = m->rest && i + 1 == m->len;

        rq->args[i] = rest ? target_rest(&rq->target, m->args[i]) : mem_strdup(rq->target.segments[m->args[i]]);
        if (!rq->args[i])
            return -1;
    }
    return 0;
}

const struct route *route_find(const struct route *table, size_t len, struct request *rq, unsigned *ret_allow,
                               struct err *err)
{
    struct match m;
    size_t i;

    *ret_allow = 0;
    for (i = 0; i < len; i++) {
        if (table[i].surface != rq->surface || !matches(table[i].pattern, &rq->target, &m))
            continue;
        *ret_allow |= table[i].method;
        if (table[i].method != rq->method)
            continue;
        if (fill_args(rq, &m) < 0) {
            err_nomem(err);
            return NULL;
        }
        return &table[i];
    }
    return NULL;
}

bool route_exists(const struct route *table, size_t len, enum surface surface, const struct target *t)
{
    struct match m;
    size_t i;

    for (i = 0; i < len; i++)
        if (table[i].surface == surface && matches(table[i].pattern, t, &m))
            return true;
    return false;
}

void route_allow(unsigned methods, struct buf *out)
{
    static const struct {
        unsigned method;
        const char *names;
    } rows[] = {
        { METHOD_GET, "GET, HEAD" }, { METHOD_POST, "POST" }, { METHOD_PUT, "PUT" }, { METHOD_DELETE, "DELETE" }
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (methods & rows[i].method)
            buf_add_fmt(out, "%s%s", out->len ? ", " : "", rows[i].names);
}
