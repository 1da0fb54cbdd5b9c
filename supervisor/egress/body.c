#include "supervisor/egress/body.h"

#define SIZE_DIGITS_MAX 15

void egress_body_none(struct egress_body *b)
{
    *b = (struct egress_body){ .state = BODY_DONE };
}

void egress_body_length(struct egress_body *b, uint64_t length)
{
    *b = (struct egress_body){ .state = length ? BODY_LENGTH : BODY_DONE, .left = length };
}

void egress_body_chunked(struct egress_body *b)
{
    *b = (struct egress_body){ .state = BODY_CHUNK_SIZE };
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_size(struct egress_body *b, char c)
{
    int v = hex_value(c);

    if (c == '\r' && b->digits) {
        b->state = BODY_CHUNK_SIZE_LF;
        return 0;
    }
    if (v < 0 || b->digits == SIZE_DIGITS_MAX)
        return -1;
    b->left = b->left * 16 + (unsigned)v;
    b->digits++;
    return 0;
}

static int expect(struct egress_body *b, char c, char wanted, enum egress_body_state next)
{
    if (c != wanted)
        return -1;
    b->state = next;
    return 0;
}

static int take_control(struct egress_body *b, char c)
{
    switch (b->state) {
    case BODY_CHUNK_SIZE:
        return take_size(b, c);
    case BODY_CHUNK_SIZE_LF:
        return expect(b, c, '\n', b->left ? BODY_CHUNK_DATA : BODY_LAST);
    case BODY_CHUNK_END:
        return expect(b, c, '\r', BODY_CHUNK_END_LF);
    case BODY_CHUNK_END_LF:
        b->left = b->digits = 0;
        return expect(b, c, '\n', BODY_CHUNK_SIZE);
    case BODY_LAST:
        return expect(b, c, '\r', BODY_LAST_LF);
    default:
        return expect(b, c, '\n', BODY_DONE); /* BODY_LAST_LF */
    }
}

ssize_t egress_body_take(struct egress_body *b, const char *data, size_t len)
{
    size_t i = 0;

    while (i < len && b->state != BODY_DONE) {
        if (b->state == BODY_LENGTH || b->state == BODY_CHUNK_DATA) {
            size_t n = b->left < len - i ? (size_t)b->left : len - i;

            i += n;
            b->left -= n;
            if (!b->left)
                b->state = b->state == BODY_LENGTH ? BODY_DONE : BODY_CHUNK_END;
        } else if (take_control(b, data[i++]) < 0) {
            return -1;
        }
    }
    return (ssize_t)i;
}
