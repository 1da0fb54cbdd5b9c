#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/keeper/child.h"
#include "supervisor/keeper/children.h"
#include "tests/support/oom.h"

static const struct child_user nobody = { "root", 0, 0 };

static void pauses_grow_to_half_a_minute(void **state)
{
    static const struct {
        unsigned crashes;
        int64_t ms;
    } rows[] = { { 0, 0 },    { 1, 0 },      { 5, 0 },      { 6, 1000 },   { 7, 2000 },   { 8, 4000 },
                 { 9, 8000 }, { 10, 16000 }, { 11, 30000 }, { 12, 30000 }, { 100, 30000 } };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(child_pause_ms(rows[i].crashes), rows[i].ms);
}

static void ends_now_and_then_cost_no_pause(void **state)
{
    struct child c = { .name = "x" };
    char how[64];
    int64_t now = 0;
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        c.started_ms = now;
        now += 2000;
        child_ended(&c, SIGKILL, now, how, sizeof(how));
        assert_int_equal(c.start_at_ms, now);
    }
}

static void an_end_that_was_asked_for_is_no_crash(void **state)
{
    struct child c = { .name = "x" };
    char how[64];
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        c.renewed = true;
        child_ended(&c, 0, 0, how, sizeof(how));
        assert_int_equal(c.start_at_ms, 0);
        assert_false(c.renewed);
    }
}

static void a_loop_of_ends_is_slowed_down(void **state)
{
    struct child c = { .name = "x" };
    char how[64];
    int64_t now = 0, began;
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        c.started_ms = now;
        child_ended(&c, 1 << 8, now + 10, how, sizeof(how));
        assert_int_equal(c.start_at_ms - now - 10, child_pause_ms((unsigned)i + 1));
        now = c.start_at_ms;
    }
    /* A minute of good life, and the next end is like the first. */
    began = c.started_ms = now;
    child_ended(&c, SIGSEGV, began + 60000, how, sizeof(how));
    assert_int_equal(c.crashes, 1);
    assert_int_equal(c.start_at_ms, began + 60000);
}

static void what_others_end_is_back_in_a_moment_however_often(void **state)
{
    static const int ends[] = { SIGKILL, SIGTERM, 0 };
    struct child c = { .name = "x" };
    char how[64];
    int64_t now = 0;
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        c.started_ms = now;
        child_ended(&c, ends[i % 3], now + 10, how, sizeof(how));
        assert_int_equal(c.start_at_ms - now - 10, i < 5 ? 0 : 250);
        now = c.start_at_ms;
    }
    /* That hides no loop of its own. */
    c.started_ms = now;
    child_ended(&c, SIGSEGV, now + 10, how, sizeof(how));
    assert_true(c.start_at_ms - now > 1000);
}

static void an_end_is_told_in_words(void **state)
{
    struct child c = { .name = "x", .pid = 1 };
    char how[64];

    (void)state;
    child_ended(&c, 3 << 8, 10, how, sizeof(how));
    assert_string_equal(how, "exited with status 3");
    assert_int_equal(c.pid, 0);
    child_ended(&c, SIGSEGV, 20, how, sizeof(how));
    assert_non_null(strstr(how, "signal 11"));
}

/* Runs /bin/sh -c script with its sockets and gives what it printed. */
static void run_shell(struct child *c, const char *script, struct buf *out, int *ret_status)
{
    int ends[2], saved = dup(STDOUT_FILENO);
    struct err err;

    assert_int_equal(pipe(ends), 0);
    c->argv[0] = "/bin/sh";
    c->argv[1] = "-c";
    c->argv[2] = script;
    (void)fflush(stdout);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    assert_int_equal(child_start(c, &nobody, 1, &err), 0);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    close(ends[1]);
    assert_int_equal(io_read_rest(ends[0], out, &err), 0);
    close(ends[0]);
    assert_int_equal(waitpid(c->pid, ret_status, 0), c->pid);
}

static void sockets_are_handed_over_by_name(void **state)
{
    auto_buf struct buf out;
    struct child c = { .name = "x", .sockets_len = 2 };
    int one[2], two[2], status;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(pipe(one), 0);
    assert_int_equal(pipe(two), 0);
    c.sockets[0] = (struct child_socket){ "first", one[1] };
    c.sockets[1] = (struct child_socket){ "second", two[1] };
    run_shell(&c, "echo $LISTEN_FDS $LISTEN_FDNAMES; [ $LISTEN_PID = $$ ] && echo mine; echo a >&3; echo b >&4", &out,
              &status);
    assert_string_equal(out.data, "2 first:second\nmine\n");
    close(one[1]);
    close(two[1]);
    buf_clear(&out);
    assert_int_equal(io_read_rest(one[0], &out, NULL), 0);
    assert_int_equal(io_read_rest(two[0], &out, NULL), 0);
    assert_string_equal(out.data, "a\nb\n");
    close(one[0]);
    close(two[0]);
}

