/* shared/ipc/version.h -- which messages of hold.h and launch.h a process knows. Launcher and holders outlive the
 * supervisor that started them, so a new one meets those of an older build, or after a step back of a newer one.
 *
 * A new message gets a new number, fields of old ones never change, and IPC_VERSION goes up by one: nobody sends what
 * the other side's version does not know. What a newer side sends nevertheless is skipped; what is unknown otherwise
 * ends the connection, as ever. IPC_OLDEST goes up only when something that a conversation needs had to change.
 * HOLD_CONTROL, HOLD_IDENTITY, HOLD_END, HOLD_VERSION and HOLD_FAILED, LAUNCH_SLOT, LAUNCH_READY and LAUNCH_STOP mean
 * the same for ever: with them two sides find out that they do not understand each other, and end what has to end. */
#ifndef IPC_VERSION_H
#define IPC_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#define IPC_VERSION 1u /* 0: builds that did not tell; they may know pings and a slot's new name, or not */
#define IPC_OLDEST 0u  /* what this build still works with */

#define IPC_SINCE_NAME 1u /* LAUNCH_NAME */

/* Do we work with a side of that version that works with those from oldest on? */
bool ipc_compatible(uint32_t version, uint32_t oldest);

#endif
