/* supervisor/holder/agent_ws_frames.h -- the inside of agent_ws.c: frames of an open connection.
 * Theory of operation: small frames are read many at a time into rx; of a long one only the beginning is, the rest goes
 * from the socket to where the message is put together. A frame for the agent was masked while it was copied into the
 * queue and leaves it once it is sent as a whole. Answers to pings, and the close, go between two frames. */
#ifndef HOLDER_AGENT_WS_FRAMES_H
#define HOLDER_AGENT_WS_FRAMES_H

#include "supervisor/holder/agent_ws.h"

#define AGENT_WS_RX_SIZE 16384
#define AGENT_WS_TURN_BYTES ((size_t)256 << 10) /* per loop turn: other events must not wait */

void agent_ws_begin(struct agent_ws *w); /* a new connection, of which rx holds what came with the handshake */
void agent_ws_watch(struct agent_ws *w); /* waits for what is possible now: reading, writing */
void agent_ws_read(struct agent_ws *w);
void agent_ws_write(struct agent_ws *w);

/* While closing: reads and drops; 0 once the agent has closed. */
int agent_ws_discard(struct agent_ws *w);

/* agent_ws.c: the connection is over; the next one comes after a pause, if there can be one. */
void agent_ws_reopen(struct agent_ws *w);
void agent_ws_set_timer(struct agent_ws *w, double after);

#endif
