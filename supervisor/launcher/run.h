/* supervisor/launcher/run.h -- the launcher: the only process with power over session users.
 * Theory of operation: one loop, one client (door.h), a table of slots (slot.h). Everything that
 * blocks happens in children: the holder's set-up (start.h), killing and removing (clean.h); the
 * loop only hears of their ends. A slot is used again only after its cleaner proved that nothing is
 * left. */
#ifndef LAUNCHER_RUN_H
#define LAUNCHER_RUN_H

/* config_file NULL: the usual one. Returns the exit status. */
int launcher_run(const char *config_file);

#endif
