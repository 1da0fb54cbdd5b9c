#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/ipc/version.h"
#include "supervisor/launcher/clean.h"
#include "supervisor/launcher/launcher.h"
#include "supervisor/launcher/limits.h"
#include "supervisor/launcher/start.h"
#include "supervisor/launcher/sweep.h"

#define RETRY_S 3.0
#define SOCKET_PATH 128
#define SLOTS_PATH 4096

static uid_t uid_of(const struct place *p)
{
    return (uid_t)(p->launcher->config.session_uid_base + p->slot.number);
}

static void socket_path(const struct place *p, char out[SOCKET_PATH])
{
    (void)snprintf(out, SOCKET_PATH, "%s/%u.sock", p->launcher->holders_path, p->slot.number);
}

/* The file system of its own, -1: none. */
static int disk_of(const struct place *p)
{
    const struct disks *d = &p->launcher->disks;

    return d->dirs ? d->dirs[p->slot.number] : -1;
}

static void tell(const struct place *p, enum launch_op op, int64_t value)
{
    door_send(
        &p->launcher->door,
        (struct launch_msg){
            .op = op, .slot = p->slot.number, .state = slot_public_state(&p->slot), .value = value, .id = p->slot.id });
}

static void to_state(struct place *p, enum slot_state to)
{
    enum slot_state from = p->slot.state;

    if (slot_set_state(&p->slot, to) < 0)
        log_error("slot %u: %s cannot become %s", p->slot.number, slot_state_name(from), slot_state_name(to));
    else
        log_debug("slot %u: %s -> %s", p->slot.number, slot_state_name(from), slot_state_name(to));
}

static void close_report(struct place *p)
{
    ev_io_stop(p->launcher->loop, &p->report);
    cleanup_fd_close(&p->slot.report_fd);
    p->slot.report_fd = -1;
}

/* ---- cleaning
 * ------------------------------------------------------------------------------------- */

static void quarantine(struct place *p, int left)
{
    to_state(p, SLOT_QUARANTINED);
    p->slot.given_up = true;
    ev_timer_again(p->launcher->loop, &p->retry);
    if (left > CLEAN_LEFT_MAX)
        log_error("slot %u: its %s cannot be removed, the slot stays out of use", p->slot.number,
                  left == CLEAN_GROUP ? "control group" : "directory");
    else
        log_error("slot %u: %d processes cannot be killed, the slot stays out of use", p->slot.number, left);
    tell(p, LAUNCH_QUARANTINED, left > CLEAN_LEFT_MAX ? 0 : left);
}

static void cleaned(struct place *p)
{
    bool failed = p->slot.failed;
    int errnum = p->slot.errnum;

    cleanup_fd_close(&p->slot.life_fd);
    p->slot.life_fd = -1;
    to_state(p, SLOT_FREE);
    if (failed)
        tell(p, LAUNCH_FAILED, errnum);
    else
        tell(p, LAUNCH_CLEAN, 0);
    p->slot.id = (struct id){ { 0 } };
    p->slot.failed = p->slot.swept = p->slot.given_up = false;
    if (p->launcher->ending && places_all_free(p->launcher))
        ev_break(p->launcher->loop, EVBREAK_ALL);
}

static void on_cleaner(struct ev_loop *loop, ev_child *w, int events)
{
    struct place *p = w->data;
    int status = w->rstatus;

    (void)events;
    ev_child_stop(loop, w);
    p->slot.cleaner = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && p->slot.holder)
        p->slot.swept = true; /* on_holder() goes on */
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        cleaned(p);
    else
        quarantine(p, WIFEXITED(status) ? WEXITSTATUS(status) : CLEAN_FILES);
}

