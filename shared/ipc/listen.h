/* shared/ipc/listen.h -- sockets that whoever started us made for us (the LISTEN_FDS protocol of systemd's
 * socket activation; agentsim-keeper speaks it too), so that a restarted process loses no connection. */
#ifndef IPC_LISTEN_H
#define IPC_LISTEN_H

/* Descriptor of that name (LISTEN_FDNAMES) meant for this process (LISTEN_PID), close-on-exec; -1 when there is none.
 * Names in use: "supervisor", "websocket", "launcher", "fcgi". The descriptor stays open until the caller closes it. */
int listen_inherited(const char *name);

#endif
