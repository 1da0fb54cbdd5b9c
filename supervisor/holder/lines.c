#include "supervisor/holder/lines.h"

#include <string.h>

#include "shared/base/str.h"

void lines_init(struct lines *l)
{
    *l = (struct lines){ 0 };
    buf_init(&l->part, 2 * LINES_PART_MAX + 1);
}

void lines_release(struct lines *l)
{
    buf_release(&l->part);
}

/* Gives out whole parts of a line that is too long. The rest (at least one byte) waits for its end.
 */
static void cut_parts(struct lines *l, lines_fn *fn, void *arg)
{
    while (l->part.len > LINES_PART_MAX) {
        size_t n = utf8_floor(l->part.data, LINES_PART_MAX);

        if (n == 0)
            n = LINES_PART_MAX;
        fn(arg, l->part.data, n);
        buf_consume(&l->part, n);
        l->continued = true;
    }
}

static void end_line(struct lines *l, lines_fn *fn, void *arg)
{
    size_t n = l->part.len;

    if (n && l->part.data[n - 1] == '\r')
        n--;
    if (n || !l->continued)
        fn(arg, n ? l->part.data : "", n);
    buf_clear(&l->part);
    l->continued = false;
}

int lines_feed(struct lines *l, const char *data, size_t len, lines_fn *fn, void *arg)
{
    int r = 0;

    while (len) {
        const char *nl = memchr(data, '\n', len);
        size_t n = nl ? (size_t)(nl - data) : len, step = n < LINES_PART_MAX ? n : LINES_PART_MAX;

        if (buf_add(&l->part, data, step) < 0) {
            buf_clear(&l->part);
            r = -1;
        }
        cut_parts(l, fn, arg);
        data += step;
        len -= step;
        if (nl && step == n) {
            end_line(l, fn, arg);
            data++;
            len--;
        }
    }
    return r;
}

void lines_end(struct lines *l, lines_fn *fn, void *arg)
{
    if (l->part.len)
        end_line(l, fn, arg);
    l->continued = false;
}

/* Last occurrence of what in text, or NULL. */
static const char *find_last(const char *text, size_t len, const char *what)
{
    size_t n = strlen(what);
    const char *found = NULL, *p = text;

    while ((p = memmem(p, len - (size_t)(p - text), what, n)))
        found = p++;
    return found;
}

/* Behind the logger's own prefix the name begins at once, so brackets in it do no harm. A line that
 * lacks the prefix (glued, printed) has the name in the nearest bracket. */
bool lines_state_name(const char *line, size_t len, const char **ret_name, size_t *ret_len)
{
    static const char tail[] = "] Running body", prefix[] = " - INFO - [";
    const char *end = find_last(line, len, tail), *start;

    if (!end)
        return false;
    start = find_last(line, (size_t)(end - line), prefix);
    if (start)
        start += sizeof(prefix) - 1;
    else if ((start = memrchr(line, '[', (size_t)(end - line))))
        start++;
    if (!start || start == end)
        return false;
    *ret_name = start;
    *ret_len = (size_t)(end - start);
    return true;
}

void lines_put_stdout(struct buf *out, const char *line, size_t len)
{
    buf_add_str(out, "{\"type\":\"stdout\",\"line\":");
    buf_add_json_str(out, line, len);
    buf_add_char(out, '}');
}

void lines_put_state(struct buf *out, const char *name, size_t len)
{
    buf_add_str(out, "{\"type\":\"state_change\",\"state\":");
    buf_add_json_str(out, name, len);
    buf_add_str(out, ",\"_source\":\"log_state\"}");
}

void lines_put_error(struct buf *out, const char *message, size_t len)
{
    buf_add_str(out, "{\"type\":\"error\",\"message\":");
    buf_add_json_str(out, message, len);
    buf_add_char(out, '}');
}
