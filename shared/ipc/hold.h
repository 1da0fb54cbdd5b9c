/* shared/ipc/hold.h -- what a session's holder says and hears on its socket, RUNTIME_DIR/holders/<slot>.sock.
 * A connection's first message decides its role; roles never mix on one connection:
 *   control  the supervisor's: who owns the session, when it ends, what happened (one; a newer replaces it)
 *   bundle   a worker's, once: the program, then "started" or "failed"
 *   attach   the supervisor's, one per browser: frames out, frames in, back-pressure by not reading
 *   files    a worker's: listing and downloads
 *   transcript  a worker's: what was said in the session
 *   probe    the supervisor's, at its start: can this holder build the sandbox? No session follows.
 * A holder without a session (adr/0024): the control connection makes it ready, and another one gives it a session.
 * Anything unexpected ends that connection, never the session; a first message that is unknown is answered with
 * HOLD_FAILED. Fields are listed in wire order (wire.h). Versions: version.h. */
#ifndef IPC_HOLD_H
#define IPC_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#define HOLD_MAX_PAYLOAD (17u << 20) /* a 16 MiB frame and its fields */
#define HOLD_PATH_MAX 4096
#define HOLD_TEXT_MAX 4096
#define HOLD_CHUNK (256u << 10) /* file bytes per message, both ways */
#define HOLD_AFTER_DELIVERED UINT64_MAX

enum hold_type {
    /* control: supervisor -> holder */
    HOLD_CONTROL = 1, /* str actor, u64 wall ms of the start, u64 lifetime ms left: first message (adoption: lifetime 0
                         = keep all) */
    HOLD_END,         /* u8 enum hold_reason: end the session (browser and worker get the reason) */
    /* control: holder -> supervisor */
    HOLD_IDENTITY, /* id, str actor, u64 started wall ms, u64 expires wall ms: answer to HOLD_CONTROL */
    HOLD_PHASE,    /* u8 enum hold_phase, u8 attached, u64 frames so far: at once, then at each change */
    HOLD_GONE,     /* u8 enum hold_reason, u32 code: the agent has ended; sent once, before HOLD_DONE */
    HOLD_DONE,     /* nothing: nobody needs this holder any more (delivered or waited long enough); stop the slot */

    /* bundle: worker -> holder */
    HOLD_BUNDLE = 32, /* nothing: first message */
    HOLD_FILE,        /* str path, bytes chunk: appended to the file at this clean relative path */
    HOLD_DIR,         /* str path */
    HOLD_ENV,         /* str name, str value: a credential for the agent's environment */
    HOLD_START,       /* nothing: all is there, start */
    /* bundle: holder -> worker */
    HOLD_STARTED, /* u32 port the agent was told to listen on: the sandbox runs the interpreter */
    HOLD_FAILED,  /* u32 enum err_kind, u32 0, str sentence (as rpc_put_error): also answers files requests */

    /* attach: supervisor -> holder */
    HOLD_ATTACH =
        64,    /* u64 after: first message; send frames numbered from after + 1. after = HOLD_AFTER_DELIVERED: go on
                  where delivery stopped, that is behind the last frame written to an earlier attach connection */
    HOLD_SEND, /* bytes: one text frame of the browser, for the agent */
    /* attach: holder -> supervisor */
    HOLD_ATTACHED, /* u64 from, u64 lost: number of the next frame; frames after `after` that are gone. Numbers are the
                      client's count: from is after + 1 even when frames were lost, and 1 for HOLD_AFTER_DELIVERED */
    HOLD_FRAME,    /* u64 number, bytes: one text frame for the browser (the agent's, or stdout, state_change, error) */
    HOLD_EXIT,     /* u8 enum hold_reason, u32 code: after the last frame; the connection ends */

