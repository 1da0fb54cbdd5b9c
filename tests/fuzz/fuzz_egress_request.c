/* Whatever an agent sends: what is passed on to a server is one well-formed head for the host that was checked, and a
 * body that ends where the same parser finds the end again. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "supervisor/egress/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(const struct egress_request *r)
{
    static const char close_line[] = "\r\nConnection: close\r\n\r\n";
    const char *p = r->head.data, *end = memmem(p, r->head.len, "\r\n\r\n", 4);
    size_t n = sizeof(close_line) - 1, i, hosts = 0;

    if (!end || (size_t)(end - p) + 4 != r->head.len || r->head.len < n ||
        memcmp(p + r->head.len - n, close_line, n) != 0)
        abort();
    for (i = 0; i < r->head.len; i++) {
        if (p[i] == '\0' || (p[i] == '\n' && (!i || p[i - 1] != '\r')) || (p[i] == '\r' && p[i + 1] != '\n'))
            abort();
        hosts += i > 0 && p[i - 1] == '\n' && strncasecmp(p + i, "host:", 5) == 0;
    }
    if (hosts != 1 || !memmem(p, r->head.len, " /", 2))
        abort();
}

static void check_body(struct egress_body whole, const char *data, size_t len)
{
    struct egress_body pieces = whole;
    ssize_t all = egress_body_take(&whole, data, len);
    size_t done = 0;

    while (done < len && pieces.state != BODY_DONE) {
        ssize_t n = egress_body_take(&pieces, data + done, 1);

        if (n < 0) {
            if (all >= 0)
                abort();
            return;
        }
        done += (size_t)n;
    }
    if (all < 0 || (size_t)all != done || pieces.state != whole.state)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char target[EGRESS_TARGET_TEXT], again[HOST_NAME_MAX_LEN + 1];
    struct egress_request r;
    struct err err = { 0 };
    struct address address;
    size_t scanned = 0, end = egress_head_end(text, size, &scanned);

    if (!end || egress_request_parse(text, end, &r, &err) < 0)
        return 0;
    egress_target_format(&r.target, target);
    memcpy(again, r.target.name, sizeof(again));
    if (*again ? host_name_check(again) < 0 || strcmp(again, r.target.name) != 0 || address_parse(again, &address) == 0
               : !r.target.address.family)
        abort();
    if (!r.target.port || r.tunnel == (r.head.len > 0))
        abort();
    if (!r.tunnel)
        check_head(&r);
    check_body(r.body, text + end, size - end);
    egress_request_release(&r);
    return 0;
}
