#include "shared/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"

#define LOG_LINE_MAX 8192

static const char *const level_names[LOG__MAX] = { "debug", "info", "warn", "error", "audit" };

static struct {
    const char *program;
    bool json;
    enum log_level least;
    char request[64];
    char session[64];
} sink = { .program = "agentsim", .least = LOG_INFO };

void log_setup(const char *program, bool json, enum log_level least)
{
    sink.program = program;
    sink.json = json;
    sink.least = least;
}

int log_level_parse(const char *name, enum log_level *ret)
{
    int i;

    for (i = 0; name && i <= LOG_ERROR; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *ret = (enum log_level)i;
            return 0;
        }
    }
    return -1;
}

/* For each event of a relay: snprintf() would be a tenth of what a short frame costs. */
static void copy(char *to, size_t size, const char *text)
{
    size_t len = text ? strnlen(text, size - 1) : 0;

    if (len)
        memcpy(to, text, len);
    to[len] = '\0';
}

void log_context(const char *request, const char *session)
{
    copy(sink.request, sizeof(sink.request), request);
    copy(sink.session, sizeof(sink.session), session);
}

static bool wanted(enum log_level level)
{
    return level >= sink.least;
}

static void add_json_field(struct buf *b, const char *key, const char *value)
{
    if (!*value)
        return;
    buf_add_fmt(b, ",\"%s\":", key);
    buf_add_json_str(b, value, strlen(value));
}

/* Text lines keep readable UTF-8 and escape what could start a new line or drive a terminal. */
static void add_text(struct buf *b, const char *s)
{
    size_t len = strlen(s), i = 0, width;

    while (i < len) {
        int32_t cp = utf8_decode(s + i, len - i, &width);

        if (cp < 0)
            buf_add_fmt(b, "\\x%02x", (unsigned char)s[i]), width = 1;
        else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029)
            buf_add_fmt(b, "\\u%04x", (unsigned)cp);
        else
            buf_add(b, s + i, width);
        i += width;
    }
}

static void write_line(const struct buf *b)
{
    size_t done = 0;
    ssize_t n;

    while (done < b->len) {
        n = write(STDERR_FILENO, b->data + done, b->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

/* actor: of an audit line, else "". */
static void add_json_line(struct buf *line, enum log_level level, const char *session, const char *actor,
                          const char *message)
{
    char when[TIME_TEXT_LEN + 1];

    time_format_utc(time_wall_ms(), when);
    buf_add_fmt(line, "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"pid\":%d", when, level_names[level],
                sink.program, (int)getpid());
    add_json_field(line, "request", sink.request);
    add_json_field(line, "session", session);
    add_json_field(line, "actor", actor);
    add_json_field(line, "message", message);
    buf_add_str(line, "}\n");
}

static void add_text_line(struct buf *line, enum log_level level, const char *session, const char *actor,
                          const char *message)
{
    const struct {
        const char *name, *value;
    } fields[] = { { "request", sink.request }, { "session", session }, { "actor", actor } };
    char when[TIME_TEXT_LEN + 1];
    size_t i;

    time_format_utc(time_wall_ms(), when);
    buf_add_fmt(line, "%s %s[%d] %s: ", when, sink.program, (int)getpid(), level_names[level]);
    for (i = 0; i < ARRAY_LEN(fields); i++) {
        if (!*fields[i].value)
            continue;
        buf_add_fmt(line, "%s=", fields[i].name);
        add_text(line, fields[i].value);
        buf_add_char(line, ' ');
    }
    add_text(line, message);
    buf_add_char(line, '\n');
}

static void write_event(enum log_level level, const char *session, const char *actor, const char *message)
{
    struct buf line;

    buf_init(&line, LOG_LINE_MAX * 4);
    (sink.json ? add_json_line : add_text_line)(&line, level, session, actor, message);
    if (!buf_failed(&line))
        write_line(&line);
    buf_release(&line);
}

void log_write(enum log_level level, const char *fmt, ...)
{
    int saved = errno;
    char message[4096];
    va_list ap;

    if (!wanted(level))
        return;
    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    write_event(level, sink.session, "", message);
    errno = saved;
}

void log_audit(const char *session, const char *who, const char *fmt, ...)
{
    int saved = errno;
    char message[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    write_event(LOG_AUDIT, session, who, message);
    errno = saved;
}
