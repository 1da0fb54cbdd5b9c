#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/config/table.h"
#include "tests/support/oom.h"
#include "tests/support/settings.h"

static void clear_environment(void)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++)
        unsetenv(row->env);
}

static void load(struct config *c)
{
    struct err err;

    clear_environment();
    if (config_load_env(c, &err) < 0)
        fail_msg("%s", err.msg);
}

static void defaults_are_those_of_the_contract(void **state)
{
    struct config c;

    (void)state;
    load(&c);
    assert_string_equal(c.api_token, "");
    assert_true(c.require_auth && c.restrict_custom_code && !c.quota_enabled);
    assert_int_equal(c.rate_window_s, 60);
    assert_int_equal(c.rate_max_requests, 12);
    assert_int_equal(c.rate_max_keys, 10000);
    assert_int_equal(c.max_sessions_per_actor, 1);
    assert_int_equal(c.max_sessions, 5);
    assert_int_equal(c.session_lifetime_s, 900);
    assert_int_equal(c.session_uid_base, 20000);
    assert_int_equal(c.port_pool_start, 7700);
    assert_int_equal(c.rlimit_as_gb, 4);
    assert_int_equal(c.rlimit_cpu_s, 120);
    assert_int_equal(c.rlimit_fsize_mb, 100);
    assert_int_equal(c.rlimit_nproc, 64);
    assert_int_equal(c.rlimit_nofile, 1024);
    assert_int_equal(c.memory_mb | c.disk_mb, 0);
    assert_true(c.cpu_cores == 0);
    assert_int_equal(c.sandbox, SANDBOX_AUTO);
    assert_int_equal(c.egress, EGRESS_PUBLIC);
    assert_int_equal(c.detach_s, 60);
    assert_int_equal(c.replay_bytes, 4 << 20);
    assert_int_equal(c.ready_s, 75);
    assert_int_equal(c.workers, 4);
    assert_string_equal(c.nltk_data, "/opt/nltk_data");
    assert_string_equal(c.state_dir, "/var/lib/agentsim");
    assert_string_equal(c.runtime_dir, "/run/agentsim");
    assert_string_equal(c.log, "text");
    config_release(&c);
    config_release(&c);
    config_release(NULL);
}

static void every_row_is_found_by_both_names_and_has_help(void **state)
{
    const struct config_row *row, *other;
    char name[CONFIG_NAME_MAX];
    size_t i, k;

    (void)state;
    for (i = 0; (row = config_row_at(i)); i++) {
        config_row_name(row, name);
        assert_ptr_equal(config_row_find(row->env), row);
        assert_ptr_equal(config_row_find(name), row);
        assert_true(strlen(row->help) > 10);
        for (k = 0; k < i; k++) {
            other = config_row_at(k);
            assert_true(other->slot != row->slot);
        }
    }
    assert_null(config_row_find(""));
    assert_null(config_row_find("AGENT_SIMULATOR_"));
}

static void malformed_values_are_refused_with_name_value_and_what_is_allowed(void **state)
{
    static const struct {
        const char *key, *value, *allowed;
    } rows[] = {
        { "AGENT_SIMULATOR_MAX_SESSIONS", "0", "a whole number from 1 to 4096" },
        { "AGENT_SIMULATOR_MAX_SESSIONS", "4097", "a whole number from 1 to 4096" },
        { "AGENT_SIMULATOR_MAX_SESSIONS", "5x", "a whole number from 1 to 4096" },
        { "AGENT_SIMULATOR_MAX_SESSIONS", "1e3", "a whole number from 1 to 4096" },
        { "AGENT_SIMULATOR_MAX_SESSIONS", "99999999999999999999999", "a whole number from 1 to 4096" },
        { "AGENT_SIMULATOR_CPU_CORES", "-1", "a number from 0 to 1024" },
        { "AGENT_SIMULATOR_CPU_CORES", "nan", "a number from 0 to 1024" },
        { "AGENT_SIMULATOR_REQUIRE_AUTH", "maybe", "true or false" },
        { "AGENT_SIMULATOR_EGRESS", "all", "none, public, allow or host" },
        { "AGENT_SIMULATOR_LOG", "xml", "text or json" },
        { "AGENT_SIMULATOR_LOG_LEVEL", "loud", "debug, info, warn or error" },
        { "AGENT_SIMULATOR_STATE_DIR", "var", "an absolute path" },
        { "AGENT_SIMULATOR_GITHUB_URL", "github.com", "http:// or https://" },
        { "AGENT_SIMULATOR_GITHUB_URL", "https://a b", "http:// or https://" },
        { "CORS_ORIGINS", "https://a,editor", "origins" },
        { "CORS_ORIGINS", "https://a/", "origins" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "example.org", "host:port" },
        { "AGENT_SIMULATOR_EGRESS_CONNECTIONS", "0", "from 1 to 1024" },
        { "AGENT_SIMULATOR_EGRESS_MB", "0", "from 1 to" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "example.org:0", "host:port" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "a:1,b:70000", "host:port" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "a b:1", "host:port" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "*.:1", "host:port" },
        { "AGENT_SIMULATOR_EGRESS_ALLOW", "*:1", "host:port" },
        { "AGENT_SIMULATOR_USER", "a\x01", "without control characters" },
    };
    struct config c;
    size_t i;

    (void)state;
    load(&c);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };

        if (put_setting(&c, rows[i].key, rows[i].value, &err) == 0)
            fail_msg("%s=%s was taken", rows[i].key, rows[i].value);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        assert_non_null(strstr(err.msg, rows[i].key));
        assert_non_null(strstr(err.msg, rows[i].value));
        assert_non_null(strstr(err.msg, rows[i].allowed));
    }
    assert_int_equal(c.max_sessions, 5);
    config_release(&c);
}