static void begin_cleaning(struct place *p)
{
    struct launcher *l = p->launcher;
    char socket[SOCKET_PATH];
    struct err err = { 0 };
    const struct clean_job job = {
        .uid = uid_of(p),
        .slot = p->slot.number,
        .slots_dir = l->slots_dir,
        .disk = disk_of(p),
        .cgroups = &l->cgroups,
        .socket = socket,
    };

    socket_path(p, socket);
    close_report(p);
    ev_timer_stop(l->loop, &p->retry);
    to_state(p, SLOT_STOPPING);
    if (p->slot.holder) /* before it has the slot's user nobody else would find it */
        (void)kill(p->slot.holder, SIGKILL);
    p->slot.cleaner = clean_start(&job, &err);
    if (p->slot.cleaner < 0) {
        log_error("slot %u: %s", p->slot.number, err.msg);
        p->slot.cleaner = 0;
        quarantine(p, CLEAN_FILES);
        return;
    }
    ev_child_set(&p->cleaner, p->slot.cleaner, 0);
    ev_child_start(l->loop, &p->cleaner);
}

static void on_retry(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)events;
    ev_timer_stop(loop, w);
    begin_cleaning(w->data);
}

void places_stop(struct place *p)
{
    if (p->slot.state == SLOT_FREE)
        tell(p, LAUNCH_CLEAN, 0);
    else if (p->slot.state != SLOT_STOPPING)
        begin_cleaning(p);
}

/* ---- starting
 * ------------------------------------------------------------------------------------- */

/* The supervisor hears of it once the slot is clean again. */
static void start_failed(struct place *p, const struct err *err)
{
    log_error("slot %u: the holder did not start: %s", p->slot.number, err->msg);
    p->slot.failed = true;
    p->slot.errnum = err->errnum ? err->errnum : EIO;
    begin_cleaning(p);
}

static void check_report(struct place *p)
{
    struct err err = { 0 };
    int r = start_report(p->slot.report_fd, &err);

    if (r == 0)
        return;
    if (r < 0) {
        start_failed(p, &err);
        return;
    }
    close_report(p);
    to_state(p, SLOT_BUSY);
    tell(p, LAUNCH_STARTED, p->slot.holder);
}

static void on_report(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    check_report(w->data);
}

static void on_holder(struct ev_loop *loop, ev_child *w, int events)
{
    struct place *p = w->data;

    (void)events;
    ev_child_stop(loop, w);
    p->slot.holder = 0;
    if (p->slot.state == SLOT_STARTING)
        check_report(p); /* says what went wrong, or that it ran at least */
    if (p->slot.swept)
        cleaned(p);
    if (p->slot.state != SLOT_BUSY)
        return;
    log_debug("slot %u: the holder ended, status 0x%x", p->slot.number, (unsigned)w->rstatus);
    tell(p, LAUNCH_EXITED, w->rstatus);
}

static bool id_in_use(const struct launcher *l, const struct id *id)
{
    uint32_t i;

    for (i = 0; i < l->n; i++)
        if (l->places[i].slot.state != SLOT_FREE && id_equal(&l->places[i].slot.id, id))
            return true;
    return false;
}

/* A refusal that changes nothing of the slot. */
static void refuse(struct place *p, const struct id *id, int errnum)
{
    door_send(&p->launcher->door, (struct launch_msg){ .op = LAUNCH_FAILED,
                                                       .slot = p->slot.number,
                                                       .state = slot_public_state(&p->slot),
                                                       .value = errnum,
                                                       .id = *id });
}

static int make_and_start(struct place *p, struct started *ret, struct err *err)
{
    struct launcher *l = p->launcher;
    char socket[SOCKET_PATH], disk[SLOTS_PATH];
    struct cgroup_way way;
    int disk_fd = disk_of(p);
    const struct start_job job = {
        .uid = uid_of(p),
        .slot = p->slot.number,
        .id = p->slot.id,
        .slots_dir = disk_fd >= 0 ? disk_fd : l->slots_dir,
        .slots_path = disk_fd >= 0 ? disk : l->slots_path,
        .way = &way,
        .socket = socket,
        .socket_gid = l->service_gid,
        .program = l->holder_program,
        .env = l->holder_env,
    };

    socket_path(p, socket);
    (void)snprintf(disk, sizeof(disk), "%s/%u", l->disks.path ? l->disks.path : "", p->slot.number);
    if (cgroup_make(&l->cgroups, p->slot.number, job.uid, &way, err) < 0)
        return -1;
    return start_holder(ret, &job, err);
}

