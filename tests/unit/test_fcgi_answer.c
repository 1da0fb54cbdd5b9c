#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fcgi/holder.h"
#include "fcgi/worker.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/wire.h"
#include "shared/json/json.h"
#include "shared/python/parser.h"
#include "tests/support/fake_service.h"
#include "tests/support/run_program.h"
#include "tests/support/settings.h"

#define HELLO \
    "{\"title\":\"Hello\",\"model\":{\"type\":\"AgentDiagram\",\"elements\":{" \
    "\"i\":{\"id\":\"i\",\"type\":\"StateInitialNode\",\"name\":\"\",\"bounds\":{}}," \
    "\"s\":{\"id\":\"s\",\"type\":\"AgentState\",\"name\":\"hello\",\"bodies\":[\"b\"],\"fallbackBodies\":[]}," \
    "\"b\":{\"id\":\"b\",\"type\":\"AgentStateBody\",\"name\":\"Hi!\",\"owner\":\"s\",\"replyType\":\"text\"}}," \
    "\"relationships\":{\"r\":{\"id\":\"r\",\"type\":\"AgentStateTransitionInit\"," \
    "\"source\":{\"element\":\"i\"},\"target\":{\"element\":\"s\"}}}}"
#define CUSTOM "\"x\":{\"id\":\"x\",\"type\":\"AgentStateBody\",\"actionType\":\"CustomCodeAction\",\"name\":\"\"},"

struct scene { /* one service and one worker */
    struct fake_service service;
    struct config config;
    struct worker worker;
};

struct answer {
    int status;
    struct buf headers, body;
};

/* The parser is built beside the test programs. */
static void open_scene(struct scene *s, const struct fake_plan *plan)
{
    char self[PROGRAM_PATH];
    struct err err;

    assert_int_equal(program_beside("", self), 0);
    assert_int_equal(fake_service_start(&s->service, plan), 0);
    assert_int_equal(config_load_env(&s->config, &err), 0);
    assert_int_equal(put_setting(&s->config, "runtime_dir", s->service.dir, &err), 0);
    assert_int_equal(put_setting(&s->config, "program_dir", self, &err), 0);
    assert_int_equal(put_setting(&s->config, "require_auth", "no", &err), 0);
    assert_int_equal(put_setting(&s->config, "api_token", "token", &err), 0);
    if (worker_init(&s->worker, &s->config, &err) < 0)
        fail_msg("%s", err.msg);
}

/* asked: what the service was asked, in order. */
static void close_scene(struct scene *s, const char *asked)
{
    auto_buf struct buf b;

    buf_init(&b, 1000);
    worker_release(&s->worker);
    config_release(&s->config);
    fake_service_stop(&s->service, &b);
    assert_string_equal(b.data ? b.data : "", asked);
}

static int keep(void *port, const void *data, size_t len)
{
    return buf_add(port, data, len);
}

static void ask(struct scene *s, const char *method, const char *uri, const char *body, const char *extra,
                struct answer *ret)
{
    char m[40], u[400], e[300], internal[] = "SURFACE=internal";
    char *params[] = { m,
                       u,
                       (char[]){ "SURFACE=public" },
                       (char[]){ "REMOTE_ADDR=192.0.2.1" },
                       (char[]){ "CONTENT_TYPE=application/json" },
                       e,
                       NULL };
    struct request rq;
    struct reply rp;
    struct err err;

    snprintf(m, sizeof(m), "REQUEST_METHOD=%s", method);
    snprintf(u, sizeof(u), "REQUEST_URI=%s", uri);
    snprintf(e, sizeof(e), "%s", extra ? extra : "X=");
    if (extra && strncmp(extra, "HTTP_X_AGENT", 12) == 0)
        params[2] = internal;
    buf_init(&ret->body, 1 << 20);
    buf_init(&ret->headers, 1 << 20);
    assert_int_equal(request_init(&rq, params, &err), 0);
    if (body)
        buf_add_str(&rq.body, body);
    reply_init(&rp, keep, &ret->body);
    worker_answer(&s->worker, &rq, &rp);
    ret->status = rp.status;
    if (rp.streaming) { /* status and headers are in front */
        const char *end = strstr(ret->body.data, "\r\n\r\n");

        buf_add(&ret->headers, ret->body.data, (size_t)(end - ret->body.data));
        buf_consume(&ret->body, (size_t)(end + 4 - ret->body.data));
    } else {
        buf_add(&ret->headers, rp.headers.data, rp.headers.len);
        buf_add(&ret->body, rp.body.data, rp.body.len);
    }
    buf_add_str(&ret->headers, "");
    buf_add_str(&ret->body, "");
    reply_release(&rp);
    request_release(&rq);
}

