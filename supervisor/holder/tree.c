#include "supervisor/holder/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/base/str.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/wire.h"
#include "supervisor/holder/beneath.h"

/* One request: what is left of the limits, and the place in the tree. */
struct walk {
    const struct tree *tree;
    bool stream;       /* contents follow their entries; else they are inside */
    uint64_t per_file; /* largest content inside an entry */
    uint64_t bytes;    /* contents that may still be sent */
    unsigned entries;  /* entries that may still be sent */
    bool truncated;
    char path[HOLD_PATH_MAX + 1];
    size_t len;
    struct buf message;
};

/* ---- messages ------------------------------------------------------------------------------------- */

static int send_message(struct walk *w, uint16_t type, struct err *err)
{
    return frame_send(w->tree->sock, type, &w->message, -1, err);
}

static void put_entry(struct walk *w, enum hold_entry kind, uint64_t size)
{
    buf_clear(&w->message);
    wire_put_u8(&w->message, (uint8_t)kind);
    wire_put_bytes(&w->message, w->path, w->len);
    wire_put_u64(&w->message, size);
}

/* An entry that has no content inside. */
static int send_bare(struct walk *w, enum hold_entry kind, uint64_t size, struct err *err)
{
    put_entry(w, kind, size);
    wire_put_u8(&w->message, 0);
    wire_put_bytes(&w->message, "", 0);
    return send_message(w, HOLD_ENTRY, err);
}

static int send_data(struct walk *w, int fd, uint64_t size, struct err *err)
{
    auto_free char *chunk = mem_zalloc(1, HOLD_CHUNK);

    if (!chunk)
        return err_nomem(err);
    while (size) {
        size_t want = size < HOLD_CHUNK ? (size_t)size : HOLD_CHUNK;
        ssize_t n = read(fd, chunk, want);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0; /* it has shrunk */
        buf_clear(&w->message);
        wire_put_bytes(&w->message, chunk, (size_t)n);
        if (send_message(w, HOLD_DATA, err) < 0)
            return -1;
        size -= (uint64_t)n;
    }
    return 0;
}

static int send_last(struct walk *w, struct err *err)
{
    buf_clear(&w->message);
    wire_put_u8(&w->message, w->truncated);
    return send_message(w, HOLD_LAST, err);
}

/* ---- the tree ------------------------------------------------------------------------------------- */

