#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fcgi/handlers/handlers.h"
#include "fcgi/holder.h"
#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "tests/support/fake_service.h"
#include "tests/support/settings.h"

/* A conversation, as a holder tells it; then one whose times run backwards. */
static void tells(int sock, bool backwards)
{
    static const struct {
        uint8_t who;
        uint64_t at;
        const char *text;
    } said[] = {
        { HOLD_SAID_AGENT, 10, "{\"action\":\"hi\",\"message\":{\"a\":1},\"message_id\":null,\"timestamp\":\"now\"}" },
        { HOLD_SAID_BROWSER, 2010, "{\"action\":\"user_message\",\"message\":\"x\"}" },
        { HOLD_SAID_BROWSER, 2020, "no JSON" },
        { HOLD_SAID_AGENT, 2500, "{\"action\":\"a\",\"message\":NaN}" },
    };
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct err err;
    uint16_t type;
    size_t i;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 1000);
    if (frame_recv(sock, &type, &m, NULL, &err) != 1 || type != HOLD_TRANSCRIPT)
        _exit(1);
    for (i = 0; i < ARRAY_LEN(said); i++) {
        buf_clear(&b);
        wire_put_u8(&b, said[i].who);
        wire_put_u64(&b, backwards ? 5000 - said[i].at : said[i].at);
        wire_put_str(&b, said[i].text);
        frame_send(sock, HOLD_SAID, &b, -1, &err);
    }
    buf_clear(&b);
    wire_put_u64(&b, 1769860800123);
    wire_put_u64(&b, 3);
    frame_send(sock, HOLD_SAID_ALL, &b, -1, &err);
}

static void tells_a_story(int sock)
{
    tells(sock, false);
}

static void tells_nonsense(int sock)
{
    tells(sock, true);
}

static int write_nothing(void *port, const void *data, size_t len)
{
    (void)port;
    (void)data;
    (void)len;
    return 0;
}

static void expect(void (*holder)(int sock), int status, const char *part)
{
    const struct fake_plan plan = { .holder = holder };
    char *params[] = { (char[]){ "REQUEST_METHOD=GET" }, (char[]){ "REQUEST_URI=/x" }, (char[]){ "SURFACE=public" },
                       (char[]){ "REMOTE_ADDR=192.0.2.1" }, NULL };
    struct fake_service service;
    struct worker w = { 0 };
    struct config config;
    struct request rq;
    struct reply rp;
    struct err err;
    auto_buf struct buf asked;
    char path[200];

    buf_init(&asked, 1000);
    assert_int_equal(fake_service_start(&service, &plan), 0);
    assert_int_equal(config_load_env(&config, &err), 0);
    assert_int_equal(put_setting(&config, "require_auth", "no", &err), 0);
    snprintf(path, sizeof(path), "%s/supervisor.sock", service.dir);
    w.config = &config;
    w.supervisor_socket = path;
    assert_int_equal(request_init(&rq, params, &err), 0);
    rq.args[0] = mem_strdup("0f8fad5b-d9cb-469f-a165-70867728950e");
    reply_init(&rp, write_nothing, NULL);
    handle_transcript(&w, &rq, &rp);
    if (rp.status != status || (part && !strstr(rp.body.data, part)))
        fail_msg("%d %s", rp.status, rp.body.data);
    reply_release(&rp);
    request_release(&rq);
    config_release(&config);
    fake_service_stop(&service, &asked);
    assert_string_equal(asked.data, "O");
}

static void a_transcript_is_a_scenario(void **state)
{
    (void)state;
    expect(tells_a_story, 200,
           "\"recordedAt\":\"2026-01-31T12:00:00.123Z\",\"cut\":{\"frames\":3},\"timeout_s\":20,\"quiet_s\":0.6,"
           "\"steps\":[\n"
           "  {\"expect\":[\n    {\"at_s\":0.010,\"action\":\"hi\",\"message\":{\"a\":1}}\n   ]},\n"
           "  {\"at_s\":2.010,\"send\":{\"action\":\"user_message\",\"message\":\"x\"},\"expect\":[],\"quiet_s\":0},\n"
           "  {\"at_s\":2.020,\"send_raw\":\"no JSON\",\"expect\":[\n"
           "    {\"at_s\":2.500,\"raw\":\"{\\\"action\\\":\\\"a\\\",\\\"message\\\":NaN}\"}\n   ]}\n]}\n");
}

static void a_transcript_that_makes_no_sense_is_502(void **state)
{
    (void)state;
    expect(tells_nonsense, 502, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transcript_is_a_scenario),
        cmocka_unit_test(a_transcript_that_makes_no_sense_is_502),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
