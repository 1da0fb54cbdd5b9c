#include "shared/ipc/wire.h"

#include <string.h>

void wire_put_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, sizeof(v));
}

void wire_put_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof(v));
}

void wire_put_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof(v));
}

void wire_put_id(struct buf *b, const struct id *id)
{
    buf_add(b, id->b, sizeof(id->b));
}

void wire_put_str(struct buf *b, const char *s)
{
    wire_put_bytes(b, s ? s : "", s ? strlen(s) : 0);
}

void wire_put_bytes(struct buf *b, const void *data, size_t len)
{
    if (len > UINT32_MAX) {
        b->failed = true;
        return;
    }
    wire_put_u32(b, (uint32_t)len);
    buf_add(b, data, len);
    buf_add_char(b, '\0'); /* so that readers can borrow it as a C string */
}

void wire_start(struct wire_in *in, const void *data, size_t len)
{
    *in = (struct wire_in){ .p = data, .left = len };
}

static void take(struct wire_in *in, void *out, size_t len)
{
    if (in->bad || in->left < len) {
        in->bad = true;
        memset(out, 0, len);
        return;
    }
    memcpy(out, in->p, len);
    in->p += len;
    in->left -= len;
}

uint8_t wire_get_u8(struct wire_in *in)
{
    uint8_t v;

    take(in, &v, sizeof(v));
    return v;
}

uint32_t wire_get_u32(struct wire_in *in)
{
    uint32_t v;

    take(in, &v, sizeof(v));
    return v;
}

uint64_t wire_get_u64(struct wire_in *in)
{
    uint64_t v;

    take(in, &v, sizeof(v));
    return v;
}

void wire_get_id(struct wire_in *in, struct id *ret)
{
    take(in, ret->b, sizeof(ret->b));
}

const void *wire_get_bytes(struct wire_in *in, size_t max, size_t *ret_len)
{
    size_t len = wire_get_u32(in);
    const uint8_t *data = in->p;

    if (in->bad || len > max || in->left < len + 1 || data[len] != '\0') {
        in->bad = true;
        *ret_len = 0;
        return "";
    }
    in->p += len + 1;
    in->left -= len + 1;
    *ret_len = len;
    return data;
}

const char *wire_get_str(struct wire_in *in, size_t max)
{
    size_t len;
    const char *s = wire_get_bytes(in, max, &len);

    if (memchr(s, '\0', len)) {
        in->bad = true;
        return "";
    }
    return s;
}

int wire_end(const struct wire_in *in)
{
    return in->bad || in->left ? -1 : 0;
}
