#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/sandbox/env.h"
#include "supervisor/sandbox/strv.h"
#include "tests/support/oom.h"

static const struct env_place place = { .work = "/work", .nltk_data = "/opt/nltk_data", .port = 8765 };

static const char *value_of(const struct strv *s, const char *name)
{
    size_t len = strlen(name), i, found = 0;
    const char *value = NULL;

    for (i = 0; i < s->n; i++)
        if (!strncmp(s->v[i], name, len) && s->v[i][len] == '=') {
            value = s->v[i] + len + 1;
            found++;
        }
    assert_true(found <= 1);
    return value;
}

/* An environment as execve takes it. */
static char **make_env(struct strv *s, const char *a, const char *b, const char *c)
{
    strv_add_many(s, a, b, c, NULL);
    return s->v;
}

static void only_a_few_are_inherited_and_ours_win(void **state)
{
    struct strv service = { 0 }, got = { 0 };

    (void)state;
    make_env(&service, "PATH=/custom", "AWS_SECRET_ACCESS_KEY=x", "HOME=/root");
    strv_add_many(&service, "TZ=Europe/Luxembourg", "PYTHONPATH=/x", "LANG=C.UTF-8", "PATHS=no", NULL);
    env_build(&got, &place, service.v, NULL);
    assert_false(got.failed);
    assert_string_equal(value_of(&got, "PATH"), "/custom");
    assert_string_equal(value_of(&got, "TZ"), "Europe/Luxembourg");
    assert_string_equal(value_of(&got, "LANG"), "C.UTF-8");
    assert_string_equal(value_of(&got, "HOME"), "/work");
    assert_string_equal(value_of(&got, "TMPDIR"), "/work/tmp");
    assert_string_equal(value_of(&got, "BESSER_WS_PORT"), "8765");
    assert_string_equal(value_of(&got, "NLTK_DATA"), "/opt/nltk_data");
    assert_null(value_of(&got, "PYTHONPATH"));
    assert_null(value_of(&got, "AWS_SECRET_ACCESS_KEY"));
    assert_null(value_of(&got, "PATHS"));
    assert_int_equal(got.n, 13);
    strv_release(&service);
    strv_release(&got);
}

static void a_proxy_is_told_in_all_spellings_and_only_when_there_is_one(void **state)
{
    static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy" };
    struct env_place with = place;
    struct strv got = { 0 }, none = { 0 };
    size_t i;

    (void)state;
    with.proxy_port = 3128;
    env_build(&got, &with, NULL, NULL);
    env_build(&none, &place, NULL, NULL);
    for (i = 0; i < ARRAY_LEN(names); i++) {
        assert_string_equal(value_of(&got, names[i]), "http://127.0.0.1:3128");
        assert_null(value_of(&none, names[i]));
    }
    assert_string_equal(value_of(&got, "NO_PROXY"), "127.0.0.1,localhost");
    assert_string_equal(value_of(&got, "no_proxy"), "127.0.0.1,localhost");
    assert_null(value_of(&none, "NO_PROXY"));
    strv_release(&got);
    strv_release(&none);
}

static void credentials_come_last_and_may_replace(void **state)
{
    struct strv extra = { 0 }, got = { 0 };

    (void)state;
    strv_set_env(&extra, "OPENAI_API_KEY", "sk=with=signs");
    strv_set_env(&extra, "TZ", "UTC");
    env_build(&got, &place, NULL, &extra);
    assert_string_equal(value_of(&got, "OPENAI_API_KEY"), "sk=with=signs");
    assert_string_equal(value_of(&got, "TZ"), "UTC");
    assert_string_equal(value_of(&got, "PATH"), "/usr/local/bin:/usr/bin:/bin");
    strv_release(&extra);
    strv_release(&got);
}

static void names_of_variables_are_judged(void **state)
{
    static const char *const good[] = { "OPENAI_API_KEY", "a", "_", "A1", "LD_PRELOAD" };
    static const char *const bad[] = { "",
                                       "1A",
                                       "A-B",
                                       "A B",
                                       "A=B",
                                       "\xc3\xa9",
                                       "HOME",
                                       "TMPDIR",
                                       "BESSER_WS_PORT",
                                       "AGENTSIM_WAIT",
                                       "PYTHONUNBUFFERED",
                                       "NLTK_DATA",
                                       "MALLOC_ARENA_MAX" };
    char longest[ENV_NAME_MAX + 2], value[ENV_VALUE_MAX + 2];
    struct err err = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(env_check_extra(good[i], "v", NULL), 0);
    for (i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(env_check_extra(bad[i], "v", &err), -1);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
    }
    memset(longest, 'A', sizeof(longest));
    longest[ENV_NAME_MAX + 1] = '\0';
    assert_int_equal(env_check_extra(longest, "v", &err), -1);
    longest[ENV_NAME_MAX] = '\0';
    assert_int_equal(env_check_extra(longest, "v", &err), 0);
    memset(value, 'v', sizeof(value));
    value[ENV_VALUE_MAX + 1] = '\0';
    assert_int_equal(env_check_extra("A", value, &err), -1);
    assert_null(strstr(err.msg, "vvv")); /* a value is never repeated */
}

static void names_that_look_secret_are_known(void **state)
{
    (void)state;
    assert_true(env_name_is_secret("GITHUB_TOKEN"));
    assert_true(env_name_is_secret("my_secret_thing"));
    assert_true(env_name_is_secret("AGENT_SIMULATOR_API_TOKEN"));
    assert_false(env_name_is_secret("PATH"));
    assert_false(env_name_is_secret("TZ"));
}

static void short_memory_fails_as_a_whole(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct strv extra = { 0 };
        struct strv got = { 0 };

        strv_set_env(&extra, "A", "b");
        env_build(&got, &place, NULL, &extra);
        assert_int_equal(got.failed || extra.failed, oom_hit());
        strv_release(&extra);
        strv_release(&got);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_few_are_inherited_and_ours_win),
        cmocka_unit_test(a_proxy_is_told_in_all_spellings_and_only_when_there_is_one),
        cmocka_unit_test(credentials_come_last_and_may_replace),
        cmocka_unit_test(names_of_variables_are_judged),
        cmocka_unit_test(names_that_look_secret_are_known),
        cmocka_unit_test(short_memory_fails_as_a_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
