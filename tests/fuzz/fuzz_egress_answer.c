/* Whatever a server sends: the same comes out however it is cut in pieces, nothing behind the head is touched, and the
 * head says once that the connection closes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/egress/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pass(struct buf *out, const char *data, size_t size, size_t piece)
{
    struct egress_answer a;
    size_t at, n;

    buf_init(out, 1 << 24);
    egress_answer_init(&a);
    for (at = 0; at < size; at += n) {
        n = size - at < piece ? size - at : piece;
        egress_answer_take(&a, data + at, n, out);
    }
    egress_answer_end(&a, out);
    egress_answer_release(&a);
    if (buf_failed(out))
        abort();
}

/* It was HTTP, and there is a line of ours behind which all is as it came. */
static void check_change(const char *data, size_t size, const struct buf *out)
{
    static const char line[] = "\nConnection: close\r\n";
    const char *p = out->data, *end = out->data + out->len;

    if (size < 7 || memcmp(data, "HTTP/1.", 7) != 0)
        abort();
    for (; (p = memmem(p, (size_t)(end - p), line, sizeof(line) - 1)); p++) {
        size_t rest = (size_t)(end - p) - (sizeof(line) - 1);

        if (rest <= size && memcmp(data + size - rest, end - rest, rest) == 0)
            return;
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, pieces;

    pass(&whole, (const char *)data, size, size ? size : 1);
    pass(&pieces, (const char *)data, size, 1 + size % 7);
    if (whole.len != pieces.len || (whole.len && memcmp(whole.data, pieces.data, whole.len) != 0))
        abort();
    if (whole.len != size || (size && memcmp(whole.data, data, size) != 0))
        check_change((const char *)data, size, &whole);
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
