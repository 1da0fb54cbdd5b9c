/* What a peer on one of our sockets may send: messages and their fields. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 4096

static void must(bool fact)
{
    if (!fact)
        abort();
}

static void read_fields(const void *payload, size_t len)
{
    struct rpc_session session;
    struct rpc_status status;
    struct wire_in in;
    struct err err;
    size_t n;

    wire_start(&in, payload, len);
    if (rpc_get_session(&in, &session) == 0)
        must(strlen(session.actor) <= RPC_ACTOR_MAX && strlen(session.state) <= RPC_TEXT_MAX);
    wire_start(&in, payload, len);
    if (rpc_get_status(&in, &status) == 0)
        must(strlen(status.sandbox) <= RPC_TEXT_MAX);
    wire_start(&in, payload, len);
    if (rpc_get_error(&in, &err) == 0)
        must(err.kind > ERR_NONE && err.kind < ERR__MAX);
    wire_start(&in, payload, len);
    while (!in.bad && in.left) {
        wire_get_u8(&in);
        wire_get_bytes(&in, MOST, &n);
        must(n <= MOST);
    }
    wire_end(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame_reader r;
    const void *payload;
    struct err err;
    uint16_t type;
    size_t len, seen = 0;
    int s[2], more;

    if (size > 65536 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
        return 0;
    must(io_write_all(s[0], data, size) == 0);
    close(s[0]);
    frame_reader_init(&r, MOST);
    while ((more = frame_reader_fill(&r, s[1], &err)) == 1) {
        while ((more = frame_reader_next(&r, &type, &payload, &len, &err)) == 1) {
            auto_free char *exact = mem_dup(payload, len); /* reads behind the end are seen */

            must(len <= MOST && (seen += FRAME_HEADER + len) <= size);
            read_fields(exact, len);
        }
        if (more < 0)
            break;
    }
    frame_reader_release(&r);
    close(s[1]);
    return 0;
}
