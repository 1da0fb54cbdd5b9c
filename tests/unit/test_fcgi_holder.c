#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fcgi/holder.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/ipc/rpc.h"
#include "shared/ipc/wire.h"

/* A holder in a child process; *ret_fd is the worker's end. */
static pid_t play(void (*holder)(int sock), int *ret_fd)
{
    int s[2];
    pid_t pid;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    pid = fork();
    if (pid == 0) {
        close(s[0]);
        holder(s[1]);
        _exit(0);
    }
    close(s[1]);
    *ret_fd = s[0];
    return pid;
}

static void join(pid_t pid, int status)
{
    int got;

    assert_int_equal(waitpid(pid, &got, 0), pid);
    assert_int_equal(got, status << 8);
}

static void say(int sock, enum hold_type type, const struct buf *payload)
{
    struct err err;

    if (frame_send(sock, (uint16_t)type, payload, -1, &err) < 0)
        _exit(2);
}

static void say_failed(int sock, enum err_kind kind)
{
    struct err why = { .kind = kind, .msg = "the sandbox broke" };
    auto_buf struct buf b;

    buf_init(&b, 1000);
    rpc_put_error(&b, &why);
    say(sock, HOLD_FAILED, &b);
}

static uint16_t hear(int sock, struct buf *payload)
{
    struct err err;
    uint16_t type = 0;

    return frame_recv(sock, &type, payload, NULL, &err) == 1 ? type : 0;
}

/* ---- the bundle ---- */

#define BIG (3u * HOLD_CHUNK + 7)

/* Exits with 0 when everything came in order and whole. */
static void careful_holder(int sock)
{
    auto_buf struct buf m;
    auto_buf struct buf b;
    struct wire_in in;
    size_t len, big = 0;
    int files = 0;
    uint16_t type;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    buf_init(&b, 100);
    if (hear(sock, &m) != HOLD_BUNDLE || m.len || hear(sock, &m) != HOLD_DIR)
        _exit(10);
    while ((type = hear(sock, &m)) == HOLD_FILE) {
        const char *path;

        wire_start(&in, m.data, m.len);
        path = wire_get_str(&in, HOLD_PATH_MAX);
        wire_get_bytes(&in, HOLD_CHUNK, &len);
        if (wire_end(&in) < 0)
            _exit(11);
        files++;
        if (strcmp(path, "big") == 0)
            big += len;
        else if (strcmp(path, "empty") == 0 && len)
            _exit(12);
    }
    wire_start(&in, m.data, m.len);
    if (type != HOLD_ENV || strcmp(wire_get_str(&in, 100), "KEY") != 0 || strcmp(wire_get_str(&in, 100), "v") != 0)
        _exit(13);
    if (hear(sock, &m) != HOLD_START || files != 6 || big != BIG)
        _exit(14);
    wire_put_u32(&b, 8765);
    say(sock, HOLD_STARTED, &b);
    buf_release(&m);
    buf_release(&b);
}

static void make_bundle(struct bundle *b)
{
    char *big = mem_zalloc(1, BIG);
    struct err err;

    *b = (struct bundle){ 0 };
    assert_int_equal(bundle_add(b, "agent.py", "x = 1\n", 6, &err), 0);
    assert_int_equal(bundle_add(b, "big", big, BIG, &err), 0);
    assert_int_equal(bundle_add(b, "empty", "", 0, &err), 0);
    b->directories.items = mem_zalloc(1, sizeof(char *));
    b->directories.items[0] = mem_strdup("data");
    b->directories.len = b->directories.cap = 1;
    mem_free(big);
}

static int start(void (*holder)(int sock), struct err *err, uint32_t *ret_port, bool *ret_told, int holder_status)
{
    const struct env_pair env = { "KEY", "v" };
    struct bundle b;
    pid_t pid;
    int fd, r;

    make_bundle(&b);
    pid = play(holder, &fd);
    r = holder_start(fd, &b, &env, 1, ret_port, ret_told, err);
    join(pid, holder_status);
    bundle_release(&b);
    return r;
}

