#include "supervisor/launcher/cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/launcher/ceiling.h"

#define TEXT_MAX ((size_t)4 << 20) /* mountinfo of a busy machine */
#define TRIAL "trial"

int cgroup_put(const char *dir, const char *file, const char *value)
{
    char path[CGROUP_FILE_MAX];
    auto_fd int fd = -1;
    size_t len = strlen(value);

    if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 || write(fd, value, len) != (ssize_t)len ? -1 : 0;
}

int cgroup_mkdir(const char *dir)
{
    return mkdir(dir, 0755) == 0 || errno == EEXIST ? 0 : -1;
}

void cgroup_path(char out[CGROUP_FILE_MAX], const char *dir, const char *name)
{
    if (snprintf(out, CGROUP_FILE_MAX, "%s/%s", dir, name) >= CGROUP_FILE_MAX)
        out[0] = '\0';
}

static void slot_path(const struct cgroup_tree *t, uint32_t slot, char out[CGROUP_FILE_MAX])
{
    char number[16];

    (void)snprintf(number, sizeof(number), "%u", slot);
    cgroup_path(out, t->dir, number);
}

/* A file of the part of a group that the agent ("/agent") or the holder is in. */
static void part_path(char out[CGROUP_FILE_MAX], const char *group, const char *part, const char *file)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s/%s", part[0] ? part + 1 : ".", file);
    cgroup_path(out, group, name);
}

/* ---- which trees there are ------------------------------------------------------------------------ */

/* A service manager that hands its group over marks it. */
static bool is_delegated(const char *dir)
{
    static const char *const marks[] = { "trusted.delegate", "user.delegate" };
    char value[4];
    size_t i;

    for (i = 0; i < ARRAY_LEN(marks); i++)
        if (getxattr(dir, marks[i], value, sizeof(value)) == 1 && value[0] == '1')
            return true;
    return false;
}

static void root_of_v2(struct cgroup_tree *t, const char *mount)
{
    char own[CGROUP_PATH_MAX], path[2 * CGROUP_PATH_MAX];
    auto_buf struct buf text;

    buf_init(&text, TEXT_MAX);
    if (io_read_file("/proc/self/cgroup", &text, NULL) == 0 && text.data &&
        cgroup_own_group(text.data, own, sizeof(own)) == 0 && strcmp(own, "/") != 0 &&
        snprintf(path, sizeof(path), "%s%s", mount, own) < CGROUP_PATH_MAX && is_delegated(path))
        memcpy(t->root, path, strlen(path) + 1);
    else
        (void)snprintf(t->root, sizeof(t->root), "%s", mount);
}

void cgroups_find(struct cgroups *ret, const struct config *config, const char *name)
{
    char usual[24], root[CGROUP_PATH_MAX];
    auto_buf struct buf text;
    struct cgroup_mounts mounts = { .n = 0 };
    size_t i;

    *ret = (struct cgroups){ .config = config, .memory_mb = ceiling_memory_mb(config, ceiling_machine_mb()) };
    (void)snprintf(usual, sizeof(usual), "%lld", (long long)config->session_uid_base);
    buf_init(&text, TEXT_MAX);
    if (io_read_file("/proc/self/mountinfo", &text, NULL) == 0 && text.data)
        cgroup_mounts_parse(&mounts, text.data);
    for (i = 0; i < mounts.n; i++) {
        struct cgroup_tree *t = &ret->trees[ret->n];

        t->backend = mounts.v[i].version == 1 ? &cgroup_v1 : &cgroup_v2;
        t->controllers = mounts.v[i].controllers;
        if (mounts.v[i].version == 2)
            root_of_v2(t, mounts.v[i].path);
        else
            (void)snprintf(t->root, sizeof(t->root), "%s", mounts.v[i].path);
        (void)snprintf(root, sizeof(root), "%s", t->root);
        if (snprintf(t->dir, sizeof(t->dir), "%s/agentsim/%.64s", root, name ? name : usual) < (int)sizeof(t->dir))
            ret->n++;
    }
}

/* ---- which of them work --------------------------------------------------------------------------- */

static void note(struct cgroups *g, int errnum, const char *what, const char *where)
{
    if (!g->errnum)
        (void)snprintf(g->trouble, sizeof(g->trouble), "%.40s in %.80s: %.30s", what, where, strerror(errnum));
    g->errnum = g->errnum ? g->errnum : errnum;
}

/* Sets every limit; a controller that does not take it is struck out. Returns what is left. */
static unsigned try_limits(struct cgroups *g, const struct cgroup_tree *t, const char *dir)
{
    struct cgroup_limit limits[CGROUP_LIMITS_MAX];
    size_t i, n = t->backend->limits(limits, g->config, g->memory_mb, t->controllers);
    unsigned left = t->controllers;

    for (i = 0; i < n; i++)
        if (cgroup_put(dir, limits[i].file, limits[i].value) < 0 && !limits[i].optional) {
            note(g, errno, limits[i].file, t->dir);
            left &= ~limits[i].controller;
        }
    return left;
}

