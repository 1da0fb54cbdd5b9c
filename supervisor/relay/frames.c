#include "supervisor/relay/frames.h"

#include <inttypes.h>
#include <string.h>

void frame_put_auth_ok(struct buf *b)
{
    buf_add_str(b, "{\"type\":\"auth_ok\"}");
}

void frame_put_resumed(struct buf *b, uint64_t from)
{
    buf_add_fmt(b, "{\"type\":\"auth_ok\",\"resumed\":true,\"from\":%" PRIu64 "}", from);
}

void frame_put_gap(struct buf *b, uint64_t lost)
{
    buf_add_fmt(b, "{\"type\":\"replay_gap\",\"lost\":%" PRIu64 "}", lost);
}

void frame_put_error(struct buf *b, const char *message)
{
    buf_add_str(b, "{\"type\":\"error\",\"message\":");
    buf_add_json_str(b, message, strlen(message));
    buf_add_char(b, '}');
}

void frame_put_exit(struct buf *b, enum hold_reason reason, int32_t code)
{
    buf_add_fmt(b, "{\"type\":\"exit\",\"reason\":\"%s\",\"code\":%" PRId32 "}", hold_reason_name(reason), code);
}
