/* supervisor/launcher/launcher.h -- state of the launcher, for its own files. */
#ifndef LAUNCHER_LAUNCHER_H
#define LAUNCHER_LAUNCHER_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/base/err.h"
#include "shared/config/config.h"
#include "supervisor/launcher/cgroup.h"
#include "supervisor/launcher/disks.h"
#include "supervisor/launcher/door.h"
#include "supervisor/launcher/slot.h"

struct launcher;

/* A slot with its watchers. */
struct place {
    struct slot slot;
    struct launcher *launcher;
    ev_io report;     /* the child's start report */
    ev_child holder;  /* its end */
    ev_child cleaner; /* end of the cleaner */
    ev_timer retry;   /* next attempt out of quarantine */
};

struct launcher {
    struct ev_loop *loop;
    struct config config;
    struct place *places;
    uint32_t n;
    struct door door;
    char *slots_path, *holders_path, *holder_program;
    char *door_path; /* of the socket made here, removed at the end; NULL: one that was handed over */
    int slots_dir;
    int users_fd;       /* holds the claim to the session users (users.h) */
    struct disks disks; /* with them slots have their directories there, not in slots_dir */
    struct cgroups cgroups;
    uid_t service_uid;
    gid_t service_gid;
    char **holder_env;
    const char *config_file;
    ev_signal term, intr, hangup;
    ev_timer patience; /* for the end, after a signal */
    ev_timer locks;    /* the next look at locks on files */
    bool ending;
};

/* places.c: what happens to slots. */
void places_init(struct launcher *l);
void places_start(struct place *p, const struct id *id);
void places_stop(struct place *p);
void places_name(struct place *p, const struct id *id); /* what runs there has another id from now on */
void places_inventory(struct launcher *l);
bool places_all_free(const struct launcher *l);

/* Cleans slots of a former run: those with a directory, a socket or a process. */
void places_clean_stale(struct launcher *l);

#endif