static void a_fastcgi_socket_becomes_standard_input(void **state)
{
    auto_buf struct buf out;
    struct child c = { .name = "x", .sockets_len = 1, .socket_is_stdin = true };
    int ends[2], status;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "in\n", 3), 3);
    close(ends[1]);
    c.sockets[0] = (struct child_socket){ "fcgi", ends[0] };
    run_shell(&c, "cat; echo ${LISTEN_FDS:-none}", &out, &status);
    assert_string_equal(out.data, "in\nnone\n");
    close(ends[0]);
}

static void a_library_is_preloaded(void **state)
{
    auto_buf struct buf out;
    struct child c = { .name = "x", .preload = "/dev/null" };
    int status;

    (void)state;
    buf_init(&out, 4096);
    run_shell(&c, "echo $LD_PRELOAD", &out, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(out.data, "/dev/null\n"));
}

static void it_does_not_start_without_what_it_needs_to_forget(void **state)
{
    auto_buf struct buf out;
    struct child c = { .name = "x", .preload = "/nonexistent" };
    int status;

    (void)state;
    buf_init(&out, 4096);
    run_shell(&c, "echo started", &out, &status);
    assert_int_equal(WEXITSTATUS(status), 126);
    assert_null(strstr(out.data ? out.data : "", "started"));
}

static void who_is_in_no_hurry_gives_way(void **state)
{
    auto_buf struct buf out;
    struct child c = { .name = "x", .nice = 5 };
    int status;

    (void)state;
    buf_init(&out, 4096);
    run_shell(&c, "nice", &out, &status);
    assert_int_equal(status, 0);
    assert_string_equal(out.data, "5\n");
}

static void a_program_that_is_missing_ends_with_127(void **state)
{
    struct child c = { .name = "missing", .argv = { "/nonexistent/program" } };
    struct err err;
    int status;

    (void)state;
    assert_int_equal(child_start(&c, &nobody, 1, &err), 0);
    assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
    assert_int_equal(WEXITSTATUS(status), 127);
}

static struct config settings(void)
{
    return (struct config){ .program_dir = (char *)(uintptr_t) "/p",
                            .nginx = (char *)(uintptr_t) "/n",
                            .nginx_conf = (char *)(uintptr_t) "/n.conf",
                            .workers = 3 };
}

static void the_table_has_every_process_in_order(void **state)
{
    static const char *const names[] = { "nginx",           "agentsim-launcher", "agentsim-supervisor",
                                         "agentsim-fcgi 1", "agentsim-fcgi 2",   "agentsim-fcgi 3" };
    struct keeper_sockets s = { { 10, 11, 12 } };
    struct config c = settings();
    struct children all;
    struct err err;
    size_t i;

    (void)state;
    assert_int_equal(children_make(&c, "/c.yaml", &s, &all, &err), 0);
    assert_int_equal(all.len, ARRAY_LEN(names));
    for (i = 0; i < all.len; i++) {
        assert_string_equal(all.items[i].name, names[i]);
        assert_int_equal(all.items[i].service_user, i > 1);
    }
    assert_string_equal(all.items[2].argv[0], "/p/agentsim-supervisor");
    assert_string_equal(all.items[2].argv[2], "/c.yaml");
    assert_int_equal(all.items[2].sockets_len, 2);
    assert_string_equal(all.items[0].argv[2], "/n.conf");
    assert_ptr_equal(children_find(&all, "nginx"), &all.items[0]);
    assert_null(children_find(&all, "apache"));
    children_release(&all);
}

static void short_memory_leaves_no_table(void **state)
{
    struct keeper_sockets s = { { 10, 11, 12 } };
    struct config c = settings();

    (void)state;
    OOM_SWEEP({
        struct children all;
        struct err err;

        if (children_make(&c, NULL, &s, &all, &err) == 0)
            children_release(&all);
        else
            assert_int_equal(err.kind, ERR_INTERNAL);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_grow_to_half_a_minute),
        cmocka_unit_test(ends_now_and_then_cost_no_pause),
        cmocka_unit_test(an_end_that_was_asked_for_is_no_crash),
        cmocka_unit_test(a_loop_of_ends_is_slowed_down),
        cmocka_unit_test(what_others_end_is_back_in_a_moment_however_often),
        cmocka_unit_test(an_end_is_told_in_words),
        cmocka_unit_test(sockets_are_handed_over_by_name),
        cmocka_unit_test(a_fastcgi_socket_becomes_standard_input),
        cmocka_unit_test(a_library_is_preloaded),
        cmocka_unit_test(it_does_not_start_without_what_it_needs_to_forget),
        cmocka_unit_test(who_is_in_no_hurry_gives_way),
        cmocka_unit_test(a_program_that_is_missing_ends_with_127),
        cmocka_unit_test(the_table_has_every_process_in_order),
        cmocka_unit_test(short_memory_leaves_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
