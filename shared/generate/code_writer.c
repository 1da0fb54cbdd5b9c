#include "shared/generate/code_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "shared/json/value.h"
#include "shared/python/emit.h"

#define CODE_MAX \
    (256u << 20) /* of a program while it is made; what may be used is decided later \
                  */

void code_init(struct code_writer *w, const char *prefix)
{
    *w = (struct code_writer){ .prefix = prefix };
    buf_init(&w->out, CODE_MAX);
    buf_init(&w->call, CODE_MAX);
}

void code_release(struct code_writer *w)
{
    if (!w)
        return;
    buf_release(&w->out);
    buf_release(&w->call);
}

bool code_failed(const struct code_writer *w)
{
    return buf_failed(&w->out) || buf_failed(&w->call);
}

static size_t ident_len(const char *s)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || (s[n] >= '0' && s[n] <= '9') || s[n] == '_')
        n++;
    return n;
}

static void use(struct code_writer *w, const char *name, size_t len)
{
    if (w->use)
        w->use(w->context, name, len);
}

/* @name or ~name at s; returns what follows. */
static const char *add_own_name(struct code_writer *w, struct buf *out, const char *s)
{
    bool builtin = *s++ == '~';
    size_t len = ident_len(s);

    if (!builtin) {
        use(w, s, len);
        buf_add_str(out, w->prefix);
    } else if (*w->prefix) {
        use(w, "builtins", strlen("builtins"));
        buf_add_str(out, w->prefix);
        buf_add_str(out, "builtins.");
    }
    buf_add(out, s, len);
    return s + len;
}

static void add_hole(struct buf *out, char kind, va_list *ap)
{
    switch (kind) {
    case 's':
        py_str(out, va_arg(*ap, const char *));
        break;
    case 'n':
        buf_add_str(out, va_arg(*ap, const char *));
        break;
    case 'd':
        py_int(out, va_arg(*ap, int64_t));
        break;
    case 'f':
        py_float(out, va_arg(*ap, double));
        break;
    case 'b':
        py_bool(out, va_arg(*ap, int));
        break;
    case 'v':
        py_value(out, va_arg(*ap, const struct value *));
        break;
    default:
        buf_add_char(out, kind);
        break;
    }
}

/* ap NULL: no holes, % stands for itself. */
static void add_template(struct code_writer *w, struct buf *out, const char *fmt, va_list *ap)
{
    while (*fmt) {
        size_t plain = strcspn(fmt, ap ? "@~%" : "@~");

        buf_add(out, fmt, plain);
        fmt += plain;
        if (*fmt == '%' && fmt[1]) {
            add_hole(out, fmt[1], ap);
            fmt += 2;
        } else if (*fmt) {
            fmt = add_own_name(w, out, fmt);
        }
    }
}

static void begin_line(struct code_writer *w, bool empty)
{
    if (w->out.len)
        buf_add_repeat(&w->out, '\n', w->gap);
    w->gap = 0;
    if (!empty)
        buf_add_repeat(&w->out, ' ', 4u * w->depth);
}

void code_line(struct code_writer *w, const char *fmt, ...)
{
    va_list ap;

    begin_line(w, !*fmt);
    va_start(ap, fmt);
    add_template(w, &w->out, fmt, &ap);
    va_end(ap);
    buf_add_char(&w->out, '\n');
}

void code_begin(struct code_writer *w)
{
    begin_line(w, false);
}

void code_part(struct code_writer *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_template(w, &w->out, fmt, &ap);
    va_end(ap);
}

void code_text(struct code_writer *w, const char *line)
{
    size_t len = strlen(line);

    begin_line(w, !len);
    add_template(w, &w->out, line, NULL);
    if (!len || line[len - 1] != '\n')
        buf_add_char(&w->out, '\n');
}

void code_gap(struct code_writer *w, unsigned blank_lines)
{
    if (w->gap < blank_lines)
        w->gap = blank_lines;
}

void code_heading(struct code_writer *w, const char *title)
{
    code_gap(w, 1);
    begin_line(w, false);
    buf_add_str(&w->out, "# ");
    buf_add_str(&w->out, title);
    buf_add_char(&w->out, '\n');
}

void code_open(struct code_writer *w)
{
    w->depth++;
    w->gap = 0;
}

void code_close(struct code_writer *w)
{
    w->depth--;
}

void code_raw(struct code_writer *w, const char *source)
{
    size_t len = strlen(source);

    begin_line(w, true);
    buf_add(&w->out, source, len);
    if (!len || source[len - 1] != '\n')
        buf_add_char(&w->out, '\n');
}

void code_call(struct code_writer *w, const char *fmt, ...)
{
    va_list ap;

    buf_clear(&w->call);
    w->args_len = 0;
    va_start(ap, fmt);
    add_template(w, &w->call, fmt, &ap);
    va_end(ap);
    w->args[0] = w->call.len;
}

void code_arg(struct code_writer *w, const char *fmt, ...)
{
    va_list ap;

    if (w->args_len >= CODE_ARGS_MAX) {
        w->call.failed = true;
        return;
    }
    va_start(ap, fmt);
    add_template(w, &w->call, fmt, &ap);
    va_end(ap);
    w->args[++w->args_len] = w->call.len;
}

static void add_args(struct code_writer *w, bool broken)
{
    unsigned i;

    for (i = 0; i < w->args_len; i++) {
        if (broken) {
            buf_add_char(&w->out, '\n');
            buf_add_repeat(&w->out, ' ', 4u * (w->depth + 1));
        }
        buf_add(&w->out, w->call.data + w->args[i], w->args[i + 1] - w->args[i]);
        if (broken)
            buf_add_char(&w->out, ',');
        else if (i + 1 < w->args_len)
            buf_add_str(&w->out, ", ");
    }
    if (broken) {
        buf_add_char(&w->out, '\n');
        buf_add_repeat(&w->out, ' ', 4u * w->depth);
    }
}

void code_call_end(struct code_writer *w, const char *tail)
{
    size_t width = 4u * w->depth + w->call.len + 2u * w->args_len + strlen(tail);

    if (code_failed(w)) {
        w->out.failed = true; /* call is emptied by the next one */
        return;
    }
    begin_line(w, false);
    buf_add(&w->out, w->call.data, w->args[0]);
    buf_add_char(&w->out, '(');
    add_args(w, width > CODE_WIDTH && w->args_len > 0);
    buf_add_char(&w->out, ')');
    buf_add_str(&w->out, tail);
    buf_add_char(&w->out, '\n');
}
