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
void agent_ws_drain(struct agent_ws *w, size_t most); /* reads what is there of an agent that has ended */

/* One more frame for the agent, not queued yet: NULL when memory is short. Free with mem_free(). */
struct agent_ws_frame *agent_ws_frame_new(const void *data, size_t len);

/* While closing: reads and drops; 0 once the agent has closed. */
int agent_ws_discard(struct agent_ws *w);

/* agent_ws.c: a frame was sent: it is freed, or kept for the next connection. */
void agent_ws_passed(struct agent_ws *w, struct agent_ws_frame *f);

/* agent_ws.c: the connection is over, the next one comes after a pause. */
void agent_ws_reopen(struct agent_ws *w);
void agent_ws_set_timer(struct agent_ws *w, double after);

#endif
