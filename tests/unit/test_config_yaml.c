#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"
#include "tests/support/oom.h"

static int parse(const char *text, struct config *c, struct err *err)
{
    struct err ignored;

    if (config_load_env(c, &ignored) < 0)
        fail_msg("%s", ignored.msg);
    return config_parse_yaml(c, text, strlen(text), "f.yaml", NULL, err);
}

static void settings_are_read_flat_or_nested(void **state)
{
    static const char text[] = "# a comment\n"
                               "max_sessions: 20\n"
                               "rate_limit:\n"
                               "  window_seconds: '30'\n"
                               "  max: {requests: 9, keys: 77}\n"
                               "require_auth: no\n"
                               "api_token: \"a: b\"\n"
                               "cors_origins: [https://a, 'http://b:1']\n"
                               "egress_allow:\n"
                               "  - example.org:443\n"
                               "memory_mb: ~\n"
                               "AGENT_SIMULATOR_WORKERS: 2\n";
    struct config c;
    struct err err = { 0 };

    (void)state;
    if (parse(text, &c, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(c.max_sessions, 20);
    assert_int_equal(c.rate_window_s, 30);
    assert_int_equal(c.rate_max_requests, 9);
    assert_int_equal(c.rate_max_keys, 77);
    assert_false(c.require_auth);
    assert_string_equal(c.api_token, "a: b");
    assert_string_equal(c.cors_origins, "https://a,http://b:1");
    assert_string_equal(c.egress_allow, "example.org:443");
    assert_int_equal(c.memory_mb, 0);
    assert_int_equal(c.workers, 2);
    config_release(&c);
}

static void empty_files_set_nothing(void **state)
{
    static const char *const texts[] = { "", "\n", "# only a comment\n", "---\n", "{}" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(texts); i++) {
        struct config c;
        struct err err = { 0 };

        if (parse(texts[i], &c, &err) < 0)
            fail_msg("%s: %s", texts[i], err.msg);
        assert_int_equal(c.max_sessions, 5);
        config_release(&c);
    }
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        { "max_sessions: 1\nmax_session: 2\n", "f.yaml, line 2: unknown setting \"max_session\"" },
        { "max:\n  sesions: 2\n", "f.yaml, line 2: unknown setting \"max_sesions\"" },
        { "max_sessions: many\n", "f.yaml, line 1: AGENT_SIMULATOR_MAX_SESSIONS is \"many\"; allowed: a whole number" },
        { "max_sessions: 1\nmax: {sessions: 2}\n", "f.yaml, line 2: a second value for \"max_sessions\"" },
        { "max_sessions: [1]\n", "no simple value for \"max_sessions\"" },
        { "max_sessions: {a: 1}\n", "no simple value for \"max_sessions\"" },
        { "cors_origins: [[https://a]]\n", "an entry is no text" },
        { "cors_origins: ['https://a,https://b']\n", "an entry is no text" },
        { "- a\n", "settings are expected" },
        { "text\n", "settings are expected" },
        { "[a]: 1\n", "a name is no text" },
        { "max: {}\n", "unknown setting \"max\"" },
        { "a: &x\n  b: *x\n", "unknown setting" },
        { "max_sessions: 1\n---\nmax_sessions: 2\n", "more than one document" },
        { "max_sessions: 1\n--- x: : y\n", "more than one document" },
        { "max_sessions: [1\n", "f.yaml, line " },
        { "\tmax_sessions: 1\n", "f.yaml, line 1" },
        { "max_sessions: \"1\\0\"\n", "no simple value" },
        { "a\x01: 1\n", "f.yaml, line " },
        { "user: \xff\n", "f.yaml, line " },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct config c;
        struct err err = { 0 };

        if (parse(rows[i].text, &c, &err) == 0)
            fail_msg("%s was taken", rows[i].text);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        if (!strstr(err.msg, rows[i].said))
            fail_msg("%s -> %s", rows[i].text, err.msg);
        config_release(&c);
    }
}

struct heard {
    unsigned n;
    char first[256], last[256];
};

static void hear(void *arg, const char *sentence)
{
    struct heard *h = arg;

    snprintf(h->n++ ? h->last : h->first, sizeof(h->first), "%s", sentence);
}

/* What the file that holds text comes to. *c is to be released. */
static int parse_heard(const char *text, struct config *c, struct heard *heard)
{
    const struct config_faults faults = { hear, heard };
    struct err err = { 0 };

    *heard = (struct heard){ 0 };
    assert_int_equal(config_load_env(c, &err), 0);
    return config_parse_yaml(c, text, strlen(text), "f.yaml", &faults, &err);
}

static void who_wants_the_rest_hears_what_is_bad(void **state)
{
    static const char text[] = "max_sessions: many\nrunt: 1\nworkers: [3]\n"
                               "rate_limit: {max: {requests: 9, keys: -1}}\nruntime_dir: /run/there\n";
    struct heard heard;
    struct config c;

    (void)state;
    assert_int_equal(parse_heard(text, &c, &heard), 0);
    assert_int_equal(heard.n, 4);
    assert_string_equal(heard.first,
                        "f.yaml, line 1: AGENT_SIMULATOR_MAX_SESSIONS is \"many\"; allowed: a whole number from 1 to "
                        "4096");
    assert_non_null(strstr(heard.last, "MAX_KEYS is \"-1\""));
    assert_int_equal(c.max_sessions, 5);
    assert_int_equal(c.rate_max_requests, 9);
    assert_string_equal(c.runtime_dir, "/run/there");
    config_release(&c);
}

static void endless_faults_come_to_an_end(void **state)
{
    static const char text[] = "a: &a {b: 1, c: 1, d: 1}\ne: &e {f: *a, g: *a, h: *a}\ni: &i {j: *e, k: *e, l: *e}\n"
                               "m: &m {n: *i, o: *i, p: *i}\nq: {r: *m, s: *m, t: *m}\n";
    struct heard heard;
    struct config c;

    (void)state;
    assert_int_equal(parse_heard(text, &c, &heard), -1);
    assert_int_equal(heard.n, 20);
    config_release(&c);
}

static void short_memory_is_told(void **state)
{
    static const char text[] = "max_sessions: 20\ncors_origins: [https://a, https://b]\n";
    struct config c;
    struct err err;

    (void)state;
    assert_int_equal(config_load_env(&c, &err), 0);
    OOM_SWEEP({
        if (config_parse_yaml(&c, text, strlen(text), "f.yaml", NULL, &err) < 0) {
            assert_true(oom_hit());
            assert_int_equal(err.kind, ERR_INTERNAL);
        }
    });
    assert_string_equal(c.cors_origins, "https://a,https://b");
    config_release(&c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read_flat_or_nested),    cmocka_unit_test(empty_files_set_nothing),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line), cmocka_unit_test(who_wants_the_rest_hears_what_is_bad),
        cmocka_unit_test(endless_faults_come_to_an_end),       cmocka_unit_test(short_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
