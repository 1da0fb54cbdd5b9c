/* supervisor/sandbox/pid1/report.h -- what agentsim-pid1 tells the holder on the socket named by its first argument:
 * fixed records, one a message, host byte order. The sandbox's other processes cannot reach the socket, but PID 1
 * shares their user: the reader still treats every record as hostile. */
#ifndef SANDBOX_PID1_REPORT_H
#define SANDBOX_PID1_REPORT_H

#include <stdint.h>

enum pid1_kind {
    PID1_READY = 1, /* the program runs (its execve succeeded) */
    PID1_FAILED,    /* value: errno of the failed start */
    PID1_LISTENS,   /* with a descriptor: the way out, before the program is started */
    PID1_DEAF,      /* value: errno; it could not be made, the program is not started */
    PID1_ENDED,     /* value: wait status of the program */
};

struct pid1_report {
    uint32_t kind;
    int32_t value;
    uint32_t cpu_ms; /* PID1_ENDED: processor time the program used */
};

#endif