static void a_program_is_handed_over_whole_and_in_order(void **state)
{
    struct err err = { 0 };
    uint32_t port = 0;
    bool told;

    (void)state;
    if (start(careful_holder, &err, &port, &told, 0) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(port, 8765);
    assert_false(told);
}

static void early_failure(int sock)
{
    auto_buf struct buf m;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    hear(sock, &m);
    say_failed(sock, ERR_UNAVAILABLE);
    close(sock);
    buf_release(&m);
}

static void late_failure(int sock)
{
    auto_buf struct buf m;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    while (hear(sock, &m) != HOLD_START)
        ;
    say_failed(sock, ERR_INTERNAL);
    buf_release(&m);
}

static void death(int sock)
{
    close(sock);
}

static void garbage(int sock)
{
    char byte;

    io_write_all(sock, "SSH-2.0-OpenSSH\r\n", 17);
    while (read(sock, &byte, 1) == 1) /* the worker ends first */
        ;
}

static void wrong_word(int sock)
{
    auto_buf struct buf m;

    buf_init(&m, HOLD_MAX_PAYLOAD);
    while (hear(sock, &m) != HOLD_START)
        ;
    say(sock, HOLD_LAST, NULL);
    buf_release(&m);
}

static void failures_keep_the_holders_words_or_say_that_it_is_gone(void **state)
{
    static const struct {
        void (*holder)(int sock);
        enum err_kind kind;
        bool told;
    } rows[] = {
        { early_failure, ERR_UNAVAILABLE, true }, { late_failure, ERR_INTERNAL, true }, { death, ERR_UPSTREAM, false },
        { garbage, ERR_UPSTREAM, false },         { wrong_word, ERR_UPSTREAM, false },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        uint32_t port = 77;
        bool told;

        assert_int_equal(start(rows[i].holder, &err, &port, &told, 0), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_int_equal(told, rows[i].told);
        assert_int_equal(port, 77);
        if (told)
            assert_string_equal(err.msg, "the sandbox broke");
    }
}

/* ---- waiting ---- */

static void one_byte_at_a_time(int sock)
{
    static const uint8_t header[] = { 0xd0, 7, 0, 0, HOLD_DATA & 0xff, 0, 0, 0 }; /* and 2000 bytes */

    io_write_all(sock, header, sizeof(header));
    while (io_write_all(sock, "x", 1) == 0)
        usleep(10000);
}

static void silence(int sock)
{
    char byte;

    (void)!read(sock, &byte, 1);
}

static void a_slow_holder_costs_the_deadline_only(void **state)
{
    static void (*const holders[])(int sock) = { silence, one_byte_at_a_time };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(holders); i++) {
        struct holder_link l;
        struct err err;
        enum hold_type type;
        const void *payload;
        int64_t before = time_mono_ms();
        size_t len;
        pid_t pid;
        int fd;

        pid = play(holders[i], &fd);
        assert_int_equal(holder_link_init(&l, fd, 200, &err), 0);
        assert_int_equal(holder_receive(&l, &type, &payload, &len, &err), -1);
        assert_int_equal(err.kind, ERR_UNAVAILABLE);
        assert_in_range(time_mono_ms() - before, 190, 15000); /* one byte at a time would take 20 s */
        holder_link_release(&l);
        join(pid, 0);
    }
}

static void never_reads(int sock)
{
    (void)sock;
    pause();
}

static void a_holder_that_does_not_read_is_given_up(void **state)
{
    auto_buf struct buf b;
    struct holder_link l;
    struct err err;
    pid_t pid;
    int fd, r = 0, i;

    (void)state;
    buf_init(&b, 1 << 20);
    buf_add_repeat(&b, 'x', HOLD_CHUNK);
    pid = play(never_reads, &fd);
    assert_int_equal(holder_link_init(&l, fd, 100, &err), 0);
    for (i = 0; i < 100 && r == 0; i++)
        r = holder_send(&l, HOLD_FILE, &b, &err);
    assert_int_equal(r, -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
    holder_link_release(&l);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- files ---- */

static void put_entry(struct buf *b, uint8_t kind, const char *path, size_t path_len, const char *content)
{
    buf_clear(b);
    wire_put_u8(b, kind);
    wire_put_bytes(b, path, path_len);
    wire_put_u64(b, 5);
    wire_put_u8(b, content != NULL);
    wire_put_bytes(b, content, content ? strlen(content) : 0);
}

static void entries_are_read_with_care(void **state)
{
    auto_buf struct buf b;
    struct holder_file f;
    struct err err;
    size_t n;

    (void)state;
    buf_init(&b, 1000);
    put_entry(&b, HOLD_ENTRY_FILE, "a", 1, "hello");
    assert_int_equal(holder_get_entry(b.data, b.len, &f, &err), 0);
    assert_false(f.directory);
    assert_true(f.has_content);
    assert_int_equal(f.content_len, 5);
    assert_int_equal(f.size, 5);
    for (n = 0; n < b.len; n++)
        assert_int_equal(holder_get_entry(b.data, n, &f, &err), -1);
    put_entry(&b, HOLD_ENTRY_DIR, "d", 1, NULL);
    assert_int_equal(holder_get_entry(b.data, b.len, &f, &err), 0);
    assert_true(f.directory && !f.has_content);
    put_entry(&b, HOLD_ENTRY_FILE, "", 0, NULL);
    assert_int_equal(holder_get_entry(b.data, b.len, &f, &err), -1);
    put_entry(&b, HOLD_ENTRY_FILE, "a\0b", 3, NULL);
    assert_int_equal(holder_get_entry(b.data, b.len, &f, &err), -1);
    assert_int_equal(err.kind, ERR_UPSTREAM);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_handed_over_whole_and_in_order),
        cmocka_unit_test(failures_keep_the_holders_words_or_say_that_it_is_gone),
        cmocka_unit_test(a_slow_holder_costs_the_deadline_only),
        cmocka_unit_test(a_holder_that_does_not_read_is_given_up),
        cmocka_unit_test(entries_are_read_with_care),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
