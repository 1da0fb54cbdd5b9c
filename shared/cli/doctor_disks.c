/* Is there room where the service writes? The machine's /dev/shm is not among the places: nothing of ours uses it, and
 * each session has one of its own. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "shared/base/mem.h"
#include "shared/cli/doctor.h"

#define MIB (1ull << 20)
#define LEAST_BYTES MIB /* below these nothing starts */
#define LEAST_FILES 64
#define FEW_FILES 1024

struct place {
    const char *path;
    const char *what;    /* what is written there */
    uint64_t enough_mib; /* less is a warning */
};

struct room {
    uint64_t bytes, files; /* files: UINT64_MAX where the file system counts none */
};

/* Of a directory that is not there yet, where it would be made. 0, or -1 with errno. */
static int room_at(const char *path, struct room *ret)
{
    char at[PATH_MAX];
    struct statvfs s;

    if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    while (statvfs(at, &s) < 0) {
        char *slash = strrchr(at, '/');

        if (errno != ENOENT || !slash || !at[1])
            return -1;
        slash[slash == at] = '\0';
    }
    ret->bytes = (uint64_t)s.f_bavail * s.f_frsize;
    ret->files = s.f_files ? s.f_favail : UINT64_MAX;
    return 0;
}

static void add_size(struct buf *out, uint64_t bytes)
{
    if (bytes >= 1024 * MIB)
        buf_add_fmt(out, "%.1f GiB", (double)bytes / (1024.0 * MIB));
    else if (bytes >= MIB)
        buf_add_fmt(out, "%llu MiB", (unsigned long long)(bytes / MIB));
    else
        buf_add_fmt(out, "%llu KiB", (unsigned long long)(bytes / 1024));
}

static enum doctor_state judge(const struct room *r, const struct place *p)
{
    if (r->bytes < LEAST_BYTES || r->files < LEAST_FILES)
        return DOCTOR_BAD;
    return r->bytes < p->enough_mib * MIB || r->files < FEW_FILES ? DOCTOR_WARN : DOCTOR_OK;
}

/* Numbers of files are told only where they are the trouble. */
static enum doctor_state look_at(const struct place *p, struct buf *out)
{
    enum doctor_state state;
    struct room r;

    buf_add_fmt(out, "%.90s ", p->path);
    if (room_at(p->path, &r) < 0) {
        buf_add_fmt(out, "cannot be looked at: %s", strerror(errno));
        return DOCTOR_BAD;
    }
    state = judge(&r, p);
    add_size(out, r.bytes);
    if (r.files < FEW_FILES)
        buf_add_fmt(out, " and %llu more files", (unsigned long long)r.files);
    if (state != DOCTOR_OK)
        buf_add_fmt(out, " (%s)", p->what);
    return state;
}

void doctor_check_disks(const struct config *c, struct doctor_result *r)
{
    const struct place places[] = {
        { c->state_dir, "files of sessions, long answers", 256 },
        { c->runtime_dir, "sockets, long requests", 64 },
        { "/tmp", "the sandbox's trial", 16 },
    };
    auto_buf struct buf found;
    size_t i;

    buf_init(&found, 4096);
    buf_add_str(&found, "free: ");
    for (i = 0; i < ARRAY_LEN(places); i++) {
        enum doctor_state state;

        buf_add_str(&found, i ? ", " : "");
        state = look_at(&places[i], &found);
        if (state > r->state)
            r->state = state;
    }
    (void)snprintf(r->found, sizeof(r->found), "%s", found.data ? found.data : "cannot be told: no memory");
    if (r->state != DOCTOR_OK)
        (void)snprintf(r->cure, sizeof(r->cure), "make room there (df -h, df -i), or move it: %s",
                       "AGENT_SIMULATOR_STATE_DIR, AGENT_SIMULATOR_RUNTIME_DIR");
}
