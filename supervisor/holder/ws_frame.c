#include "supervisor/holder/ws_frame.h"

#include <string.h>

#include "shared/base/str.h"

#define FINAL 0x80
#define RESERVED 0x70
#define MASKED 0x80

bool ws_is_control(const struct ws_head *head)
{
    return head->opcode >= WS_CLOSE;
}

static bool is_in_order(const struct ws_head *head, bool inside)
{
    switch (head->opcode) {
    case WS_CONTINUATION:
        return inside;
    case WS_TEXT:
    case WS_BINARY:
        return !inside;
    case WS_CLOSE:
    case WS_PING:
    case WS_PONG:
        return head->final && head->len <= WS_CONTROL_MAX;
    }
    return false;
}

static uint64_t big_endian(const uint8_t *data, size_t n)
{
    uint64_t value = 0;
    size_t i;

    for (i = 0; i < n; i++)
        value = value << 8 | data[i];
    return value;
}

int ws_head_parse(const uint8_t *data, size_t len, bool inside, struct ws_head *ret)
{
    struct ws_head head;
    size_t more;

    if (len < 2)
        return 0;
    if ((data[0] & RESERVED) || (data[1] & MASKED))
        return -1;
    head = (struct ws_head){ (enum ws_opcode)(data[0] & 0x0f), data[0] & FINAL, data[1] };
    more = data[1] == 126 ? 2 : data[1] == 127 ? 8 : 0;
    if (!is_in_order(&head, inside))
        return -1;
    if (len < 2 + more)
        return 0;
    if (more)
        head.len = big_endian(data + 2, more);
    /* The shortest form is the only one, and the highest bit is none of the length. */
    if ((more == 2 && head.len < 126) || (more == 8 && (head.len <= UINT16_MAX || head.len > INT64_MAX)))
        return -1;
    *ret = head;
    return (int)(2 + more);
}

size_t ws_head_put(uint8_t out[WS_HEAD_MAX], enum ws_opcode opcode, size_t len, uint32_t key)
{
    size_t more = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8, total = 2 + more + sizeof(key), i;
    uint8_t *p = out + WS_HEAD_MAX - total;

    p[0] = (uint8_t)(FINAL | opcode);
    p[1] = (uint8_t)(MASKED | (more == 0 ? len : more == 2 ? 126 : 127));
    for (i = 0; i < more; i++)
        p[2 + i] = (uint8_t)(len >> (8 * (more - 1 - i)));
    memcpy(p + 2 + more, &key, sizeof(key));
    return total;
}

/* As much as every processor that we know takes at once, wherever it lies. */
typedef uint32_t keys __attribute__((vector_size(16), aligned(1), may_alias));

void ws_mask(void *out, const void *in, size_t len, uint32_t key)
{
    const keys four = { key, key, key, key };
    const uint8_t *from = in;
    uint8_t *to = out, bytes[sizeof(key)];
    size_t i = 0;

    for (; i + sizeof(four) <= len; i += sizeof(four))
        *(keys *)(to + i) = *(const keys *)(from + i) ^ four;
    memcpy(bytes, &key, sizeof(key));
    for (; i < len; i++)
        to[i] = from[i] ^ bytes[i % sizeof(bytes)];
}

unsigned ws_close_answer(const uint8_t *payload, size_t len)
{
    unsigned code;

    if (len == 0)
        return 0;
    if (len == 1)
        return 1002;
    code = (unsigned)big_endian(payload, 2);
    if (code < 1000 || (code >= 1004 && code <= 1006) || (code > 1011 && code < 3000) || code > 4999)
        return 1002;
    return utf8_valid((const char *)payload + 2, len - 2) ? code : 1007;
}
