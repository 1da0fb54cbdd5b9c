/* tests/support/fake_service.h -- a supervisor and its holders, scripted, in a child process: for tests of the worker.
 */
#ifndef TESTS_SUPPORT_FAKE_SERVICE_H
#define TESTS_SUPPORT_FAKE_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"
#include "shared/ipc/rpc.h"

struct fake_plan {
    enum err_kind refuse[RPC_LIST + 1]; /* per request type: ERR_NONE = granted */
    unsigned wait;                      /* seconds of a refusal */
    bool refuse_cap_only;               /* RPC_ADMIT is refused for the cap, granted for the rate */
    uint32_t port;                      /* of RPC_CREATED */
    void (*holder)(int sock);           /* plays the holder of RPC_CREATE and RPC_OPEN, in a process of its own */
};

struct fake_service {
    char dir[40], socket[64];
    int asked; /* one letter per request: A(dmit) C(reate) I(nfo) O(pen) E(nd) H(ealth) */
    pid_t pid;
};

int fake_service_start(struct fake_service *f, const struct fake_plan *plan); /* 0 or -1 */

/* Ends it; the letters of all requests, in order, are appended to asked (NULL: nobody wants them). */
void fake_service_stop(struct fake_service *f, struct buf *asked);

#endif
