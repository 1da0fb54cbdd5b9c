/* Frames of agents, HTML among them, as `agentsim chat` shows them: whatever they say, nothing drives the terminal. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/cli/show.h"
#include "shared/cli/show_html.h"

#define MAX_INPUT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct buf *out)
{
    size_t i;

    for (i = 0; i < out->len; i++)
        if ((unsigned char)out->data[i] < 0x20 && out->data[i] != '\n' && out->data[i] != '\t')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_dup(data, size);
    struct show s = { .trace = true, .output = true };
    auto_buf struct buf frame, page;

    buf_init(&frame, 8u << 20);
    buf_init(&page, 8u << 20);
    if (!text || size > MAX_INPUT)
        return 0;
    show_frame(&s, text, size, &frame);
    check(&frame);
    show_html(text, strlen(text), &page);
    check(&page);
    if (!page.len)
        abort();
    show_release(&s);
    return 0;
}
