/* supervisor/hold_event.h -- what a holder said, as a checked struct. A holder runs under a session's UID, beside the
 * agent: its words are parsed once, here, within bounds; anything unexpected ends that connection. Pure. */
#ifndef SUPERVISOR_HOLD_EVENT_H
#define SUPERVISOR_HOLD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/base/id.h"
#include "shared/ipc/hold.h"

/* Who may say what: one connection has one role (hold.h). */
enum hold_role { HOLD_ROLE_CONTROL = 1, HOLD_ROLE_ATTACH = 2, HOLD_ROLE_PROBE = 4 };

struct hold_event {
    enum hold_type type;
    union {
        struct {
            struct id id;
            const char *actor; /* borrowed from the message, like data and text below; "": nobody's yet */
            int64_t started_wall_ms, expires_wall_ms;
        } identity;
        struct {
            enum hold_phase phase;
            bool attached;
            uint64_t frames;
        } phase;
        struct {
            enum hold_reason reason; /* never NONE */
            int32_t code;
        } end; /* HOLD_GONE, HOLD_EXIT */
        struct {
            uint64_t from, lost;
        } attached;
        struct {
            uint64_t number;
            size_t offset; /* of the text in the message, for writers that need the bytes in front of it */
            size_t len;
        } frame;
        struct {
            enum hold_warm state;
            const char *why;
        } warm;
        struct {
            uint32_t number, oldest;
        } version;
        struct {
            bool ok;
            const char *text;
        } probed;
    };
};

/* Does this role ever say something of that type? */
bool hold_event_known(enum hold_role role, uint16_t type);

/* 0, or -1: this role never says that, or the fields are not as they must be. */
int hold_event_parse(enum hold_role role, uint16_t type, const void *payload, size_t len, struct hold_event *ret);

#endif
