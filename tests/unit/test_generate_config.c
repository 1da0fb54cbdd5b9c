#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/provider.h"
#include "shared/generate/config_yaml.h"
#include "tests/support/oom.h"

static const struct credentials keys = { .openai_api_key = "sk-1: x",
                                         .huggingface_token = "",
                                         .replicate_api_key = NULL };
static const struct generate_options session = {
    .session = true, .host = "127.0.0.1", .port = 8801, .credentials = &keys
};

/* Result or message of an override with host, port and one key. The caller frees. */
static char *overridden(const char *yaml)
{
    struct err err = { 0 };
    char *out = NULL;

    if (config_yaml_override(yaml, strlen(yaml), &session, &out, &err) == 0)
        return out;
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    return mem_strdup(err.msg);
}

#define ENDPOINT "host: \"127.0.0.1\"\n    port: 8801\n"
#define KEYS "nlp:\n  openai:\n    api_key: \"sk-1: x\"\n"

static void overrides_are_set_and_the_rest_is_kept(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "", "platforms:\n  websocket:\n    " ENDPOINT KEYS },
        { "# nothing\n---\n", "platforms:\n  websocket:\n    " ENDPOINT KEYS },
        { "{}", "platforms:\n  websocket:\n    " ENDPOINT KEYS },
        { "a: 1\nplatforms:\n  websocket:\n    port: 5\n    max_size: 3\n    host: x\n",
          "a: 1\nplatforms:\n  websocket:\n    port: 8801\n    max_size: 3\n    host: \"127.0.0.1\"\n" KEYS },
        { "platforms:\nnlp: {openai: {api_key: [1]}}\n", "nlp:\n  openai:\n    api_key: \"sk-1: x\"\n" },
        { "platforms: {websocket: ~}\n", "platforms:\n  websocket:\n    " ENDPOINT KEYS },
        { "nlp: {huggingface: {token: mine}}\n", "token: mine\n  openai:\n    api_key: \"sk-1: x\"\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = overridden(rows[i].in);

        if (!strstr(out, rows[i].out) || !strstr(out, "port: 8801\n"))
            fail_msg("row %zu: %s", i, out);
    }
}

static void what_cannot_hold_the_overrides_is_refused(void **state)
{
    static const struct {
        const char *in, *says;
    } rows[] = {
        { "just text", "has to be a mapping" },
        { "- 1\n", "has to be a mapping" },
        { "platforms: 5\n", "\"platforms\" is a single value" },
        { "platforms: ''\n", "\"platforms\" is a single value" },
        { "platforms: {websocket: [1]}\n", "\"platforms.websocket\" is a list" },
        { "nlp: {openai: no}\n", "\"nlp.openai\" is a single value" },
        { "a: 1\nb: [\n", "line 3" },
        { "a: !!python/name:os.system\n", "tags" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *out = overridden(rows[i].in);

        if (!strstr(out, rows[i].says))
            fail_msg("row %zu: %s", i, out);
    }
}

static void sqlite_items_name_their_file(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: unchanged */
    } rows[] = {
        { "db:\n  sql:\n    - db1:\n        dialect: sqlite\n        database: a.db # b\n",
          "db:\n  sql:\n    - db1:\n        dialect: sqlite\n        file: a.db # b\n" },
        { "- x:\r\n    database : a\r\n    dialect: \"sqlite3\"\r\n",
          "- x:\r\n    file : a\r\n    dialect: \"sqlite3\"\r\n" },
        { "- x:\n\n    dialect: 'sqlite'\n\n    database: a\n    database: b",
          "- x:\n\n    dialect: 'sqlite'\n\n    file: a\n    database: b" },
        { "  -  x:  \n   database: a\n   dialect: sqlite\n", "  -  x:  \n   file: a\n   dialect: sqlite\n" },
        { "- x \t:\n   dialect : sqlite\n   database: a\n", "- x \t:\n   dialect : sqlite\n   file: a\n" },
        { "- x:\n    dialect: sqlite\n    file: b\n    database: a\n", NULL },
        { "- x:\n    dialect: postgresql\n    database: a\n", NULL },
        { "- x:\n    database: a\ndialect: sqlite\n", NULL },
        { "- x: # why\n    dialect: sqlite\n    database: a\n", NULL },
        { "x:\n    dialect: sqlite\n    database: a\n", NULL },
        { "-x:\n    dialect: sqlite\n    database: a\n", NULL },
        { "", NULL },
        { ": not yaml [\n", NULL },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        char *out = NULL;

        assert_int_equal(config_yaml_repair(rows[i].in, &out, &err), 0);
        assert_string_equal(out, rows[i].out ? rows[i].out : rows[i].in);
        mem_free(out);
    }
}

