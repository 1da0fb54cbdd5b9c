/* supervisor/holder/agent_queue.h -- frames of the browser on their way to the agent: masked, in order. Pure.
 * A frame leaves once all of it was sent; one that was sent in part is sent again on the next connection. Behind one
 * that makes the agent close (client_frame.h) copies of what goes out are kept, as the agent does not read them when it
 * does. From the second time on nothing goes out behind one until it has closed: of a connection with frames that
 * nobody read it keeps two threads for ten seconds, and it has not many. Owns its frames. */
#ifndef HOLDER_AGENT_QUEUE_H
#define HOLDER_AGENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct agent_frame;

struct agent_queue {
    struct agent_frame *first, *last;
    size_t bytes; /* what the waiting ones cost, small ones for themselves too */
    size_t sent;  /* bytes of the first one */
    size_t bad;   /* of the waiting ones */
    bool dropped; /* agent_queue_again() found too many of them */

    struct agent_frame *kept, *kept_last;
    size_t kept_bytes;
    bool keeping; /* until agent_queue_forget() */
    bool minds;   /* it has closed behind a bad one: what follows such a one waits from now on until it has closed */
};

void agent_queue_release(struct agent_queue *q); /* can be used again */

#define AGENT_QUEUE_BAD_MOST 8 /* each costs a connection, and whoever is behind it waits */

/* Keeps a masked copy of one text frame: 0, or -1 when memory is short. 1: it was not taken, it is a bad one and as
 * many of those wait as may. */
int agent_queue_add(struct agent_queue *q, const void *data, size_t len);

/* The rest of a frame that was begun: 1, or 0 when there is none. */
size_t agent_queue_rest(const struct agent_queue *q, struct iovec *part);

/* Whole frames may go out, were there any: the agent has closed behind the bad one, or has taken its time. */
bool agent_queue_flows(const struct agent_queue *q);

/* Whole frames, behind that one, up to so many or the first ones that come to so many bytes: how many. */
size_t agent_queue_whole(const struct agent_queue *q, struct iovec *parts, size_t most, size_t bytes);

/* So many bytes of the first frame, or fewer, were sent: what of them was not its own. */
size_t agent_queue_sent(struct agent_queue *q, size_t n);

/* The connection is over. True: a frame that the agent never read to its end was given up, as the others wait behind
 * it. */
bool agent_queue_again(struct agent_queue *q);

void agent_queue_forget(struct agent_queue *q); /* no copies any more: the agent did not mind */

#endif