static void drop(struct answer *a)
{
    buf_release(&a->headers);
    buf_release(&a->body);
}

static void expect(struct scene *s, const char *method, const char *uri, const char *body, const char *extra,
                   int status, const char *part)
{
    struct answer a;

    ask(s, method, uri, body, extra, &a);
    if (a.status != status || (part && !strstr(a.body.data, part) && !strstr(a.headers.data, part)))
        fail_msg("%s %s: %d %s%s", method, uri, a.status, a.headers.data, a.body.data);
    drop(&a);
}

#define VALIDATE "/besser_api/simulation/validate"
#define SESSIONS "/besser_api/simulation/sessions"
#define ID "0f8fad5b-d9cb-469f-a165-70867728950e"
#define TOKEN "HTTP_X_AGENT_SIMULATOR_TOKEN=token"

/* ---- holders ---- */

static void starts(int sock)
{
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct err err;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 100);
    while (frame_recv(sock, &type, &m, NULL, &err) == 1 && type != HOLD_START)
        ;
    wire_put_u32(&b, 7703);
    frame_send(sock, HOLD_STARTED, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

static void fails(int sock)
{
    struct err why = { .kind = ERR_INTERNAL, .msg = "/var/lib/agentsim/slots/3: no space" }, err;
    auto_buf struct buf m;
    auto_buf struct buf b;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 1000);
    while (frame_recv(sock, &type, &m, NULL, &err) == 1 && type != HOLD_START)
        ;
    rpc_put_error(&b, &why);
    frame_send(sock, HOLD_FAILED, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

static void dies(int sock)
{
    close(sock);
}

/* Succeeds only when config.yaml holds the port of the slot, and both ways of the credential came. */
static void looks_inside(int sock)
{
    bool port = false, key = false, env = false;
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct err err;
    struct wire_in in;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 100);
    while (frame_recv(sock, &type, &m, NULL, &err) == 1 && type != HOLD_START) {
        if (type == HOLD_FILE && memmem(m.data, m.len, "config.yaml", 11)) {
            port = memmem(m.data, m.len, "7703", 4);
            key = memmem(m.data, m.len, "sk-123", 6);
        }
        wire_start(&in, m.data, m.len);
        if (type == HOLD_ENV)
            env =
                strcmp(wire_get_str(&in, 100), "OPENAI_API_KEY") == 0 && strcmp(wire_get_str(&in, 100), "sk-123") == 0;
    }
    wire_put_u32(&b, port && key && env ? 7703 : 1);
    frame_send(sock, HOLD_STARTED, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

static void put_entry(struct buf *b, uint8_t kind, const char *path, uint64_t size, const char *content)
{
    buf_clear(b);
    wire_put_u8(b, kind);
    wire_put_str(b, path);
    wire_put_u64(b, size);
    wire_put_u8(b, content != NULL);
    wire_put_str(b, content);
}

static void has_files(int sock)
{
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct err err;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 1 << 20);
    if (frame_recv(sock, &type, &m, NULL, &err) != 1)
        _exit(1);
    if (type == HOLD_LIST) {
        put_entry(&b, HOLD_ENTRY_FILE, "a\"\xff.txt", 2, "x\xfe");
        frame_send(sock, HOLD_ENTRY, &b, -1, &err);
        put_entry(&b, HOLD_ENTRY_FILE, "big", 600000, NULL);
        frame_send(sock, HOLD_ENTRY, &b, -1, &err);
        put_entry(&b, HOLD_ENTRY_DIR, "data", 0, NULL);
        frame_send(sock, HOLD_ENTRY, &b, -1, &err);
    } else {
        put_entry(&b, HOLD_ENTRY_FILE, "a", 5, NULL);
        frame_send(sock, HOLD_ENTRY, &b, -1, &err);
        buf_clear(&b);
        wire_put_bytes(&b, "hello", 5);
        frame_send(sock, HOLD_DATA, &b, -1, &err);
    }
    buf_clear(&b);
    wire_put_u8(&b, 0);
    frame_send(sock, HOLD_LAST, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

static void has_no_such_file(int sock)
{
    struct err why = { .kind = ERR_NOT_FOUND, .msg = "no such file" }, err;
    auto_buf struct buf m;
    auto_buf struct buf b;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 1000);
    if (frame_recv(sock, &type, &m, NULL, &err) != 1)
        _exit(1);
    rpc_put_error(&b, &why);
    frame_send(sock, HOLD_FAILED, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

static void stops_in_the_middle(int sock)
{
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct err err;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 1000);
    if (frame_recv(sock, &type, &m, NULL, &err) != 1)
        _exit(1);
    put_entry(&b, HOLD_ENTRY_FILE, "a", 10, NULL);
    frame_send(sock, HOLD_ENTRY, &b, -1, &err);
    buf_clear(&b);
    wire_put_bytes(&b, "hello", 5);
    frame_send(sock, HOLD_DATA, &b, -1, &err);
    buf_release(&m);
    buf_release(&b);
}

/* ---- the order of checks ---- */

static void the_body_is_looked_at_before_anything_else(void **state)
{
    const struct fake_plan plan = { .refuse[RPC_ADMIT] = ERR_LIMIT };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    s.config.require_auth = true;
    expect(&s, "POST", VALIDATE, "{", NULL, 422, "json_invalid");
    expect(&s, "POST", SESSIONS, "{}", NULL, 422, "missing");
    expect(&s, "POST", VALIDATE, HELLO "}", NULL, 401, "Sign in");
    expect(&s, "GET", "/besser_api/simulation/limits", NULL, NULL, 401, NULL);
    expect(&s, "GET", SESSIONS "/x/files", NULL, NULL, 401, NULL); /* sign-in, then the id */
    s.config.require_auth = false;
    expect(&s, "GET", SESSIONS "/x/files", NULL, NULL, 400, "no UUID");
    close_scene(&s, "");
}

static void the_rate_comes_before_the_restriction_and_tells_how_long(void **state)
{
    const struct fake_plan plan = { .refuse[RPC_ADMIT] = ERR_LIMIT, .wait = 23 };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "POST", SESSIONS, "{\"title\":\"T\",\"model\":{\"elements\":{" CUSTOM "\"y\":{}}}}", NULL, 429,
           "Retry-After: 23");
    expect(&s, "POST", VALIDATE, HELLO "}", NULL, 429, "Retry-After: 23");
    close_scene(&s, "AA");
}

static void the_restriction_comes_before_the_cap(void **state)
{
    const struct fake_plan plan = { .refuse[RPC_ADMIT] = ERR_LIMIT, .refuse_cap_only = true };
    static const char custom[] = "{\"title\":\"T\",\"model\":{\"elements\":{" CUSTOM "\"y\":{}}}}";
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "POST", SESSIONS, custom, NULL, 403, "custom");
    expect(&s, "POST", VALIDATE, custom, NULL, 200,
           "{\"valid\":false,\"agentCode\":\"\",\"eventList\":[],\"errors\":[\"");
    expect(&s, "POST", SESSIONS, "{\"title\":\"T\",\"model\":{\"elements\":[1]}}", NULL, 429,
           NULL); /* before compiling */
    close_scene(&s, "AAAA");
}

static void a_diagram_that_does_not_compile_never_reaches_the_service(void **state)
{
    const struct fake_plan plan = { .port = 8765, .holder = dies };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    s.config.api_token[0] = '\0'; /* a missing token is told last */
    expect(&s, "POST", SESSIONS, "{\"title\":\"T\",\"model\":{\"elements\":[1]}}", NULL, 400, "model.elements");
    expect(&s, "POST", VALIDATE, "{\"title\":\"T\",\"model\":{\"elements\":[1]}}", NULL, 200, "\"valid\":false");
    expect(&s, "POST", SESSIONS, "{\"title\":\"T\\u0000\",\"model\":{}}", NULL, 400, "U+0000");
    expect(&s, "POST", VALIDATE, "{\"title\":\"T\\u0000\",\"model\":{}}", NULL, 200, "U+0000");
    expect(&s, "POST", VALIDATE, HELLO ",\"configYaml\":\"a: [1\"}", NULL, 200, "\"valid\":false");
    expect(&s, "POST", SESSIONS, HELLO ",\"configYaml\":\"a: [1\"}", NULL, 400, "line");
    expect(&s, "POST", SESSIONS, HELLO "}", NULL, 503, "AGENT_SIMULATOR_API_TOKEN");
    close_scene(&s, "AAAAAAAAAAA");
}

static void validate_shows_the_program_and_starts_nothing(void **state)
{
    const struct fake_plan plan = { .port = 8765, .holder = dies };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "POST", VALIDATE, HELLO "}", NULL, 200, "{\"valid\":true,\"agentCode\":\"");
    close_scene(&s, "A");
}

/* ---- starting ---- */

static void a_session_starts_with_port_and_credentials_of_its_own(void **state)
{
    const struct fake_plan plan = { .port = 7703, .holder = looks_inside };
    struct answer a;
    struct scene s;
    struct id id;

    (void)state;
    open_scene(&s, &plan);
    ask(&s, "POST", SESSIONS, HELLO ",\"credentials\":{\"openAiApiKey\":\"sk-123\"}}", NULL, &a);
    assert_int_equal(a.status, 200);
    assert_int_equal(strncmp(a.body.data, "{\"sessionId\":\"", 14), 0);
    a.body.data[14 + ID_TEXT_LEN] = '\0';
    assert_int_equal(id_parse(a.body.data + 14, &id), 0);
    drop(&a);
    expect(&s, "POST", "/sessions",
           "{\"session_id\":\"" ID
           "\",\"agent_code\":\"x\",\"config_yaml\":\"a: 1\",\"env_vars\":{\"OPENAI_API_KEY\":\"sk-123\"}}",
           TOKEN, 200, "{\"session_id\":\"" ID "\",\"port\":7703}");
    close_scene(&s, "AACC");
}

static void a_start_that_fails_is_502_outside_and_500_inside_and_leaves_nothing(void **state)
{
    const struct fake_plan plan = { .port = 8765, .holder = fails };
    const struct fake_plan dead = { .port = 8765, .holder = dies };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "POST", SESSIONS, HELLO "}", NULL, 502, "could not start");
    expect(&s, "POST", "/sessions", "{\"session_id\":\"" ID "\",\"agent_code\":\"x\",\"config_yaml\":\"\"}", TOKEN, 500,
           NULL);
    close_scene(&s, "AACC"); /* the holder said so, it ends its session itself */
    open_scene(&s, &dead);
    expect(&s, "POST", SESSIONS, HELLO "}", NULL, 502, NULL);
    close_scene(&s, "AACE");
}

