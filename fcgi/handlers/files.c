#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "fcgi/supervisor.h"
#include "fcgi/zip.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/base/str.h"
#include "shared/ipc/wire.h"

#define SHOWN_MAX (512u << 10)  /* bytes of one file in the listing */
#define LISTING_MAX (80u << 20) /* of the whole answer: beyond it, contents are named, not shown */
#define FILES_MS 300000         /* as long as the holder's own limit */

/* ---- the connection ---- */

int session_ask(struct worker *w, const struct id *id, const char *actor, enum hold_type type,
                const struct buf *payload, struct holder_link *ret, struct reply *rp)
{
    struct err err;
    int fd;

    if (supervisor_open(w->supervisor_socket, id, actor, &fd, &err) < 0) {
        session_error(rp, &err);
        return -1;
    }
    if (holder_link_init(ret, fd, FILES_MS, &err) < 0 || holder_send(ret, type, payload, &err) < 0) {
        holder_link_release(ret);
        reply_err(rp, &err);
        return -1;
    }
    return 0;
}

static int unexpected(struct err *err)
{
    return err_set(err, ERR_UPSTREAM, 0, "The session answered something that cannot be understood");
}

/* ---- the listing ---- */

struct listing {
    struct buf files, directories; /* members of the two arrays */
    bool truncated;
};

static void add_comma(struct buf *b)
{
    if (b->len)
        buf_add_char(b, ',');
}

/* Escapes take up to six bytes for one. */
static bool is_shown(const struct listing *l, const struct holder_file *f)
{
    return f->has_content && f->content_len <= SHOWN_MAX && l->files.len + 6 * f->content_len < LISTING_MAX;
}

static void add_entry(struct listing *l, const struct holder_file *f)
{
    char note[100];

    if (f->directory) {
        add_comma(&l->directories);
        buf_add_json_str(&l->directories, f->path, f->path_len);
        return;
    }
    add_comma(&l->files);
    buf_add_str(&l->files, "{\"path\":");
    buf_add_json_str(&l->files, f->path, f->path_len);
    buf_add_str(&l->files, ",\"content\":");
    if (is_shown(l, f)) {
        buf_add_json_str(&l->files, f->content, f->content_len);
    } else {
        (void)snprintf(note, sizeof(note), "(%llu bytes, not shown here; download the file to read it)",
                       (unsigned long long)f->size);
        buf_add_json_str(&l->files, note, strlen(note));
    }
    buf_add_char(&l->files, '}');
}

static int collect(struct holder_link *link, struct listing *l, struct err *err)
{
    struct holder_file f;
    enum hold_type type;
    const void *payload;
    struct wire_in in;
    size_t len;

    for (;;) {
        if (holder_receive(link, &type, &payload, &len, err) < 0)
            return -1;
        if (type == HOLD_LAST)
            break;
        if (type != HOLD_ENTRY)
            return unexpected(err);
        if (holder_get_entry(payload, len, &f, err) < 0)
            return -1;
        add_entry(l, &f);
        if (buf_failed(&l->files) || buf_failed(&l->directories))
            return err_nomem(err);
    }
    wire_start(&in, payload, len);
    l->truncated = wire_get_u8(&in) != 0;
    return wire_end(&in) < 0 ? unexpected(err) : 0;
}

static void answer_listing(struct reply *rp, const struct listing *l)
{
    buf_add_str(&rp->body, "{\"files\":[");
    buf_add(&rp->body, l->files.data, l->files.len);
    buf_add_str(&rp->body, "],\"directories\":[");
    buf_add(&rp->body, l->directories.data, l->directories.len);
    buf_add_str(&rp->body, l->truncated ? "],\"truncated\":true}" : "]}");
    reply_json(rp, 200);
}

void files_list(struct worker *w, const struct id *id, const char *actor, struct reply *rp)
{
    auto_buf struct buf payload;
    struct holder_link link;
    struct listing l = { .truncated = false };
    struct err err;

    buf_init(&payload, 64);
    buf_init(&l.files, LISTING_MAX + (4u << 20));
    buf_init(&l.directories, 8u << 20);
    wire_put_u64(&payload, SHOWN_MAX);
    if (session_ask(w, id, actor, HOLD_LIST, &payload, &link, rp) < 0)
        return;
    if (collect(&link, &l, &err) < 0)
        reply_err(rp, &err);
    else
        answer_listing(rp, &l);
    holder_link_release(&link);
    buf_release(&l.files);
    buf_release(&l.directories);
}

void handle_files(struct worker *w, struct request *rq, struct reply *rp)
{
    char actor[RPC_ACTOR_MAX + 1];
    struct id id;

    if (session_identify(w, rq, rp, &id, actor) == 0)
        files_list(w, &id, actor, rp);
}