    /* files: worker -> holder */
    HOLD_LIST = 96, /* u64 most content bytes per file: listing with contents */
    HOLD_READ,      /* str path: one file: HOLD_ENTRY without content, its HOLD_DATA, HOLD_LAST; or HOLD_FAILED */
    HOLD_WALK,      /* nothing: listing and all contents, in HOLD_DATA chunks after each HOLD_ENTRY (archive).
                       A file may change meanwhile: its HOLD_DATA can be less than the size announced, never more.
                       One request per connection; tmp/ is neither listed nor read */
    /* files: holder -> worker */
    HOLD_ENTRY, /* u8 enum hold_entry, bytes path, u64 size, u8 has content, bytes content (when it fits the limit) */
    HOLD_DATA,  /* bytes: part of the file asked for, or of the entry just named */
    HOLD_LAST,  /* u8 truncated (limits of count or size cut the listing): end of the answer */

    /* transcript: worker -> holder */
    HOLD_TRANSCRIPT = 104, /* nothing: one request per connection */
    /* transcript: holder -> worker */
    HOLD_SAID,     /* u8 enum hold_said, u64 ms since the session began, bytes text of the frame: one each, in order */
    HOLD_SAID_ALL, /* u64 wall ms of the beginning, u64 frames that were not kept after those: the end of the answer */

    /* control: supervisor -> holder */
    HOLD_WARM_UP = 120, /* nothing: first message: build the sandbox now, with an interpreter that waits in it */
    HOLD_CLAIM, /* id, str actor, u64 wall ms of the start, u64 lifetime ms: first message: this session is what was
                   waited for. Answers as to HOLD_CONTROL. */
    /* control: holder -> supervisor */
    HOLD_WARM, /* u8 enum hold_warm, str why it is lost: at once, then at each change; also the answer to HOLD_CONTROL
                  as long as there is no session */

    HOLD_PROBE = 128, /* nothing: builds the sandbox once around a program that only checks it */
    HOLD_PROBED,      /* u8 ok, str reason (the failing step, the kernel's words, the likely cure) */

    /* control: supervisor -> holder */
    HOLD_PING = 130, /* nothing: not first: is somebody there? Answered at once, whatever the session does */
    /* control: holder -> supervisor */
    HOLD_PONG, /* nothing: one for each HOLD_PING */
    /* control, both: first word of the holder, before it answers to the first message; then, if the supervisor works
       with that, its answer */
    HOLD_VERSION, /* u32 version, u32 oldest it works with (version.h) */
};

enum hold_said { HOLD_SAID_BROWSER, HOLD_SAID_AGENT };

enum hold_entry { HOLD_ENTRY_FILE, HOLD_ENTRY_DIR };

enum hold_warm { HOLD_WARM_MAKING, HOLD_WARM_READY, HOLD_WARM_LOST, HOLD_WARM__MAX };

enum hold_phase { HOLD_WAITING, HOLD_STARTING, HOLD_READY, HOLD_ENDED, HOLD_PHASE__MAX };

/* Why a session ended; names are those of the exit frame (http-api contract, section 3). */
#define HOLD_REASONS(X) \
    X(NONE, "") \
    X(EXITED, "exited") \
    X(SIGNALED, "signaled") \
    X(EXPIRED, "expired") \
    X(MEMORY, "memory") X(CPU, "cpu") X(STOPPED, "stopped") X(OUTPUT, "output") X(START_FAILED, "start-failed")
enum hold_reason {
#define X(name, text) HOLD_REASON_##name,
    HOLD_REASONS(X)
#undef X
        HOLD_REASON__MAX
};

/* Port that a session's agent listens on: always the same inside its own network namespace, one per slot in a shared
 * one. */
#define HOLD_AGENT_PORT 8765
uint16_t hold_agent_port(bool shared_network, int64_t port_pool_start, uint32_t slot);

const char *hold_reason_name(enum hold_reason reason); /* "" for NONE and out of range */
const char *hold_phase_name(enum hold_phase phase);

#endif
