/* supervisor/launcher/users.h -- session users belong to one service of a machine. A launcher ends whatever runs as one
 * of its users when it starts, so two services that share some end each other's sessions, and their agents are not kept
 * apart by their users any more. */
#ifndef LAUNCHER_USERS_H
#define LAUNCHER_USERS_H

#include <stdint.h>

#include "shared/base/err.h"

#define USERS_FILE "/run/agentsim-users.lock"

/* Claims the users first .. first + n - 1 in that file for as long as this process lives: a lock on as many of its
 * bytes. -1 and err: another process has some of them. Where the file cannot be made (a read-only or missing directory)
 * it is 0 and *ret_fd is -1: nobody can be asked. *ret_fd stays open; closing any descriptor of that file ends the
 * claim. */
int users_claim(const char *path, int64_t first, uint32_t n, int *ret_fd, struct err *err);

#endif
