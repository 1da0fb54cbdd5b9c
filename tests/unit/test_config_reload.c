#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"
#include "tests/support/oom.h"

static char file[] = "/tmp/test_config_reload_XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void load(struct config *c, const char *text)
{
    struct err err;

    write_file(text);
    if (config_load(c, file, &err) < 0)
        fail_msg("%s", err.msg);
}

static void what_may_change_changes(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    load(&c, "session_lifetime_seconds: 100\napi_token: one\n");
    write_file("session_lifetime_seconds: 200\napi_token: two\ncors_origins: [https://a.example]\negress: none\n");
    assert_int_equal(config_reload(&c, file, &err), 0);
    assert_int_equal(c.session_lifetime_s, 200);
    assert_string_equal(c.api_token, "two");
    assert_string_equal(c.cors_origins, "https://a.example");
    assert_int_equal(c.egress, EGRESS_NONE);
    write_file("");
    assert_int_equal(config_reload(&c, file, &err), 0);
    assert_int_equal(c.session_lifetime_s, 900);
    assert_string_equal(c.api_token, "");
    config_release(&c);
}

static void texts_that_need_a_restart_stay_where_they_are(void **state)
{
    struct config c;
    struct err err;
    char *dir;

    (void)state;
    load(&c, "runtime_dir: /run/x\n");
    dir = c.runtime_dir;
    write_file("runtime_dir: /run/x\nlog: json\n");
    assert_int_equal(config_reload(&c, file, &err), 0);
    assert_ptr_equal(c.runtime_dir, dir);
    assert_string_equal(dir, "/run/x");
    config_release(&c);
}

static void one_bad_value_refuses_all(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    load(&c, "detach_seconds: 5\n");
    write_file("detach_seconds: 6\nready_seconds: never\n");
    assert_int_equal(config_reload(&c, file, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "READY_SECONDS"));
    assert_int_equal(c.detach_s, 5);
    config_release(&c);
}

static void a_change_that_needs_a_restart_is_refused_by_name(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    load(&c, "max_sessions: 5\nmemory_mb: 100\n");
    write_file("max_sessions: 6\nmemory_mb: 200\ndetach_seconds: 7\n");
    assert_int_equal(config_reload(&c, file, &err), -1);
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_non_null(strstr(err.msg, "AGENT_SIMULATOR_MAX_SESSIONS"));
    assert_non_null(strstr(err.msg, "AGENT_SIMULATOR_MEMORY_MB"));
    assert_null(strstr(err.msg, "DETACH"));
    assert_int_equal(c.max_sessions, 5);
    assert_int_equal(c.detach_s, 60);
    config_release(&c);
}

/* What its user reads at start only must not seem to change. */
static void sizes_and_places_need_a_restart(void **state)
{
    static const char *const fixed[] = { "max_sessions", "session_uid_base", "workers", "state_dir",  "runtime_dir",
                                         "user",         "disk_mb",          "sandbox", "nginx_conf", "program_dir" };
    static const char *const free_ones[] = { "rate_limit_max_requests",
                                             "session_lifetime_seconds",
                                             "egress_allow",
                                             "github_client_secret",
                                             "log_level",
                                             "cors_origins" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(fixed); i++)
        assert_true(config_row_find(fixed[i])->flags & CONFIG_RESTART);
    for (i = 0; i < ARRAY_LEN(free_ones); i++)
        assert_false(config_row_find(free_ones[i])->flags & CONFIG_RESTART);
}

static void short_memory_changes_nothing(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    load(&c, "detach_seconds: 5\n");
    write_file("detach_seconds: 6\n");
    OOM_SWEEP({
        if (config_reload(&c, file, &err) < 0) {
            assert_true(oom_hit());
            assert_int_equal(c.detach_s, 5);
        }
    });
    assert_int_equal(c.detach_s, 6);
    config_release(&c);
}

static int make_file(void **state)
{
    const struct config_row *row;
    size_t i;
    int fd = mkstemp(file);

    (void)state;
    for (i = 0; (row = config_row_at(i)); i++)
        unsetenv(row->env);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_change_changes),
        cmocka_unit_test(texts_that_need_a_restart_stay_where_they_are),
        cmocka_unit_test(one_bad_value_refuses_all),
        cmocka_unit_test(a_change_that_needs_a_restart_is_refused_by_name),
        cmocka_unit_test(sizes_and_places_need_a_restart),
        cmocka_unit_test(short_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