/* ---- one file ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The first message says whether there is such a file; from the second on, a fault can only cut the answer. */
static void pass_on(struct holder_link *link, const char *path, struct reply *rp)
{
    enum hold_type type;
    const void *payload, *data;
    struct wire_in in;
    struct err err;
    size_t len;

    for (;;) {
        if (holder_receive(link, &type, &payload, &len, &err) < 0)
            break;
        if (!rp->streaming) {
            reply_attachment(rp, last_part(path));
            reply_stream(rp, 200, "application/octet-stream");
        }
        if (type == HOLD_LAST)
            return;
        if (type == HOLD_ENTRY)
            continue;
        wire_start(&in, payload, len);
        data = wire_get_bytes(&in, HOLD_CHUNK, &len);
        if (type != HOLD_DATA || wire_end(&in) < 0) {
            unexpected(&err);
            break;
        }
        if (reply_write(rp, data, len) < 0)
            return;
    }
    if (rp->streaming) {
        log_warn("file: %s", err.msg);
        rp->broken = true;
    } else {
        reply_err(rp, &err);
    }
}

void handle_file(struct worker *w, struct request *rq, struct reply *rp)
{
    const char *path = rq->args[1];
    auto_buf struct buf payload;
    char actor[RPC_ACTOR_MAX + 1];
    struct holder_link link;
    struct id id;

    buf_init(&payload, HOLD_PATH_MAX + 64);
    if (session_identify(w, rq, rp, &id, actor) < 0)
        return;
    if (path_check_found(path, strlen(path)) < 0) {
        reply_detail(rp, 400, "The path is none below the session's folder");
        return;
    }
    wire_put_str(&payload, path);
    if (session_ask(w, &id, actor, HOLD_READ, &payload, &link, rp) < 0)
        return;
    pass_on(&link, path, rp);
    holder_link_release(&link);
}

/* ---- the archive ---- */

static int write_reply(void *port, const void *data, size_t len)
{
    return reply_write(port, data, len);
}

/* On Windows a backslash separates folders and a colon ends the name of a drive. */
static char *zip_name(const struct holder_file *f)
{
    auto_buf struct buf out;
    size_t i = 0, width;

    buf_init(&out, 4 * f->path_len + 1);
    while (i < f->path_len) {
        int32_t cp = utf8_decode(f->path + i, f->path_len - i, &width);

        if (cp < 0)
            buf_add_str(&out, UTF8_REPLACEMENT);
        else if (cp < 0x20 || cp == '\\' || cp == ':')
            buf_add_char(&out, '_');
        else
            buf_add(&out, f->path + i, width);
        i += width;
    }
    return buf_steal(&out, NULL);
}

static int add_to_zip(struct zip *z, const struct holder_file *f, struct err *err)
{
    auto_free char *path = zip_name(f);

    if (!path)
        return err_nomem(err);
    if (path_check(path, strlen(path)) < 0) /* would be unpacked outside */
        return unexpected(err);
    return f->directory ? zip_directory(z, path, err) : zip_file(z, path, ZIP_SIZE_OPEN, err);
}

static int pack_one(struct zip *z, enum hold_type type, const void *payload, size_t len, struct err *err)
{
    struct holder_file f;
    struct wire_in in;
    const void *data;

    if (type == HOLD_ENTRY)
        return holder_get_entry(payload, len, &f, err) < 0 ? -1 : add_to_zip(z, &f, err);
    wire_start(&in, payload, len);
    data = wire_get_bytes(&in, HOLD_CHUNK, &len);
    if (type != HOLD_DATA || wire_end(&in) < 0)
        return unexpected(err);
    return zip_data(z, data, len, err);
}

static int pack(struct holder_link *link, const char *filename, struct reply *rp, struct err *err)
{
    struct zip *z = NULL;
    enum hold_type type;
    const void *payload;
    size_t len;
    int r = 0;

    while (r == 0) {
        r = holder_receive(link, &type, &payload, &len, err);
        if (r == 0 && !z) {
            r = zip_new(write_reply, rp, time(NULL), &z, err);
            if (r == 0) {
                reply_attachment(rp, filename);
                reply_stream(rp, 200, "application/zip");
            }
        }
        if (r == 0 && type == HOLD_LAST) {
            r = zip_close(z, err);
            break;
        }
        if (r == 0)
            r = pack_one(z, type, payload, len, err);
    }
    zip_free(z);
    return r;
}

void handle_archive(struct worker *w, struct request *rq, struct reply *rp)
{
    char actor[RPC_ACTOR_MAX + 1], text[ID_TEXT_LEN + 1], name[ID_TEXT_LEN + 16];
    struct holder_link link;
    struct err err;
    struct id id;

    if (session_identify(w, rq, rp, &id, actor) < 0 || session_ask(w, &id, actor, HOLD_WALK, NULL, &link, rp) < 0)
        return;
    id_format(&id, text);
    (void)snprintf(name, sizeof(name), "session-%.8s.zip", text);
    if (pack(&link, name, rp, &err) == 0) {
        holder_link_release(&link);
        return;
    }
    holder_link_release(&link);
    if (rp->streaming) {
        log_warn("archive: %s", err.msg);
        rp->broken = true;
    } else {
        reply_err(rp, &err);
    }
}
