/* What an agent may send before anything of it is trusted: output, the answer to our handshake, frames. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "supervisor/holder/lines.h"
#include "supervisor/holder/ws_frame.h"
#include "supervisor/holder/ws_upgrade.h"
#include "supervisor/launcher/sweep.h"
#include "supervisor/sandbox/spawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

static void on_line(void *arg, const char *line, size_t len)
{
    size_t *total = arg, name_len;
    const char *name;
    auto_buf struct buf b;

    *total += len;
    must(len <= LINES_PART_MAX && (len == 0 || !memchr(line, '\n', len)));
    buf_init(&b, 6 * LINES_PART_MAX + 256);
    lines_put_stdout(&b, line, len);
    must(!buf_failed(&b) && utf8_valid(b.data, b.len));
    if (!lines_state_name(line, len, &name, &name_len))
        return;
    must(name_len && name >= line && name + name_len < line + len);
    buf_clear(&b);
    lines_put_state(&b, name, name_len);
    must(!buf_failed(&b) && utf8_valid(b.data, b.len));
}

static void feed_lines(const char *data, size_t size, size_t step)
{
    struct lines l;
    size_t total = 0, i;

    lines_init(&l);
    for (i = 0; i < size; i += step)
        must(lines_feed(&l, data + i, i + step < size ? step : size - i, on_line, &total) == 0);
    lines_end(&l, on_line, &total);
    must(total <= size);
    lines_release(&l);
}

/* Frame after frame, as agent_ws_frames.c goes through them. */
static void read_frames(const uint8_t *data, size_t size)
{
    bool inside = false;
    size_t at = 0;

    while (at < size) {
        struct ws_head head;
        int n = ws_head_parse(data + at, size - at, inside, &head);

        must(n >= -1 && n <= 10 && n <= (int)(size - at));
        if (n <= 0)
            break;
        must(head.len <= INT64_MAX && (!ws_is_control(&head) || (head.final && head.len <= WS_CONTROL_MAX)));
        at += (size_t)n;
        if (head.len > size - at)
            break;
        if (head.opcode == WS_CLOSE) {
            unsigned code = ws_close_answer(data + at, (size_t)head.len);

            must(code == 0 || (code >= 1000 && code <= 4999));
        }
        if (!ws_is_control(&head))
            inside = !head.final;
        at += (size_t)head.len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *exact = NULL;
    uid_t ids[4];
    ptrdiff_t n;

    if (size < 2)
        return 0;
    exact = mem_dup(data + 1, size - 1);
    feed_lines(exact, size - 1, data[0] % 64 + 1u);
    n = ws_upgrade_answer(exact, size - 1, "dGhlIHNhbXBsZSBub25jZQ==", NULL);
    must(n <= (ptrdiff_t)size - 1);
    read_frames((const uint8_t *)exact, size - 1);
    must(spawn_parse_info(exact, size - 1) != 0);
    sweep_parse_status(exact, ids);
    return 0;
}