static void a_given_file_is_untouched_when_nothing_overrides_it(void **state)
{
    static const struct generate_options none = { .session = true };
    char text[] = "this is: [no yaml\n";
    struct model m = { .config_yaml = text, .default_llm = MODEL_NONE };
    struct err err = { 0 };
    char *out = NULL;

    (void)state;
    assert_int_equal(generate_config_yaml(&m, &none, &out, &err), 0);
    assert_string_equal(out, text);
    mem_free(out);
    out = NULL;
    assert_int_equal(generate_config_yaml(&m, &session, &out, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_null(out);
}

static void the_default_file_depends_on_who_runs_it(void **state)
{
    static const struct generate_options download = { 0 };
    struct value url = { .kind = VALUE_STRING, .string = (char[]){ "http://h:1 # c\n  x: y\xe2\x80\xa8" } };
    char *key = (char[]){ "base_url" };
    struct llm llms[] = {
        { .name = (char[]){ "a" }, .provider = llm_provider_find("openai") },
        { .name = (char[]){ "b" },
          .provider = llm_provider_find("ollama"),
          .parameters = { .kind = VALUE_OBJECT, .keys = &key, .items = &url, .len = 1 } },
    };
    struct model m = { .llms = llms, .llms_len = 2, .default_llm = 0 };
    struct err err = { 0 };
    char *out = NULL;

    (void)state;
    assert_int_equal(generate_config_yaml(&m, &session, &out, &err), 0);
    assert_non_null(strstr(out, "  monitoring:\n    enabled: False\n"));
    assert_non_null(strstr(out, "  websocket:\n    host: \"127.0.0.1\"\n    port: 8801\n"));
    assert_non_null(strstr(out, "    api_key: \"sk-1: x\"\n"));
    assert_non_null(strstr(out, "    base_url: \"http://h:1 # c\\n  x: y\\L\"\n"));
    mem_free(out);
    m.llms_len = 1;
    assert_int_equal(generate_config_yaml(&m, &download, &out, &err), 0);
    assert_non_null(strstr(out, "  monitoring:\n    enabled: True\n"));
    assert_non_null(strstr(out, "    host: localhost\n    port: 8765\n"));
    assert_non_null(strstr(out, "  sql:\n  - db1:\n      dialect: postgresql\n"));
    assert_null(strstr(out, "base_url"));
    assert_null(strstr(out, "sk-1"));
    mem_free(out);
}

static const struct sql_field fields[] = { { "dialect", "postgresql", false }, { "port", "5432", true } };
static const struct sql_entry own = { fields, ARRAY_LEN(fields) };

#define OWN "dialect: \"postgresql\"\n"

static void an_own_database_takes_the_place_of_placeholders(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: unchanged */
    } rows[] = {
        { "db: # mine\n  sql:\n    - db1:\n        dialect: x\n        host: YOUR-HOST # set it\n\n# end\n    - db2:\n "
          "       a: 1\n",
          "db: # mine\n  sql:\n    - db1:\n        dialect: \"postgresql\"\n        port: 5432\n\n# end\n    - db2:\n  "
          "      a: 1\n" },
        { "db:\n  sql:\n  - db1:\n  - db2: {a: 1}\n",
          "db:\n  sql:\n  - db1:\n      dialect: \"postgresql\"\n      port: 5432\n  - db2: {a: 1}\n" },
        { "x:\n  - db1:\n      a: ' YOUR-'\ndb:\n  sql:\n    - db1:\n        a: ' YOUR-'",
          "x:\n  - db1:\n      a: ' YOUR-'\ndb:\n  sql:\n    - db1:\n        dialect: \"postgresql\"\n        port: "
          "5432\n" },
        { "a: 1 # kept only in place\n",
          "a: 1\ndb:\n  sql:\n  - db1:\n      dialect: \"postgresql\"\n      port: 5432\n" },
        { "db: {sql: [{db1: {host: YOUR-X}}]}\n",
          "db:\n  sql:\n  - db1:\n      dialect: \"postgresql\"\n      port: 5432\n" },
        { "db: {sql: {db2: {a: 1}}}\n",
          "db:\n  sql:\n    db2:\n      a: 1\n    db1:\n      dialect: \"postgresql\"\n      port: 5432\n" },
        { "db:\n  sql:\n    - db1:\n        dialect: sqlite\n        file: mine.db\n", NULL },
        { "db: 5\n", NULL },
        { "db: {sql: text}\n", NULL },
        { "just text", NULL },
        { "", NULL },
        { "a: [\n", NULL },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        char *out = NULL;

        assert_int_equal(config_yaml_set_db1(rows[i].in, &own, &out, &err), 0);
        assert_string_equal(out, rows[i].out ? rows[i].out : rows[i].in);
        mem_free(out);
    }
}

static void a_download_without_own_file_gets_its_database(void **state)
{
    static const struct generate_options download = { .db1 = &own };
    struct model m = { .default_llm = MODEL_NONE };
    struct err err = { 0 };
    char *out = NULL;

    (void)state;
    assert_int_equal(generate_config_yaml(&m, &download, &out, &err), 0);
    assert_non_null(strstr(out, "  sql:\n  - db1:\n      " OWN
                                "      port: 5432\n  - db2:\n      dialect: postgresql\n      host: YOUR-"));
    mem_free(out);
    m.config_yaml = (char[]){ "db:\n  sql:\n    - db1:\n" };
    assert_int_equal(generate_config_yaml(&m, &download, &out, &err), 0);
    assert_non_null(strstr(out, OWN));
    mem_free(out);
}

static void short_memory_is_an_error_and_leaks_nothing(void **state)
{
    struct model m = { .default_llm = MODEL_NONE };

    (void)state;
    OOM_SWEEP({
        struct err err = { 0 };
        char *out = NULL;
        int result = generate_config_yaml(&m, &session, &out, &err);

        assert_int_equal(result, oom_hit() ? -1 : 0);
        assert_int_equal(result == 0, out != NULL);
        mem_free(out);
    });
    m.config_yaml = (char[]){ "a: 1\nplatforms: {websocket: {port: 1}}\n" };
    OOM_SWEEP({
        struct err err = { 0 };
        char *out = NULL;
        int result = generate_config_yaml(&m, &session, &out, &err);

        assert_int_equal(result, oom_hit() ? -1 : 0);
        mem_free(out);
    });
    OOM_SWEEP({
        struct err err = { 0 };
        char *out = NULL;
        int result = config_yaml_set_db1("db:\n  sql:\n    - db1:\n        h: YOUR-H\n", &own, &out, &err);

        assert_int_equal(result, oom_hit() ? -1 : 0);
        mem_free(out);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides_are_set_and_the_rest_is_kept),
        cmocka_unit_test(what_cannot_hold_the_overrides_is_refused),
        cmocka_unit_test(sqlite_items_name_their_file),
        cmocka_unit_test(a_given_file_is_untouched_when_nothing_overrides_it),
        cmocka_unit_test(the_default_file_depends_on_who_runs_it),
        cmocka_unit_test(an_own_database_takes_the_place_of_placeholders),
        cmocka_unit_test(a_download_without_own_file_gets_its_database),
        cmocka_unit_test(short_memory_is_an_error_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