static void refusals_of_the_service_keep_their_status(void **state)
{
    static const struct {
        enum err_kind kind;
        int outside, inside;
    } rows[] = {
        { ERR_LIMIT, 429, 429 }, { ERR_UNAVAILABLE, 503, 503 }, { ERR_CONFLICT, 502, 400 }, { ERR_INTERNAL, 502, 500 }
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fake_plan plan = { .refuse[RPC_CREATE] = rows[i].kind };
        struct scene s;

        open_scene(&s, &plan);
        expect(&s, "POST", SESSIONS, HELLO "}", NULL, rows[i].outside, NULL);
        expect(&s, "POST", "/sessions", "{\"session_id\":\"" ID "\",\"agent_code\":\"x\",\"config_yaml\":\"\"}", TOKEN,
               rows[i].inside, NULL);
        close_scene(&s, "AACC");
    }
}

static void what_the_internal_surface_refuses_never_reaches_the_service(void **state)
{
    static const struct {
        const char *body, *part;
        int status;
    } rows[] = {
        { "{\"session_id\":\"x\",\"agent_code\":\"\",\"config_yaml\":\"\"}", "UUID", 400 },
        { "{\"session_id\":\"" ID "\",\"agent_code\":\"\",\"config_yaml\":\"- a\"}", NULL, 400 },
        { "{\"session_id\":\"" ID "\",\"agent_code\":\"\",\"config_yaml\":\"\",\"support_files\":{\"../x\":\"\"}}",
          "../x", 400 },
        { "{\"session_id\":\"" ID
          "\",\"agent_code\":\"\",\"config_yaml\":\"\",\"support_files\":{\"./agent.py\":\"\"}}",
          "twice", 400 },
        { "{\"session_id\":\"" ID "\",\"agent_code\":\"\",\"config_yaml\":\"\",\"workspace_paths\":[\"/\"]}", NULL,
          400 },
        { "{\"session_id\":\"" ID "\",\"agent_code\":\"\",\"config_yaml\":\"\",\"env_vars\":{\"K\":1}}",
          "[\"body\",\"env_vars\",\"K\"]", 422 },
        { "{\"session_id\":\"" ID "\"}", "config_yaml", 422 },
    };
    const struct fake_plan plan = { .port = 8765, .holder = starts };
    struct scene s;
    size_t i;

    (void)state;
    open_scene(&s, &plan);
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect(&s, "POST", "/sessions", rows[i].body, TOKEN, rows[i].status, rows[i].part);
    close_scene(&s, "");
}

