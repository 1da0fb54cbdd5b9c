/* Bodies of uploads. The first line is the Content-Type; what is found lies inside of the body. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fcgi/multipart.h"
#include "shared/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    struct multipart_file file = { 0 };
    struct err err = { 0 };
    size_t len, at;
    char *type, *body;
    int rc;

    if (!end)
        return 0;
    at = (size_t)(end - data);
    len = size - at - 1;
    type = mem_dup(data, at);
    body = mem_zalloc(len + 1, 1); /* exactly as long, so that a read beyond is seen */
    must(type && body);
    memcpy(body, end + 1, len);
    rc = multipart_find(type, body, len, "buml_file", &file, &err);
    must(rc >= -1 && rc <= 1);
    must((rc == -1) == (err.kind != ERR_NONE));
    if (rc == 1)
        must(file.data >= body && file.len <= len && file.data - body <= (ptrdiff_t)(len - file.len));
    mem_free(file.filename);
    mem_free(type);
    mem_free(body);
    return 0;
}