/* 0 when the tree is of use. */
static int try_tree(struct cgroups *g, struct cgroup_tree *t)
{
    char group[CGROUP_FILE_MAX], agent[CGROUP_FILE_MAX], swap[CGROUP_FILE_MAX];

    if (t->backend->open(t->root, t->dir, &t->controllers) < 0) {
        note(g, errno, "make a group", t->root);
        return -1;
    }
    cgroup_path(group, t->dir, TRIAL);
    part_path(agent, group, t->backend->agent, ".");
    part_path(swap, group, t->backend->agent, t->backend->swap);
    if (t->backend->make(group, 0, t->controllers) < 0) {
        note(g, errno, "make a session's group", t->dir);
        t->controllers = 0;
    } else {
        t->controllers = try_limits(g, t, agent);
        g->swap = g->swap || access(swap, F_OK) == 0;
    }
    (void)t->backend->remove(group);
    return t->controllers ? 0 : -1;
}

static void remove_tree_of(const struct cgroup_tree *t)
{
    char parent[CGROUP_FILE_MAX];

    (void)rmdir(t->dir);
    cgroup_path(parent, t->root, "agentsim");
    (void)rmdir(parent); /* the last instance's success */
}

/* Groups of a former run with more slots; those of our slots are cleaned with them. */
static void remove_stale(const struct cgroup_tree *t, long long n_slots)
{
    DIR *dir = opendir(t->dir);
    struct dirent *e;

    if (!dir)
        return;
    while ((e = readdir(dir))) {
        char group[CGROUP_FILE_MAX];
        char *end;
        long long number;

        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        number = strtoll(e->d_name, &end, 10);
        if (*end || number < n_slots)
            continue;
        cgroup_path(group, t->dir, e->d_name);
        (void)t->backend->remove(group);
    }
    closedir(dir);
}

/* Version 2 beside version 1 has the controllers that nobody took, often none: then it is not worth a move. */
static bool is_spare(const struct cgroups *g, const struct cgroup_tree *t)
{
    return t->backend->version == 2 && !(t->controllers & ~(unsigned)CGROUP_FREEZER) && g->n > 1;
}

void cgroups_set_up(struct cgroups *g)
{
    size_t i, kept = 0, found = g->n;

    for (i = 0; i < found; i++) {
        struct cgroup_tree *t = &g->trees[i];

        if (try_tree(g, t) < 0 || is_spare(g, t)) {
            remove_tree_of(t);
            continue;
        }
        remove_stale(t, g->config->max_sessions);
        if (kept != i)
            g->trees[kept] = *t;
        kept++;
    }
    g->n = kept;
}

void cgroups_close(struct cgroups *g)
{
    size_t i;

    for (i = 0; i < g->n; i++)
        remove_tree_of(&g->trees[i]);
    g->n = 0;
}

unsigned cgroups_controllers(const struct cgroups *g)
{
    unsigned all = 0;
    size_t i;

    for (i = 0; i < g->n; i++)
        all |= g->trees[i].controllers;
    return all;
}

/* ---- one slot ------------------------------------------------------------------------------------- */

static int set_limits(const struct cgroups *g, const struct cgroup_tree *t, const char *dir, struct err *err)
{
    struct cgroup_limit limits[CGROUP_LIMITS_MAX];
    size_t i, n = t->backend->limits(limits, g->config, g->memory_mb, t->controllers);

    for (i = 0; i < n; i++)
        if (cgroup_put(dir, limits[i].file, limits[i].value) < 0 && !limits[i].optional)
            return err_set(err, ERR_INTERNAL, errno, "set %s of a session to %s", limits[i].file, limits[i].value);
    return 0;
}

int cgroup_make(const struct cgroups *g, uint32_t slot, uid_t uid, struct cgroup_way *ret, struct err *err)
{
    size_t i;

    ret->n = 0;
    ret->holder[0] = ret->events[0] = '\0';
    for (i = 0; i < g->n; i++) {
        const struct cgroup_tree *t = &g->trees[i];
        char group[CGROUP_FILE_MAX], agent[CGROUP_FILE_MAX];

        slot_path(t, slot, group);
        if (t->backend->make(group, uid, t->controllers) < 0)
            return err_set(err, ERR_INTERNAL, errno, "make the group of slot %u in %s", slot, t->dir);
        part_path(agent, group, t->backend->agent, ".");
        if (set_limits(g, t, agent, err) < 0)
            return -1;
        part_path(ret->agent[ret->n++], group, t->backend->agent, "cgroup.procs");
        if (t->backend->holder)
            part_path(ret->holder, group, t->backend->holder, "cgroup.procs");
        if (t->controllers & CGROUP_MEMORY)
            part_path(ret->events, group, t->backend->agent, t->backend->events);
    }
    return 0;
}

bool cgroup_exists(const struct cgroups *g, uint32_t slot)
{
    char group[CGROUP_FILE_MAX];
    size_t i;

    for (i = 0; i < g->n; i++) {
        slot_path(&g->trees[i], slot, group);
        if (access(group, F_OK) == 0)
            return true;
    }
    return false;
}

void cgroup_hold(const struct cgroups *g, uint32_t slot, bool on)
{
    char group[CGROUP_FILE_MAX];
    size_t i;

    for (i = 0; i < g->n; i++) {
        if (!(g->trees[i].controllers & CGROUP_FREEZER))
            continue;
        slot_path(&g->trees[i], slot, group);
        g->trees[i].backend->hold(group, on);
    }
}

int cgroup_remove(const struct cgroups *g, uint32_t slot)
{
    char group[CGROUP_FILE_MAX];
    int r = 0, e = 0;
    size_t i;

    for (i = 0; i < g->n; i++) {
        slot_path(&g->trees[i], slot, group);
        if (g->trees[i].backend->remove(group) < 0) {
            e = errno;
            r = -1;
        }
    }
    errno = e;
    return r;
}