static void well_formed_values_are_taken(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    load(&c);
    assert_int_equal(put_setting(&c, "max_sessions", " 20\n", &err), 0);
    assert_int_equal(c.max_sessions, 20);
    assert_int_equal(put_setting(&c, "AGENT_SIMULATOR_CPU_CORES", "1.5", &err), 0);
    assert_true(c.cpu_cores == 1.5);
    assert_int_equal(put_setting(&c, "restrict_custom_code", "No", &err), 0);
    assert_false(c.restrict_custom_code);
    assert_int_equal(put_setting(&c, "egress", "HOST", &err), 0);
    assert_int_equal(c.egress, EGRESS_HOST);
    assert_string_equal(config_egress_name(c.egress), "host");
    assert_string_equal(config_egress_name(99), "none");
    assert_int_equal(put_setting(&c, "log_level", "WARN", &err), 0);
    assert_string_equal(c.log_level, "warn");
    assert_int_equal(put_setting(&c, "cors_origins", "*", &err), 0);
    assert_int_equal(put_setting(&c, "cors_origins", " https://a , http://b:1,", &err), 0);
    assert_int_equal(put_setting(&c, "egress_allow", "example.org:443, [::1]:80,192.0.2.1:1,*.example.org:8", &err), 0);
    assert_int_equal(put_setting(&c, "nginx", "", &err), 0);
    assert_string_equal(c.nginx, "");
    assert_int_equal(put_setting(&c, "no_such", "1", &err), -1);
    assert_non_null(strstr(err.msg, "no_such"));
    config_release(&c);
}

static void an_unknown_sandbox_word_does_not_open_the_sandbox(void **state)
{
    static const char *const words[] = { "auto", "on", "0", "none", "" };
    struct config c;
    struct err err;
    size_t i;

    (void)state;
    load(&c);
    for (i = 0; i < ARRAY_LEN(words); i++) {
        c.sandbox = SANDBOX_OFF;
        assert_int_equal(put_setting(&c, "AGENT_SIMULATOR_SANDBOX", words[i], &err), 0);
        assert_int_equal(c.sandbox, SANDBOX_AUTO);
    }
    assert_int_equal(put_setting(&c, "AGENT_SIMULATOR_SANDBOX", "Off", &err), 0);
    assert_int_equal(c.sandbox, SANDBOX_OFF);
    config_release(&c);
}

static void note_name(void *arg, const char *name, const char *meant)
{
    char *out = arg;
    size_t used = strlen(out);

    snprintf(out + used, 512 - used, "%s>%s ", name, meant ? meant : "-");
}