/* ---- sessions ---- */

static void a_session_is_described(void **state)
{
    const struct fake_plan plan = { .port = 1 };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "GET", SESSIONS "/" ID, NULL, NULL, 200,
           "\"state\":\"ready\",\"startedAt\":\"2026-01-31T12:00:00.123Z\",\"expiresAt\":\"2026-01-31T12:15:00.123Z\","
           "\"attached\":false,\"framesSent\":7,\"exit\":null}");
    expect(&s, "DELETE", SESSIONS "/" ID, NULL, NULL, 200, "{\"ok\":true}");
    expect(&s, "DELETE", "/sessions/" ID, NULL, TOKEN, 200, "{\"ok\":true}");
    expect(&s, "GET", "/health", NULL, TOKEN, 200, "{\"status\":\"ok\",\"sessions\":2,\"sandbox\":\"ok\"");
    close_scene(&s, "IEEH");
}

static void sessions_of_others_do_not_exist(void **state)
{
    const struct fake_plan plan = {
        .refuse = { [RPC_INFO] = ERR_NOT_FOUND, [RPC_OPEN] = ERR_NOT_FOUND, [RPC_END] = ERR_NOT_FOUND }
    };
    static const char *const paths[] = { "", "/files", "/files/a", "/archive", "/transcript" };
    struct scene s;
    size_t i;

    (void)state;
    open_scene(&s, &plan);
    for (i = 0; i < ARRAY_LEN(paths); i++) {
        char uri[200];

        snprintf(uri, sizeof(uri), SESSIONS "/" ID "%s", paths[i]);
        expect(&s, "GET", uri, NULL, NULL, 404, "{\"detail\":\"There is no such session\"}");
    }
    expect(&s, "DELETE", SESSIONS "/" ID, NULL, NULL, 404, "{\"detail\":\"There is no such session\"}");
    expect(&s, "DELETE", "/sessions/" ID, NULL, TOKEN, 200, "{\"ok\":true}");
    close_scene(&s, "IOOOOEE");
}

