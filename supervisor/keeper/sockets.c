#include "supervisor/keeper/sockets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

/* nginx does not wait for a place: who finds none gets a 502. Browsers come all at once when nginx was restarted; the
 * system may allow less (net.core.somaxconn, 4096 by itself). */
#define BACKLOG 511
#define BACKLOG_OF_A_STORM 8192

static const struct {
    const char *name, *file;
    bool for_web; /* nginx's group connects, else the service's */
    int backlog;
} sockets[SOCKET__MAX] = {
    [SOCKET_SUPERVISOR] = { "supervisor", "supervisor.sock", false, BACKLOG },
    [SOCKET_WEBSOCKET] = { "websocket", "ws.sock", true, BACKLOG_OF_A_STORM },
    [SOCKET_FCGI] = { "fcgi", "fcgi.sock", true, BACKLOG },
};

const char *keeper_socket_name(enum keeper_socket s)
{
    return sockets[s].name;
}

static int make_directory(const char *base, const char *below, mode_t mode, uid_t uid, gid_t gid, struct err *err)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s%s", base, below);
    if (mkdir(path, mode) < 0 && errno != EEXIST)
        return err_set(err, ERR_INTERNAL, errno, "create %s", path);
    /* Only an owner sets a mode without CAP_FOWNER, which a container has not: ours first, then who it is for. */
    if (chown(path, 0, gid) < 0 || chmod(path, mode) < 0 || (uid && chown(path, uid, gid) < 0))
        return err_set(err, ERR_INTERNAL, errno, "set owner and mode of %s", path);
    return 0;
}

int keeper_make_directories(const struct config *c, const struct child_user *user, struct err *err)
{
    /* Places below another's are passable, not readable; holders/ only for the service, signin/ its own. */
    const struct {
        const char *base, *below;
        mode_t mode;
        uid_t uid;
        gid_t gid;
    } rows[] = {
        { c->runtime_dir, "", 0755, 0, 0 },
        { c->runtime_dir, "/holders", 0710, 0, user->gid },
        { c->runtime_dir, "/rates", 0700, user->uid, user->gid },
        { c->state_dir, "", 0755, 0, 0 },
        { c->state_dir, "/slots", 0711, 0, 0 },
        { c->state_dir, "/signin", 0700, user->uid, user->gid },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (make_directory(rows[i].base, rows[i].below, rows[i].mode, rows[i].uid, rows[i].gid, err) < 0)
            return -1;
    return 0;
}

static void socket_path(const struct config *c, enum keeper_socket s, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", c->runtime_dir, sockets[s].file);
}

int keeper_make_sockets(const struct config *c, const struct child_user *user, gid_t web_group,
                        struct keeper_sockets *ret, struct err *err)
{
    struct keeper_sockets made = { { -1, -1, -1 } };
    char path[PATH_MAX];
    int i;

    for (i = 0; i < SOCKET__MAX; i++) {
        gid_t gid = sockets[i].for_web ? web_group : user->gid;

        socket_path(c, (enum keeper_socket)i, path, sizeof(path));
        made.fds[i] = io_unix_listen(path, 0660, gid, sockets[i].backlog, err);
        if (made.fds[i] < 0) {
            keeper_close_sockets(c, &made);
            return -1;
        }
    }
    *ret = made;
    return 0;
}

void keeper_close_sockets(const struct config *c, struct keeper_sockets *s)
{
    char path[PATH_MAX];
    int i;

    for (i = 0; i < SOCKET__MAX; i++) {
        if (s->fds[i] < 0)
            continue;
        socket_path(c, (enum keeper_socket)i, path, sizeof(path));
        (void)unlink(path);
        cleanup_fd_close(&s->fds[i]);
        s->fds[i] = -1;
    }
}