static void misspelt_names_are_told_with_what_was_meant(void **state)
{
    static const char *const words[] = { "PATH=/bin",
                                         "AGENT_SIMULATOR_EGRESS=public",
                                         "AGENT_SIMULATOR_TOKEN=x",
                                         "AGENT_SIMULATOR_EGRES=host",
                                         "AGENT_SIMULATOR_MEMORYMB=1",
                                         "AGENT_SIMULATOR_FOO=1",
                                         "AGENT_SIMULATOR_=1",
                                         "AGENT_SIMULATOR_MAX_SESSION",
                                         "agent_simulator_egress=x" };
    char *env[ARRAY_LEN(words) + 1] = { NULL };
    size_t i;
    char long_name[9000] = "AGENT_SIMULATOR_", *const long_env[] = { long_name, NULL }, found[512] = "";

    (void)state;
    for (i = 0; i < ARRAY_LEN(words); i++)
        env[i] = mem_strdup(words[i]);
    config_unknown_env(env, note_name, found);
    for (i = 0; i < ARRAY_LEN(words); i++)
        mem_free(env[i]);
    assert_string_equal(found, "AGENT_SIMULATOR_EGRES>AGENT_SIMULATOR_EGRESS "
                               "AGENT_SIMULATOR_MEMORYMB>AGENT_SIMULATOR_MEMORY_MB AGENT_SIMULATOR_FOO>- "
                               "AGENT_SIMULATOR_>- AGENT_SIMULATOR_MAX_SESSION>AGENT_SIMULATOR_MAX_SESSIONS ");
    memset(long_name + 16, 'A', sizeof(long_name) - 17);
    found[0] = '\0';
    config_unknown_env(long_env, note_name, found);
    assert_non_null(strstr(found, ">- "));
}

static void an_empty_variable_means_the_default(void **state)
{
    const struct config_row *row;
    struct config c;
    struct err err;
    size_t i;

    (void)state;
    clear_environment();
    for (i = 0; (row = config_row_at(i)); i++)
        setenv(row->env, "", 1);
    assert_int_equal(config_load_env(&c, &err), 0);
    assert_int_equal(c.max_sessions, 5);
    assert_true(c.require_auth);
    assert_string_equal(c.python, AGENTSIM_PREFIX "/runtime/bin/python");
    assert_string_equal(c.log, "text");
    assert_string_equal(c.nginx, ""); /* a text that may be empty is */
    config_release(&c);
    clear_environment();
}

static void pools_that_do_not_fit_are_refused(void **state)
{
    struct config c;
    struct err err;

    (void)state;
    clear_environment();
    setenv("AGENT_SIMULATOR_PORT_POOL_START", "65532", 1);
    assert_int_equal(config_load_env(&c, &err), -1);
    assert_non_null(strstr(err.msg, "65531"));
    setenv("AGENT_SIMULATOR_PORT_POOL_START", "65531", 1);
    assert_int_equal(config_load_env(&c, &err), 0);
    config_release(&c);
    setenv("AGENT_SIMULATOR_SESSION_UID_BASE", "65530", 1); /* would hold nobody */
    assert_int_equal(config_load_env(&c, &err), -1);
    setenv("AGENT_SIMULATOR_SESSION_UID_BASE", "65536", 1);
    assert_int_equal(config_load_env(&c, &err), 0);
    config_release(&c);
    clear_environment();
}

static void secrets_show_up_nowhere(void **state)
{
    auto_buf struct buf out;
    struct config c, again;
    char **env, *text = NULL;
    size_t len, i;
    struct err err;
    FILE *f;

    (void)state;
    load(&c);
    assert_int_equal(put_setting(&c, "api_token", "t0psecret", &err), 0);
    assert_int_equal(put_setting(&c, "github_client_secret", "t0psecret", &err), 0);
    assert_int_equal(put_setting(&c, "github_client_id", "abc", &err), 0);
    assert_int_equal(put_setting(&c, "max_sessions", "7", &err), 0);
    assert_int_equal(config_public_env(&c, &env, &err), 0);
    clear_environment();
    for (i = 0; env[i]; i++) {
        assert_null(strstr(env[i], "t0psecret"));
        assert_false(str_starts(env[i], "AGENT_SIMULATOR_API_TOKEN"));
        assert_int_equal(putenv(env[i]), 0);
    }
    assert_int_equal(config_load_env(&again, &err), 0); /* what a child reads is what we have */
    assert_int_equal(again.max_sessions, 7);
    assert_string_equal(again.github_client_id, "abc");
    assert_string_equal(again.api_token, "");
    clear_environment();
    config_release(&again);
    config_env_free(env);
    config_env_free(NULL);

    buf_init(&out, 1);
    f = open_memstream(&text, &len);
    config_print(&c, f);
    config_print_markdown(f);
    fclose(f);
    assert_null(strstr(text, "t0psecret"));
    assert_non_null(strstr(text, "AGENT_SIMULATOR_API_TOKEN                     ***\n"));
    assert_non_null(strstr(text, "AGENT_SIMULATOR_MAX_SESSIONS                  7\n"));
    assert_non_null(
        strstr(text, "| `AGENT_SIMULATOR_MAX_SESSIONS` | `max_sessions` | `5` | a whole number from 1 to 4096 |"));
    free(text);
    assert_int_equal(put_setting(&c, "api_token", "t0psecret\x01", &err), -1);
    assert_null(strstr(err.msg, "t0psecret"));
    config_release(&c);
}

