/* supervisor/holder/agent_ws_frames.h -- the inside of agent_ws.c: frames of an open connection, by way of wslay.
 * Messages are put together here, not by the library: their size is bounded before memory is taken. */
#ifndef HOLDER_AGENT_WS_FRAMES_H
#define HOLDER_AGENT_WS_FRAMES_H

#include "supervisor/holder/agent_ws.h"

#define AGENT_WS_RX_SIZE 65536
#define AGENT_WS_TURN_BYTES ((size_t)256 << 10) /* per loop turn: other events must not wait */

int agent_ws_new_context(struct agent_ws *w); /* 0, or -1 when memory is short */
void agent_ws_watch(struct agent_ws *w);      /* waits for what is possible now: reading, writing */
void agent_ws_read(struct agent_ws *w);
void agent_ws_write(struct agent_ws *w);

/* While closing: reads and drops; 0 once the agent has closed. */
int agent_ws_discard(struct agent_ws *w);

/* A frame was handed to the library: it is freed, or kept for the next connection. */
void agent_ws_passed(struct agent_ws *w, struct agent_ws_frame *f);

/* agent_ws.c: the connection is over, the next one comes after a pause. */
void agent_ws_reopen(struct agent_ws *w);
void agent_ws_set_timer(struct agent_ws *w, double after);

#endif