static void files_are_listed_shown_and_packed(void **state)
{
    const struct fake_plan plan = { .holder = has_files };
    struct answer a;
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "GET", SESSIONS "/" ID "/files", NULL, NULL, 200,
           "{\"files\":[{\"path\":\"a\\\"\xef\xbf\xbd.txt\",\"content\":\"x\xef\xbf\xbd\"},"
           "{\"path\":\"big\",\"content\":\"(600000 bytes, not shown here; download the file to read it)\"}],"
           "\"directories\":[\"data\"]}");
    expect(&s, "GET", "/sessions/" ID "/files", NULL, TOKEN, 200, "\"directories\":[\"data\"]}");
    ask(&s, "GET", SESSIONS "/" ID "/files/d/a%20b", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body.data, "hello");
    assert_non_null(strstr(a.headers.data, "attachment; filename=\"a b\"; filename*=UTF-8''a%20b"));
    assert_non_null(strstr(a.headers.data, "application/octet-stream"));
    drop(&a);
    ask(&s, "GET", SESSIONS "/" ID "/archive", NULL, NULL, &a);
    assert_int_equal(a.status, 200);
    assert_memory_equal(a.body.data, "PK\3\4", 4);
    assert_non_null(memmem(a.body.data, a.body.len, "PK\5\6", 4));
    drop(&a);
    expect(&s, "GET", SESSIONS "/" ID "/files/..%2fx", NULL, NULL, 400, NULL);
    expect(&s, "GET", SESSIONS "/" ID "/files//etc/passwd", NULL, NULL, 400, NULL);
    close_scene(&s, "OOOO");
}

