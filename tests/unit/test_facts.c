#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/sandbox/facts.h"
#include "tests/support/settings.h"

struct place {
    char top[64];
    struct config config;
};

static void path_in(char out[256], const struct place *p, const char *rest)
{
    snprintf(out, 256, "%s/%s", p->top, rest);
}

static int set_up(void **state)
{
    static const char *const dirs[] = { "real", "real/v1", "real/v1/bin", "bin" };
    struct place *p = calloc(1, sizeof(*p));
    char a[256], b[256];
    size_t i;

    snprintf(p->top, sizeof(p->top), "/tmp/agentsim-facts-XXXXXX");
    if (!mkdtemp(p->top) || config_load_env(&p->config, NULL) < 0)
        return -1;
    for (i = 0; i < ARRAY_LEN(dirs); i++) {
        path_in(a, p, dirs[i]);
        mkdir(a, 0755);
    }
    path_in(a, p, "real/v1/bin/python");
    if (symlink("/usr/bin/env", a) < 0)
        return -1;
    path_in(b, p, "runtime");
    if (symlink("real/v1", b) < 0)
        return -1;
    path_in(a, p, "bin/agentsim-pid1");
    io_write_file(a, "x", 1, 0755, NULL);
    path_in(a, p, "bin");
    path_in(b, p, "runtime/bin/python");
    put_setting(&p->config, "AGENT_SIMULATOR_PROGRAM_DIR", a, NULL);
    put_setting(&p->config, "AGENT_SIMULATOR_PYTHON", b, NULL);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const rest[] = { "bin/agentsim-pid1", "bin",     "runtime", "real/v1/bin/python",
                                        "real/v1/bin",       "real/v1", "real",    "" };
    struct place *p = *state;
    char a[256];
    size_t i;

    for (i = 0; i < ARRAY_LEN(rest); i++) {
        path_in(a, p, rest[i]);
        remove(a);
    }
    config_release(&p->config);
    free(p);
    return 0;
}

static void an_environment_is_seen_under_its_name_and_its_real_place(void **state)
{
    struct place *p = *state;
    struct sandbox_facts f;
    struct err err = { 0 };
    char a[256];

    assert_int_equal(facts_probe(&f, &p->config, &err), 0);
    assert_int_equal(f.n_dirs, 2); /* what the interpreter links to lies below /usr */
    path_in(a, p, "runtime");
    assert_string_equal(f.dirs[0], a);
    path_in(a, p, "real/v1");
    assert_string_equal(f.dirs[1], a);
    path_in(a, p, "bin/agentsim-pid1");
    assert_string_equal(f.pid1, a);
    facts_release(&f);
    facts_release(&f);
    facts_release(NULL);
}

static void an_interpreter_of_the_system_needs_nothing_more(void **state)
{
    struct place *p = *state;
    struct sandbox_facts f;

    put_setting(&p->config, "AGENT_SIMULATOR_PYTHON", "/usr/bin/env", NULL);
    assert_int_equal(facts_probe(&f, &p->config, NULL), 0);
    assert_int_equal(f.n_dirs, 0);
    facts_release(&f);
}

static void what_is_missing_is_named(void **state)
{
    struct place *p = *state;
    struct sandbox_facts f;
    struct err err = { 0 };

    put_setting(&p->config, "AGENT_SIMULATOR_PYTHON", "/nonexistent/bin/python", NULL);
    assert_int_equal(facts_probe(&f, &p->config, &err), -1);
    assert_non_null(strstr(err.msg, "/nonexistent/bin/python"));
    put_setting(&p->config, "AGENT_SIMULATOR_PYTHON", "/usr/bin/env", NULL);
    put_setting(&p->config, "AGENT_SIMULATOR_PROGRAM_DIR", "/nonexistent", NULL);
    assert_int_equal(facts_probe(&f, &p->config, &err), -1);
    assert_non_null(strstr(err.msg, "/nonexistent/agentsim-pid1"));
}

static void a_whole_system_directory_is_never_bound(void **state)
{
    struct place *p = *state;
    struct sandbox_facts f;
    struct err err = { 0 };
    char script[] = "/tmp/agentsim-python";

    io_write_file(script, "#!/bin/sh\n", 10, 0755, NULL);
    put_setting(&p->config, "AGENT_SIMULATOR_PYTHON", script, NULL); /* would need all of / */
    assert_int_equal(facts_probe(&f, &p->config, &err), -1);
    assert_non_null(strstr(err.msg, "would need all of"));
    unlink(script);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_environment_is_seen_under_its_name_and_its_real_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interpreter_of_the_system_needs_nothing_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_missing_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_whole_system_directory_is_never_bound, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