void places_start(struct place *p, const struct id *id)
{
    struct launcher *l = p->launcher;
    struct started started;
    struct err err = { 0 };

    if (p->slot.state != SLOT_FREE || l->ending || id_in_use(l, id)) {
        refuse(p, id, l->ending ? ESHUTDOWN : EBUSY);
        return;
    }
    p->slot.id = *id;
    to_state(p, SLOT_STARTING);
    if (make_and_start(p, &started, &err) < 0) {
        start_failed(p, &err);
        return;
    }
    p->slot.holder = started.pid;
    p->slot.life_fd = started.life;
    p->slot.report_fd = started.report;
    ev_io_set(&p->report, started.report, EV_READ);
    ev_io_start(l->loop, &p->report);
    ev_child_set(&p->holder, started.pid, 0);
    ev_child_start(l->loop, &p->holder);
}

/* The supervisor may have been told of an end that it did not know of yet: then there is nothing to be named. */
void places_name(struct place *p, const struct id *id)
{
    if (p->slot.state != SLOT_BUSY || id_in_use(p->launcher, id))
        log_warn("slot %u: nothing there can take that session's id", p->slot.number);
    else
        p->slot.id = *id;
}

/* ---- all of them
 * ---------------------------------------------------------------------------------- */

void places_init(struct launcher *l)
{
    uint32_t i;

    for (i = 0; i < l->n; i++) {
        struct place *p = &l->places[i];

        p->launcher = l;
        p->slot = (struct slot){ .number = i, .life_fd = -1, .report_fd = -1 };
        ev_init(&p->report, on_report);
        ev_init(&p->holder, on_holder);
        ev_init(&p->cleaner, on_cleaner);
        ev_init(&p->retry, on_retry);
        p->retry.repeat = RETRY_S;
        p->report.data = p->holder.data = p->cleaner.data = p->retry.data = p;
    }
}

void places_inventory(struct launcher *l)
{
    uint32_t i;

    for (i = 0; i < l->n; i++)
        tell(&l->places[i], LAUNCH_SLOT, slot_is_being_cleaned(&l->places[i].slot) ? LAUNCH_BEING_CLEANED : 0);
    door_send(&l->door, (struct launch_msg){ .op = LAUNCH_READY,
                                             .slot = launch_version(IPC_VERSION, IPC_OLDEST),
                                             .value = l->n,
                                             .state = limits_word(l) });
}

bool places_all_free(const struct launcher *l)
{
    uint32_t i;

    for (i = 0; i < l->n; i++)
        if (l->places[i].slot.state != SLOT_FREE)
            return false;
    return true;
}

static bool left_something(const struct place *p)
{
    char name[16], socket[SOCKET_PATH];
    struct stat st;

    (void)snprintf(name, sizeof(name), "%u", p->slot.number);
    socket_path(p, socket);
    return fstatat(p->launcher->slots_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || lstat(socket, &st) == 0 ||
           cgroup_exists(&p->launcher->cgroups, p->slot.number);
}

void places_clean_stale(struct launcher *l)
{
    auto_free unsigned *running = mem_zalloc(l->n, sizeof(*running));
    bool known = running && sweep_count_range((uid_t)l->config.session_uid_base, l->n, running) == 0;
    uint32_t i, n = 0;

    for (i = 0; i < l->n; i++)
        if (!known || running[i] || left_something(&l->places[i])) {
            begin_cleaning(&l->places[i]);
            n++;
        }
    if (n)
        log_info("%u slots of a former run are being cleaned", n);
}