static int send_with_content(struct walk *w, int fd, uint64_t size, struct err *err)
{
    auto_free char *data = mem_zalloc(1, (size_t)size + 1);
    size_t have = 0;

    if (!data)
        return err_nomem(err);
    while (have < size) {
        ssize_t n = read(fd, data + have, (size_t)size - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    put_entry(w, HOLD_ENTRY_FILE, have);
    wire_put_u8(&w->message, 1);
    wire_put_bytes(&w->message, data, have);
    return send_message(w, HOLD_ENTRY, err);
}

static int send_file(struct walk *w, int dir, const char *name, struct err *err)
{
    auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    uint64_t size;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != w->tree->owner)
        return 0; /* gone, not readable, or replaced by something else */
    size = (uint64_t)st.st_size;
    if (w->stream || size <= w->per_file) {
        if (size > w->bytes) {
            w->truncated = true;
            return w->stream ? 0 : send_bare(w, HOLD_ENTRY_FILE, size, err);
        }
        w->bytes -= size;
    }
    if (w->stream)
        return send_bare(w, HOLD_ENTRY_FILE, size, err) < 0 ? -1 : send_data(w, fd, size, err);
    return size <= w->per_file ? send_with_content(w, fd, size, err) : send_bare(w, HOLD_ENTRY_FILE, size, err);
}

/* Names of a directory, sorted, so that equal trees give equal answers. */
struct names {
    char **v;
    size_t n, cap;
};

static void names_release(struct names *names)
{
    size_t i;

    for (i = 0; i < names->n; i++)
        mem_free(names->v[i]);
    mem_free(names->v);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(struct walk *w, DIR *d, struct names *names, struct err *err)
{
    struct dirent *e;

    while ((e = readdir(d))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (names->n >= w->entries) {
            w->truncated = true;
            break;
        }
        if (mem_grow((void **)&names->v, names->n, &names->cap, sizeof(*names->v)) < 0 ||
            !(names->v[names->n] = mem_strdup(e->d_name)))
            return err_nomem(err);
        names->n++;
    }
    if (names->n)
        qsort(names->v, names->n, sizeof(*names->v), compare);
    return 0;
}

static int visit_dir(struct walk *w, int fd, unsigned depth, struct err *err);

static int enter(struct walk *w, int dir, const char *name, unsigned depth, struct err *err)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (send_bare(w, HOLD_ENTRY_DIR, 0, err) < 0) {
        cleanup_fd_close(&fd);
        return -1;
    }
    if (fd < 0)
        return 0; /* closed to its owner, or gone */
    if (depth >= TREE_DEPTH_MAX) {
        w->truncated = true;
        close(fd);
        return 0;
    }
    return visit_dir(w, fd, depth + 1, err);
}

/* Appends "/name" to the place in the tree; false when it is too long. */
static bool push(struct walk *w, const char *name)
{
    size_t n = strlen(name), slash = w->len ? 1 : 0;

    if (w->len + slash + n > HOLD_PATH_MAX)
        return false;
    if (slash)
        w->path[w->len++] = '/';
    memcpy(w->path + w->len, name, n + 1);
    w->len += n;
    return true;
}

static int visit(struct walk *w, int dir, const char *name, unsigned depth, struct err *err)
{
    size_t len = w->len;
    struct stat st;
    int r = 0;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
        return 0;
    if (depth == 0 && !strcmp(name, "tmp"))
        return 0;
    if (!w->entries || !push(w, name)) {
        w->truncated = true;
        return 0;
    }
    w->entries--;
    if (S_ISDIR(st.st_mode))
        r = enter(w, dir, name, depth, err);
    else
        r = send_file(w, dir, name, err);
    w->len = len;
    w->path[len] = '\0';
    return r;
}

/* Takes fd over. Depth is bounded, so the recursion is. */
static int visit_dir(struct walk *w, int fd, unsigned depth, struct err *err)
{
    DIR *d = fdopendir(fd);
    struct names names = { 0 };
    size_t i;
    int r;

    if (!d) {
        close(fd);
        return err_set(err, ERR_INTERNAL, errno, "list a directory");
    }
    r = read_names(w, d, &names, err);
    for (i = 0; r == 0 && i < names.n; i++)
        r = visit(w, dirfd(d), names.v[i], depth, err);
    names_release(&names);
    closedir(d);
    return r;
}

/* ---- requests ------------------------------------------------------------------------------------- */

static int run(struct walk *w, struct err *err)
{
    int fd = openat(w->tree->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

    if (fd < 0 && errno != EACCES)
        return err_set(err, ERR_INTERNAL, errno, "open the work directory");
    buf_init(&w->message, HOLD_MAX_PAYLOAD);
    w->truncated = fd < 0; /* the agent has closed it: nothing to see, as with each of its directories */
    r = fd < 0 ? 0 : visit_dir(w, fd, 0, err);
    if (r == 0)
        r = send_last(w, err);
    buf_release(&w->message);
    return r;
}

int tree_list(const struct tree *t, uint64_t per_file, struct err *err)
{
    struct walk w = {
        .tree = t,
        .per_file = per_file < TREE_CONTENT_MAX ? per_file : TREE_CONTENT_MAX,
        .bytes = TREE_LIST_MAX,
        .entries = TREE_ENTRIES_MAX,
    };

    return run(&w, err);
}

int tree_walk(const struct tree *t, struct err *err)
{
    struct walk w = { .tree = t, .stream = true, .bytes = TREE_WALK_MAX, .entries = TREE_ENTRIES_MAX };

    return run(&w, err);
}

static int send_failed(struct walk *w, const struct err *why, struct err *err)
{
    buf_clear(&w->message);
    wire_put_u32(&w->message, why->kind);
    wire_put_u32(&w->message, 0);
    wire_put_str(&w->message, why->msg);
    return send_message(w, HOLD_FAILED, err);
}

int tree_read(const struct tree *t, const char *path, struct err *err)
{
    struct walk w = { .tree = t };
    struct err why = { 0 };
    auto_fd int fd = -1;
    struct stat st;
    int r;

    buf_init(&w.message, HOLD_MAX_PAYLOAD);
    if (path_check_found(path, strlen(path)) < 0 || !strcmp(path, "tmp") || str_starts(path, "tmp/"))
        err_set(&why, ERR_NOT_FOUND, 0, "no such file");
    else
        fd = beneath_open_file(t->root, path, t->owner, &st, &why);
    if (fd < 0) {
        r = send_failed(&w, &why, err);
    } else {
        (void)snprintf(w.path, sizeof(w.path), "%s", path);
        w.len = strlen(w.path);
        r = send_bare(&w, HOLD_ENTRY_FILE, (uint64_t)st.st_size, err);
        r = r < 0 ? r : send_data(&w, fd, (uint64_t)st.st_size, err);
        r = r < 0 ? r : send_last(&w, err);
    }
    buf_release(&w.message);
    return r;
}