static void a_missing_file_is_404(void **state)
{
    const struct fake_plan plan = { .holder = has_no_such_file };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "GET", SESSIONS "/" ID "/files/a", NULL, NULL, 404, "no such file");
    close_scene(&s, "O");
}

static void a_download_that_breaks_off_is_cut(void **state)
{
    static const char *const uris[] = { SESSIONS "/" ID "/files/a", SESSIONS "/" ID "/archive" };
    const struct fake_plan plan = { .holder = stops_in_the_middle };
    struct scene s;
    size_t i;

    (void)state;
    open_scene(&s, &plan);
    for (i = 0; i < ARRAY_LEN(uris); i++) {
        char u[200];
        char *params[] = { (char[]){ "REQUEST_METHOD=GET" }, u, (char[]){ "SURFACE=public" }, NULL };
        auto_buf struct buf out;
        struct request rq;
        struct reply rp;
        struct err err;

        buf_init(&out, 1 << 20);
        snprintf(u, sizeof(u), "REQUEST_URI=%s", uris[i]);
        assert_int_equal(request_init(&rq, params, &err), 0);
        reply_init(&rp, keep, &out);
        worker_answer(&s.worker, &rq, &rp);
        assert_true(rp.streaming && rp.broken);
        assert_null(memmem(out.data, out.len, "PK\5\6", 4));
        reply_release(&rp);
        request_release(&rq);
    }
    close_scene(&s, "OO");
}

/* ---- the rest ---- */

static void the_token_comes_before_everything_inside(void **state)
{
    const struct fake_plan plan = { .port = 1 };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "GET", "/nowhere", NULL, "HTTP_X_AGENT_SIMULATOR_TOKEN=wrong", 401, NULL);
    expect(&s, "POST", "/sessions", "{", "HTTP_X_AGENT_SIMULATOR_TOKEN=", 401, NULL);
    expect(&s, "GET", "/nowhere", NULL, TOKEN, 404, "{\"detail\":\"Not Found\"}");
    s.config.api_token[0] = '\0';
    expect(&s, "GET", "/health", NULL, TOKEN, 503, NULL);
    expect(&s, "GET", "/health", NULL, "HTTP_X_AGENT_SIMULATOR_TOKEN=", 503, NULL);
    close_scene(&s, "");
}

static void without_a_supervisor_the_answer_is_503_and_names_no_path(void **state)
{
    const struct fake_plan plan = { .port = 1 };
    struct answer a;
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    unlink(s.service.socket);
    ask(&s, "POST", VALIDATE, HELLO "}", NULL, &a);
    assert_int_equal(a.status, 503);
    assert_null(strstr(a.body.data, ".sock"));
    drop(&a);
    expect(&s, "GET", "/health", NULL, NULL, 200, "{\"status\":\"ok\"}");
    expect(&s, "GET", "/health", NULL, TOKEN, 200, "\"degraded\"");
    close_scene(&s, "");
}

