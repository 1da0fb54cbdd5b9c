#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/holder/ws_frame.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void headers_are_read_in_their_three_forms(void **state)
{
    static const struct {
        const uint8_t *data;
        size_t len;
        bool inside;
        int head_len;
        struct ws_head head;
    } rows[] = {
        { BYTES("\x81\x05hello"), false, 2, { WS_TEXT, true, 5 } },
        { BYTES("\x01\x00"), false, 2, { WS_TEXT, false, 0 } },
        { BYTES("\x02\x7d"), false, 2, { WS_BINARY, false, 125 } },
        { BYTES("\x80\x01"), true, 2, { WS_CONTINUATION, true, 1 } },
        { BYTES("\x81\x7e\x00\x7e"), false, 4, { WS_TEXT, true, 126 } },
        { BYTES("\x81\x7e\xff\xff"), false, 4, { WS_TEXT, true, 65535 } },
        { BYTES("\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"), false, 10, { WS_TEXT, true, 65536 } },
        { BYTES("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"), false, 10, { WS_TEXT, true, INT64_MAX } },
        { BYTES("\x89\x7d"), true, 2, { WS_PING, true, 125 } },
        { BYTES("\x8a\x00"), false, 2, { WS_PONG, true, 0 } },
        { BYTES("\x88\x02"), true, 2, { WS_CLOSE, true, 2 } },
    };
    size_t i, len;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct ws_head head = { WS_PONG, false, 77 };

        for (len = 0; len < (size_t)rows[i].head_len; len++)
            assert_int_equal(ws_head_parse(rows[i].data, len, rows[i].inside, &head), 0);
        assert_int_equal(head.len, 77); /* written only when it is whole */
        assert_int_equal(ws_head_parse(rows[i].data, rows[i].len, rows[i].inside, &head), rows[i].head_len);
        assert_int_equal(head.opcode, rows[i].head.opcode);
        assert_int_equal(head.final, rows[i].head.final);
        assert_int_equal(head.len, rows[i].head.len);
    }
}

static void what_breaks_the_protocol_is_refused(void **state)
{
    static const struct {
        const uint8_t *data;
        size_t len;
        bool inside;
    } rows[] = {
        { BYTES("\xc1\x00"), false },                                 /* reserved bits */
        { BYTES("\x91\x00"), false },                                 /* . */
        { BYTES("\x81\x80\0\0\0\0"), false },                         /* a server masks nothing */
        { BYTES("\x83\x00"), false },                                 /* unknown */
        { BYTES("\x8b\x00"), false },                                 /* . */
        { BYTES("\x80\x00"), false },                                 /* continues nothing */
        { BYTES("\x81\x00"), true },                                  /* a message inside another */
        { BYTES("\x82\x00"), true },                                  /* . */
        { BYTES("\x09\x00"), false },                                 /* a control frame in pieces */
        { BYTES("\x89\x7e\x00\x7e"), false },                         /* a long one */
        { BYTES("\x81\x7e\x00\x7d"), false },                         /* not the shortest form */
        { BYTES("\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff"), false }, /* . */
        { BYTES("\x81\x7f\x80\x00\x00\x00\x00\x01\x00\x00"), false }, /* more than there can be */
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct ws_head head;

        assert_int_equal(ws_head_parse(rows[i].data, rows[i].len, rows[i].inside, &head), -1);
    }
}

static void a_written_header_ends_at_the_payload(void **state)
{
    static const struct {
        size_t len, head_len;
        const char *head;
    } rows[] = {
        { 0, 6, "\x81\x80" },
        { 125, 6, "\x81\xfd" },
        { 126, 8, "\x81\xfe\x00\x7e" },
        { 65535, 8, "\x81\xfe\xff\xff" },
        { 65536, 14, "\x81\xff\x00\x00\x00\x00\x00\x01\x00\x00" },
    };
    const uint8_t key_bytes[] = { 1, 2, 3, 4 };
    uint8_t out[WS_HEAD_MAX];
    uint32_t key;
    size_t i;

    (void)state;
    memcpy(&key, key_bytes, sizeof(key));
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ws_head_put(out, WS_TEXT, rows[i].len, key), rows[i].head_len);
        assert_memory_equal(out + WS_HEAD_MAX - rows[i].head_len, rows[i].head, rows[i].head_len - 4);
        assert_memory_equal(out + WS_HEAD_MAX - 4, key_bytes, 4);
    }
}

static void masking_is_the_same_at_every_length_and_place(void **state)
{
    const uint8_t key_bytes[] = { 0x37, 0xfa, 0x21, 0x3d };
    uint8_t in[80], out[80];
    uint32_t key;
    size_t len, at, i;

    (void)state;
    memcpy(&key, key_bytes, sizeof(key));
    for (i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7 + 1);
    for (at = 0; at < 8; at++) {
        for (len = 0; at + len < sizeof(in); len++) {
            memset(out, 0xee, sizeof(out));
            ws_mask(out + at, in + at, len, key);
            for (i = 0; i < len; i++)
                assert_int_equal(out[at + i], in[at + i] ^ key_bytes[i % 4]);
            assert_int_equal(out[at + len], 0xee);
            ws_mask(out + at, out + at, len, key); /* in place, and back */
            assert_memory_equal(out + at, in + at, len);
        }
    }
}

static void a_close_is_answered_with_its_code_or_with_what_is_wrong(void **state)
{
    static const struct {
        const uint8_t *payload;
        size_t len;
        unsigned code;
    } rows[] = {
        { BYTES(""), 0 },
        { BYTES("\x03"), 1002 },
        { BYTES("\x03\xe8"), 1000 },
        { BYTES("\x03\xe9going away"), 1001 },
        { BYTES("\x03\xe7"), 1002 }, /* 999 */
        { BYTES("\x03\xec"), 1002 }, /* 1004 to 1006 are never sent */
        { BYTES("\x03\xed"), 1002 },
        { BYTES("\x03\xee"), 1002 },
        { BYTES("\x03\xf3"), 1011 },
        { BYTES("\x03\xf4"), 1002 }, /* 1012 */
        { BYTES("\x0b\xb7"), 1002 }, /* 2999 */
        { BYTES("\x0b\xb8"), 3000 },
        { BYTES("\x13\x87"), 4999 },
        { BYTES("\x13\x88"), 1002 }, /* 5000 */
        { BYTES("\x03\xe8\xff"), 1007 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(ws_close_answer(rows[i].payload, rows[i].len), rows[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_read_in_their_three_forms),
        cmocka_unit_test(what_breaks_the_protocol_is_refused),
        cmocka_unit_test(a_written_header_ends_at_the_payload),
        cmocka_unit_test(masking_is_the_same_at_every_length_and_place),
        cmocka_unit_test(a_close_is_answered_with_its_code_or_with_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