/* config_print()'s line of a setting. */
static void assert_line(const struct config *c, const char *line)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    config_print(c, f);
    fclose(f);
    if (!strstr(text, line))
        fail_msg("no line \"%s\" in\n%s", line, text);
    free(text);
}

static void the_source_of_every_value_is_told(void **state)
{
    char path[] = "/tmp/test_config_XXXXXX", *text = NULL;
    static const char file[] = "api: {token: s3cret}\nmax:\n  sessions: 9\nrequire_auth: ~\nworkers: 4\n";
    int fd = mkstemp(path);
    struct config c;
    struct err err;
    size_t len;
    FILE *f;

    (void)state;
    assert_int_equal(io_write_all(fd, file, strlen(file)), 0);
    close(fd);
    clear_environment();
    setenv("AGENT_SIMULATOR_WORKERS", "3", 1);
    setenv("AGENT_SIMULATOR_LOG", "", 1);
    assert_int_equal(config_load(&c, path, &err), 0);
    assert_line(&c, "AGENT_SIMULATOR_API_TOKEN                     ***  # file\n");
    assert_line(&c, "AGENT_SIMULATOR_MAX_SESSIONS                  9  # file\n");
    assert_line(&c, "AGENT_SIMULATOR_REQUIRE_AUTH                  true\n");
    assert_line(&c, "AGENT_SIMULATOR_WORKERS                       3  # environment\n");
    assert_line(&c, "AGENT_SIMULATOR_LOG                           text\n");
    f = open_memstream(&text, &len);
    assert_int_equal(config_print_value(&c, "api_token", f, &err), 0);
    assert_int_equal(config_print_value(&c, "github_client_id", f, &err), 0);
    assert_int_equal(config_print_value(&c, "nothing", f, &err), -1);
    fclose(f);
    assert_string_equal(text, "s3cret\n\n");
    free(text);
    config_release(&c);
    unlink(path);
    clear_environment();
}

static void the_environment_wins_over_the_file(void **state)
{
    char path[] = "/tmp/test_config_XXXXXX";
    int fd = mkstemp(path);
    struct config c;
    struct err err;

    (void)state;
    assert_int_equal(io_write_all(fd, "max_sessions: 9\nworkers: 3\n", 27), 0);
    close(fd);
    clear_environment();
    setenv("AGENT_SIMULATOR_MAX_SESSIONS", "8", 1);
    assert_int_equal(config_load(&c, path, &err), 0);
    assert_int_equal(c.max_sessions, 8);
    assert_int_equal(c.workers, 3);
    config_release(&c);
    setenv("AGENT_SIMULATOR_MAX_SESSIONS", "", 1); /* not set: the file's word counts */
    assert_int_equal(config_load(&c, path, &err), 0);
    assert_int_equal(c.max_sessions, 9);
    config_release(&c);
    unlink(path);
    assert_int_equal(config_load(&c, path, &err), -1); /* a file that was named has to be there */
    assert_non_null(strstr(err.msg, path));
    clear_environment();
}

static void short_memory_is_told(void **state)
{
    (void)state;
    clear_environment();
    OOM_SWEEP({
        struct config c;
        struct err err;
        char **env;

        if (config_load_env(&c, &err) == 0) {
            if (config_public_env(&c, &env, &err) == 0)
                config_env_free(env);
            else
                assert_int_equal(err.kind, ERR_INTERNAL);
            config_release(&c);
        } else {
            assert_true(oom_hit());
            assert_int_equal(err.kind, ERR_INTERNAL);
        }
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_contract),
        cmocka_unit_test(every_row_is_found_by_both_names_and_has_help),
        cmocka_unit_test(malformed_values_are_refused_with_name_value_and_what_is_allowed),
        cmocka_unit_test(well_formed_values_are_taken),
        cmocka_unit_test(an_unknown_sandbox_word_does_not_open_the_sandbox),
        cmocka_unit_test(misspelt_names_are_told_with_what_was_meant),
        cmocka_unit_test(an_empty_variable_means_the_default),
        cmocka_unit_test(pools_that_do_not_fit_are_refused),
        cmocka_unit_test(secrets_show_up_nowhere),
        cmocka_unit_test(the_source_of_every_value_is_told),
        cmocka_unit_test(the_environment_wins_over_the_file),
        cmocka_unit_test(short_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