static void addresses_with_or_without_slash_are_redirected(void **state)
{
    const struct fake_plan plan = { .port = 1 };
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    expect(&s, "GET", "/health/", NULL, NULL, 307, "Location: /health\r\n");
    expect(&s, "POST", VALIDATE "/?a=b", "{}", NULL, 307, "Location: " VALIDATE "?a=b\r\n");
    expect(&s, "GET", SESSIONS "/" ID "/files/", NULL, NULL, 307, "Location: " SESSIONS "/" ID "/files\r\n");
    expect(&s, "GET", "/besser_api", NULL, NULL, 307, "Location: /besser_api/\r\n");
    expect(&s, "GET", "//health/", NULL, NULL, 404, NULL);
    expect(&s, "GET", "/nothing/", NULL, NULL, 404, NULL);
    expect(&s, "PUT", SESSIONS, NULL, NULL, 405, "Allow: POST\r\n");
    expect(&s, "GET", "/besser_api/simulation/" ID "/ws", NULL, NULL, 404, NULL);
    close_scene(&s, "");
}

static void downloads_and_judgements_need_no_service(void **state)
{
    const struct fake_plan plan = { .port = 1 };
    struct answer a, b;
    struct scene s;

    (void)state;
    open_scene(&s, &plan);
    ask(&s, "POST", "/besser_api/generate-output", HELLO ",\"generator\":\"agent\"}", NULL, &a);
    ask(&s, "POST", "/besser_api/generate-output", HELLO ",\"generator\":\"agent\"}", NULL, &b);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.headers.data, "agent_output.zip"));
    assert_int_equal(a.body.len, b.body.len);
    assert_memory_equal(a.body.data, b.body.data, a.body.len); /* equal input, equal bytes */
    drop(&a);
    drop(&b);
    expect(&s, "POST", "/besser_api/generate-output", HELLO ",\"generator\":\"java\"}", NULL, 400, "java");
    expect(&s, "POST", "/besser_api/generate-output", HELLO "}", NULL, 400, NULL);
    expect(&s, "POST", "/besser_api/generate-output",
           "{\"title\":\"T\",\"model\":{\"elements\":[1]},\"generator\":\"agent\"}", NULL, 400, "model.elements");
    expect(&s, "POST", "/besser_api/validate-diagram", HELLO "}", NULL, 200,
           "{\"isValid\":true,\"errors\":[],\"warnings\":[");
    expect(&s, "POST", "/besser_api/validate-diagram", "{\"title\":\"T\",\"model\":{\"elements\":[1]}}", NULL, 200,
           "{\"isValid\":false,\"errors\":[\"");
    close_scene(&s, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_is_looked_at_before_anything_else),
        cmocka_unit_test(the_rate_comes_before_the_restriction_and_tells_how_long),
        cmocka_unit_test(the_restriction_comes_before_the_cap),
        cmocka_unit_test(a_diagram_that_does_not_compile_never_reaches_the_service),
        cmocka_unit_test(validate_shows_the_program_and_starts_nothing),
        cmocka_unit_test(a_session_starts_with_port_and_credentials_of_its_own),
        cmocka_unit_test(a_start_that_fails_is_502_outside_and_500_inside_and_leaves_nothing),
        cmocka_unit_test(refusals_of_the_service_keep_their_status),
        cmocka_unit_test(what_the_internal_surface_refuses_never_reaches_the_service),
        cmocka_unit_test(a_session_is_described),
        cmocka_unit_test(sessions_of_others_do_not_exist),
        cmocka_unit_test(files_are_listed_shown_and_packed),
        cmocka_unit_test(a_missing_file_is_404),
        cmocka_unit_test(a_download_that_breaks_off_is_cut),
        cmocka_unit_test(the_token_comes_before_everything_inside),
        cmocka_unit_test(without_a_supervisor_the_answer_is_503_and_names_no_path),
        cmocka_unit_test(addresses_with_or_without_slash_are_redirected),
        cmocka_unit_test(downloads_and_judgements_need_no_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
