#include "tests/support/supervisor_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/log.h"
#include "shared/base/time.h"
#include "shared/ipc/version.h"
#include "shared/ipc/wire.h"

static char text_empty[] = "", text_token[] = "s3cret";

static void on_tick(struct ev_loop *loop, struct ev_timer *w, int revents)
{
    (void)loop;
    (void)w;
    (void)revents;
}

void fixture_turn(struct fixture *f)
{
    ev_run(f->sv.loop, EVRUN_NOWAIT);
}

void fixture_pass(struct fixture *f)
{
    struct ev_timer tick;

    ev_timer_init(&tick, on_tick, .002, 0.);
    ev_timer_start(f->sv.loop, &tick);
    ev_run(f->sv.loop, EVRUN_ONCE);
    ev_timer_stop(f->sv.loop, &tick);
}

static int door(const struct fixture *f, const char *file, int kind)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", f->dir, file);
    unlink(a.sun_path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

void fixture_open(struct fixture *f)
{
    fixture_open_pool(f, 0);
}

void fixture_open_pool(struct fixture *f, int64_t warm_pool)
{
    char path[80];
    struct err err;
    int i;

    log_setup("agentsim", false, LOG__MAX); /* what happens is asserted, not read */
    memset(f, 0, sizeof(*f));
    snprintf(f->dir, sizeof(f->dir), "/tmp/agentsim-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(path, sizeof(path), "%s/holders", f->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    f->launcher = -1;
    for (i = 0; i < FIXTURE_SLOTS; i++)
        f->holders[i] = -1;
    f->config = (struct config){ .runtime_dir = f->dir,
                                 .max_sessions = FIXTURE_SLOTS,
                                 .max_sessions_per_actor = 1,
                                 .session_lifetime_s = 900,
                                 .detach_s = 60,
                                 .ping_s = 25,
                                 .port_pool_start = 7700,
                                 .warm_pool = warm_pool,
                                 .egress = EGRESS_NONE,
                                 .api_token = text_token,
                                 .cors_origins = text_empty,
                                 .deployment_url = text_empty };
    f->launcher_door = door(f, "launcher.sock", SOCK_SEQPACKET);
    f->sv.config = &f->config;
    f->sv.loop = ev_loop_new(EVBACKEND_EPOLL);
    f->sv.quota = quota_new(&(struct quota_rule){ 60000, 12, 100 });
    assert_true(f->sv.loop && f->sv.quota);
    f->sv.signins = (struct signin_desk){ .loop = f->sv.loop, .table = signins_new(&signins_usual) }; /* no file */
    assert_non_null(f->sv.signins.table);
    assert_int_equal(sessions_init(&f->sv.sessions, f->sv.loop, &f->config, &err), 0);
    rpc_server_start(&f->sv.rpc, f->sv.loop, door(f, "supervisor.sock", SOCK_STREAM), supervisor_call, &f->sv);
}

void fixture_close(struct fixture *f)
{
    char path[80];
    uint32_t i;

    rpc_server_release(&f->sv.rpc);
    sessions_release(&f->sv.sessions);
    signin_desk_release(&f->sv.signins);
    quota_free(f->sv.quota);
    ev_loop_destroy(f->sv.loop);
    close(f->launcher_door);
    if (f->launcher >= 0)
        close(f->launcher);
    for (i = 0; i < FIXTURE_SLOTS; i++)
        fixture_close_holder(f, i);
    snprintf(path, sizeof(path), "%s/launcher.sock", f->dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/supervisor.sock", f->dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/holders", f->dir);
    rmdir(path);
    rmdir(f->dir);
}

/* ---- launcher ---- */

void fixture_connect_launcher(struct fixture *f)
{
    if (f->launcher >= 0)
        close(f->launcher);
    fixture_wait(f, (f->launcher = accept4(f->launcher_door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
}

static void tell(struct fixture *f, const struct launch_msg *m)
{
    assert_int_equal(send(f->launcher, m, sizeof(*m), MSG_NOSIGNAL), sizeof(*m));
    fixture_turn(f);
}

void fixture_tell(struct fixture *f, enum launch_op op, uint32_t slot, const struct id *id, int64_t value)
{
    struct launch_msg m = { .magic = LAUNCH_MAGIC, .op = op, .slot = slot, .value = value };

    if (op == LAUNCH_READY)
        m.slot = launch_version(IPC_VERSION, IPC_OLDEST);

    if (id)
        m.id = *id;
    tell(f, &m);
}

void fixture_tell_slot(struct fixture *f, uint32_t slot, enum launch_slot_state state, const struct id *id)
{
    struct launch_msg m = { .magic = LAUNCH_MAGIC, .op = LAUNCH_SLOT, .slot = slot, .state = state };

    if (id)
        m.id = *id;
    tell(f, &m);
}

struct launch_msg fixture_asked(struct fixture *f, enum launch_op op)
{
    struct launch_msg m = { 0 };

    fixture_wait(f, recv(f->launcher, &m, sizeof(m), MSG_DONTWAIT) == sizeof(m));
    assert_int_equal(m.magic, LAUNCH_MAGIC);
    assert_int_equal(m.op, op);
    return m;
}

void fixture_asked_nothing(struct fixture *f)
{
    char byte;

    fixture_turn(f);
    assert_int_equal(recv(f->launcher, &byte, 1, MSG_DONTWAIT), -1);
}

void fixture_ready(struct fixture *f)
{
    struct launch_msg m;
    uint16_t type;
    uint32_t i;
    auto_buf struct buf b;
    int probe;

    buf_init(&b, 4096);
    sessions_start(&f->sv.sessions);
    fixture_connect_launcher(f);
    for (i = 0; i < FIXTURE_SLOTS; i++)
        fixture_tell_slot(f, i, LAUNCH_SLOT_FREE, NULL);
    fixture_tell(f, LAUNCH_READY, 0, NULL, FIXTURE_SLOTS);
    m = fixture_asked(f, LAUNCH_START);
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    probe = fixture_accept_holder(f, m.slot);
    assert_int_equal(fixture_recv(f, probe, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_PROBE);
    buf_clear(&b);
    wire_put_u8(&b, 1);
    wire_put_str(&b, "");
    fixture_send(probe, HOLD_PROBED, b.data, b.len);
    m = fixture_asked(f, LAUNCH_STOP);
    close(probe);
    fixture_close_holder(f, m.slot);
    fixture_tell(f, LAUNCH_CLEAN, m.slot, NULL, 0);
    assert_true(selftest_allows(&f->sv.sessions.selftest));
}

/* ---- holders ---- */

void fixture_open_holder(struct fixture *f, uint32_t slot)
{
    char file[32];

    snprintf(file, sizeof(file), "holders/%u.sock", slot);
    f->holders[slot] = door(f, file, SOCK_STREAM);
}

void fixture_close_holder(struct fixture *f, uint32_t slot)
{
    char path[SESSIONS_PATH_MAX];

    if (f->holders[slot] < 0)
        return;
    close(f->holders[slot]);
    f->holders[slot] = -1;
    snprintf(path, sizeof(path), "%s/holders/%u.sock", f->dir, slot);
    unlink(path);
}

int fixture_accept_holder(struct fixture *f, uint32_t slot)
{
    int fd;

    fixture_wait(f, (fd = accept4(f->holders[slot], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    return fd;
}

void fixture_identify(struct fixture *f, int control, const struct id *id, const char *actor)
{
    auto_buf struct buf b;

    buf_init(&b, 4096);
    wire_put_id(&b, id);
    wire_put_str(&b, actor);
    wire_put_u64(&b, (uint64_t)time_wall_ms() - 1000);
    wire_put_u64(&b, (uint64_t)time_wall_ms() + 899000);
    fixture_send(control, HOLD_IDENTITY, b.data, b.len);
    fixture_turn(f);
}

void fixture_phase(struct fixture *f, int control, enum hold_phase phase)
{
    auto_buf struct buf b;

    buf_init(&b, 64);
    wire_put_u8(&b, (uint8_t)phase);
    wire_put_u8(&b, 0);
    wire_put_u64(&b, 5);
    fixture_send(control, HOLD_PHASE, b.data, b.len);
    fixture_turn(f);
}

static void on_created(struct waiter *w, struct session *s, const struct err *err)
{
    (void)w;
    assert_non_null(s);
    assert_null(err);
}

struct session *fixture_session(struct fixture *f, const char *actor, int *ret_control)
{
    struct create_request r = { 0 };
    struct launch_msg m;
    struct session *s;
    uint16_t type;
    auto_buf struct buf b;

    buf_init(&b, 4096);
    waiter_init(&r.waiter, on_created);
    id_new(&r.id);
    snprintf(r.actor, sizeof(r.actor), "%s", actor);
    sessions_create(&f->sv.sessions, &r);
    m = fixture_asked(f, LAUNCH_START);
    assert_true(id_equal(&m.id, &r.id));
    fixture_open_holder(f, m.slot);
    fixture_tell(f, LAUNCH_STARTED, m.slot, &m.id, 1);
    s = session_table_find(&f->sv.sessions.table, &r.id);
    assert_non_null(s);
    *ret_control = fixture_accept_holder(f, m.slot);
    assert_int_equal(fixture_recv(f, *ret_control, &type, &b, NULL), 1);
    assert_int_equal(type, HOLD_CONTROL);
    fixture_identify(f, *ret_control, &r.id, actor);
    fixture_phase(f, *ret_control, HOLD_READY);
    fixture_wait(f, s->state == SESSION_READY);
    return s;
}

/* ---- sockets of the test ---- */

int fixture_connect(struct fixture *f, const char *file)
{
    char path[SESSIONS_PATH_MAX];
    struct err err;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    fd = io_unix_connect(path, true, &err);
    assert_true(fd >= 0);
    return fd;
}

void fixture_send(int fd, uint16_t type, const void *payload, size_t len)
{
    char header[FRAME_HEADER] = { 0 };
    uint32_t length = (uint32_t)len;

    memcpy(header, &length, sizeof(length));
    memcpy(header + 4, &type, sizeof(type));
    assert_int_equal(send(fd, header, sizeof(header), MSG_NOSIGNAL), sizeof(header));
    if (len)
        assert_int_equal(send(fd, payload, len, MSG_NOSIGNAL), len);
}

size_t fixture_read(struct fixture *f, int fd, void *data, size_t len)
{
    size_t got = 0;
    ssize_t n = 0;

    while (got < len) {
        fixture_wait(f, (n = recv(fd, (char *)data + got, len - got, MSG_DONTWAIT)) >= 0 || errno != EAGAIN);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

int fixture_recv(struct fixture *f, int fd, uint16_t *ret_type, struct buf *payload, int *ret_fd)
{
    char header[FRAME_HEADER];
    uint32_t len;
    ssize_t n = 0;
    int passed = -1;

    fixture_wait(f, (n = io_recv_fd(fd, header, sizeof(header), &passed)) >= 0 || errno != EAGAIN);
    if (n <= 0)
        return 0;
    assert_int_equal((size_t)n + fixture_read(f, fd, header + n, sizeof(header) - (size_t)n), sizeof(header));
    memcpy(&len, header, sizeof(len));
    memcpy(ret_type, header + 4, sizeof(*ret_type));
    buf_clear(payload);
    assert_int_equal(buf_reserve(payload, len), 0);
    payload->len = fixture_read(f, fd, payload->data, len);
    assert_int_equal(payload->len, len);
    if (ret_fd)
        *ret_fd = passed;
    else
        assert_int_equal(passed, -1);
    return 1;
}

/* ---- who asks ---- */

static void on_create(struct waiter *w, struct session *s, const struct err *err)
{
    struct asker *a = list_entry(w, struct asker, request.waiter);

    a->told++;
    a->session = s;
    err_clear(&a->err);
    if (err)
        a->err = *err;
}

static void on_end(struct waiter *w, struct session *s, const struct err *err)
{
    struct asker *a = list_entry(w, struct asker, end);

    (void)s;
    a->ended++;
    err_clear(&a->err);
    if (err)
        a->err = *err;
}

void asker_init(struct asker *a)
{
    *a = (struct asker){ 0 };
    waiter_init(&a->request.waiter, on_create);
    waiter_init(&a->end, on_end);
}

void asker_ask(struct fixture *f, struct asker *a, const char *actor)
{
    asker_init(a);
    id_new(&a->request.id);
    snprintf(a->request.actor, sizeof(a->request.actor), "%s", actor);
    sessions_create(&f->sv.sessions, &a->request);
}
