#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/generate/generate.h"
#include "shared/generate/support_files.h"
#include "tests/support/oom.h"

#define TEXT(s) ((char[]){ s })

static const struct generate_options session = { .session = true };
static const struct generate_options download = { 0 };

static struct tool tools[] = {
    { .name = TEXT("a"), .description = TEXT(""), .code = TEXT("def a():\n    pass") },
    { .name = TEXT("b"), .description = TEXT(""), .code = TEXT("def b():\r\n    pass\r\n") },
};
static struct skill skills[] = {
    { .name = TEXT("../Tone"), .content = TEXT("one \xc3\xa9") },
    { .name = TEXT("tone"), .content = TEXT("two") },
    { .name = TEXT("TONE"), .content = TEXT("three") },
    { .name = TEXT("b/c"), .content = TEXT("four") },
};
static struct workspace workspaces[] = {
    { .name = TEXT("w"), .path = TEXT("/data/./x\\y"), .writable = true, .max_read_bytes = 5 },
    { .name = TEXT("v"), .path = TEXT("C:\\data"), .max_read_bytes = 5 },
};
static struct gui guis[] = {
    { .gui_id = TEXT("z a"), .persist = true },
    { .gui_id = TEXT("unused") },
    { .gui_id = TEXT("z_a"), .width = TEXT("40%") },
    { .gui_id = TEXT("__init__") },
};
static struct rag rags[] = { { .name = TEXT("Menu"), .k = 4 }, { .name = TEXT("menu"), .k = 4 } };
static struct action actions[] = {
    { .kind = ACTION_GUI, .text = TEXT("z_a"), .gui = 2 },
    { .kind = ACTION_GUI, .text = TEXT("z a"), .gui = 0 },
    { .kind = ACTION_GUI, .text = TEXT("__init__"), .gui = 3 },
};
static struct state states[] = {
    { .id = TEXT("s"), .name = TEXT("hub"), .initial = true, .has_body = true, .body = { actions, 3, 3 } },
};

static char title[] = "../../x \xf0\x9f\x98\x80", mark[] = "?";

static struct model rich(void)
{
    return (struct model){
        .name = title,
        .tools = tools,
        .tools_len = ARRAY_LEN(tools),
        .skills = skills,
        .skills_len = ARRAY_LEN(skills),
        .workspaces = workspaces,
        .workspaces_len = ARRAY_LEN(workspaces),
        .guis = guis,
        .guis_len = ARRAY_LEN(guis),
        .states = states,
        .states_len = 1,
        .default_llm = MODEL_NONE,
    };
}

static void files_come_in_order_and_below_their_root(void **state)
{
    static const char *const paths[] = {
        "agent.py",       "config.yaml",      "tools.py",     "skills/TONE_2.md", "skills/_Tone.md", "skills/b_c.md",
        "skills/tone.md", "guis/__init__.py", "guis/init.py", "guis/z_a.py",      "guis/z_a_2.py",
    };
    struct model m = rich();
    struct bundle b = { 0 };
    struct err err = { 0 };
    size_t i;

    (void)state;
    assert_int_equal(generate_bundle(&m, &session, &b, &err), 0);
    for (i = 0; i < b.files_len; i++)
        assert_int_equal(path_check(b.files[i].path, strlen(b.files[i].path)), 0);
    for (i = 0; i < ARRAY_LEN(paths) && i < b.files_len; i++)
        assert_string_equal(b.files[i].path, paths[i]);
    assert_int_equal(b.files_len, ARRAY_LEN(paths));
    assert_int_equal(b.directories.len, 2);
    assert_string_equal(b.directories.items[0], "data/x/y");
    assert_string_equal(b.directories.items[1], "data");
    assert_string_equal(bundle_find(&b, "tools.py")->content, "def a():\n    pass\n\ndef b():\r\n    pass\r\n");
    assert_string_equal(bundle_find(&b, "skills/_Tone.md")->content, "one \xc3\xa9");
    assert_string_equal(bundle_find(&b, "guis/__init__.py")->content, "");
    assert_null(bundle_find(&b, "guis/unused.py"));
    assert_non_null(
        strstr(bundle_find(&b, "agent.py")->content, "load_tool('a', None, 1, 2)\nload_tool('b', None, 4, 5)\n"));
    assert_non_null(strstr(bundle_find(&b, "agent.py")->content, "'skills', 'tone.md'), name='tone')"));
    assert_non_null(strstr(bundle_find(&b, "agent.py")->content, "path='data/x/y'"));
    bundle_release(&b);
}

static void downloads_have_a_readme_and_folders_for_documents(void **state)
{
    struct model m = rich();
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    m.rags = rags;
    m.rags_len = ARRAY_LEN(rags);
    assert_int_equal(generate_bundle(&m, &download, &b, &err), 0);
    assert_string_equal(b.files[0].path, "_.._x__.py");
    assert_non_null(strstr(bundle_find(&b, "readme.txt")->content, "python _.._x__.py\n"));
    assert_non_null(bundle_find(&b, "menu/README.txt"));
    assert_non_null(bundle_find(&b, "menu_2/README.txt"));
    assert_non_null(strstr(b.files[0].content, "persist_directory='vector_store/menu_2'"));
    assert_non_null(strstr(b.files[0].content, "path='/data/./x\\x5cy'"));
    assert_int_equal(b.directories.len, 0);
    bundle_release(&b);
}

static void a_readme_says_which_settings_left_the_texts_alone(void **state)
{
    char keys[] = "language, agentStyle";
    struct model m = rich();
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(generate_bundle(&m, &download, &b, &err), 0);
    assert_null(strstr(bundle_find(&b, "readme.txt")->content, "as drawn"));
    bundle_release(&b);
    m.settings.texts_stay = keys;
    assert_int_equal(generate_bundle(&m, &download, &b, &err), 0);
    assert_non_null(strstr(bundle_find(&b, "readme.txt")->content, "\nlanguage, agentStyle\n"));
    bundle_release(&b);
}

static void a_verdict_needs_the_config_of_the_diagram_only(void **state)
{
    struct generate_options o = session;
    struct model m = rich();
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    o.verdict = true;
    o.port = 1;
    assert_int_equal(generate_bundle(&m, &o, &b, &err), 0);
    assert_non_null(bundle_find(&b, "agent.py"));
    assert_null(bundle_find(&b, "config.yaml"));
    bundle_release(&b);
    m.config_yaml = TEXT("a: b");
    assert_int_equal(generate_bundle(&m, &o, &b, &err), 0);
    assert_non_null(bundle_find(&b, "config.yaml"));
    bundle_release(&b);
    m.config_yaml = TEXT("a: [");
    assert_int_equal(generate_bundle(&m, &o, &b, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
}

static void a_session_needs_a_config_that_can_be_written_into(void **state)
{
    static const struct {
        const char *yaml;
        bool session;
    } rows[] = { { "a: 1 # kept\n", true }, { "- 1", false }, { "a: [", false }, { "platforms: 5", false } };
    struct model m = rich();
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct bundle b = { 0 };
        struct err err = { 0 };

        m.config_yaml = (char *)(uintptr_t)rows[i].yaml;
        assert_int_equal(generate_bundle(&m, &session, &b, &err), rows[i].session ? 0 : -1);
        if (rows[i].session)
            assert_string_equal(bundle_find(&b, "config.yaml")->content, rows[i].yaml);
        bundle_release(&b);
        assert_int_equal(generate_bundle(&m, &download, &b, &err), 0);
        bundle_release(&b);
    }
}

static void a_program_never_hides_a_module(void **state)
{
    static const struct {
        char name[16];
        const char *path;
    } rows[] = {
        { "calendar", "calendar_agent.py" }, { "tools", "tools_agent.py" }, { "baf", "baf_agent.py" },
        { "zoneinfo", "zoneinfo_agent.py" }, { "abc", "abc_agent.py" },     { "Calendar", "Calendar.py" },
        { "calendars", "calendars.py" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char name[16];
        struct model m = { .name = name, .default_llm = MODEL_NONE };
        struct bundle b = { 0 };

        memcpy(name, rows[i].name, sizeof(name));
        assert_int_equal(generate_bundle(&m, &download, &b, NULL), 0);
        assert_string_equal(b.files[0].path, rows[i].path);
        bundle_release(&b);
    }
}

static void a_workspace_that_leaves_its_folder_is_refused(void **state)
{
    struct workspace out = { .name = TEXT("w"), .path = TEXT("a/../../b"), .max_read_bytes = 1 };
    struct model m = { .name = TEXT("A"), .workspaces = &out, .workspaces_len = 1, .default_llm = MODEL_NONE };
    struct bundle b = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(generate_bundle(&m, &session, &b, &err), -1);
    assert_int_equal(err.kind, ERR_BAD_REQUEST);
    assert_null(b.files);
}

static void folders_never_have_the_name_of_a_file(void **state)
{
    static const struct {
        char path[24];
        bool right;
    } rows[] = {
        { "agent.py", false }, { "tools.py/x", false },    { "skills/b_c.md", false },
        { "skills", true },    { "skills/b_c.md2", true }, { "config.yml", true },
    };
    struct rag documents[] = { { .name = TEXT("Config.yaml"), .k = 4 }, { .name = TEXT("x.PY"), .k = 4 } };
    struct model m = rich();
    struct str_list folders = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char path[24];
        struct workspace w = { .name = mark, .path = path, .max_read_bytes = 1 };
        struct bundle b = { 0 };
        struct err err = { 0 };

        memcpy(path, rows[i].path, sizeof(path));
        m.workspaces = &w;
        m.workspaces_len = 1;
        assert_int_equal(generate_bundle(&m, &session, &b, &err), rows[i].right ? 0 : -1);
        assert_int_equal(err.kind, rows[i].right ? ERR_NONE : ERR_BAD_REQUEST);
        bundle_release(&b);
    }
    m.name = TEXT("x");
    m.rags = documents;
    m.rags_len = ARRAY_LEN(documents);
    assert_int_equal(rag_folders(&m, &folders, NULL), 0);
    assert_string_equal(folders.items[0], "config.yaml_2");
    assert_string_equal(folders.items[1], "x.py_2");
    str_list_release(&folders);
}

static void a_path_that_is_not_clean_never_enters_a_bundle(void **state)
{
    static const char *const paths[] = { "", "/a", "../a", "a/../b", "a//b", "./a", "a/", "a\\b" };
    struct bundle b = { 0 };
    struct err err = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(paths); i++)
        assert_int_equal(bundle_add(&b, paths[i], "", 0, &err), -1);
    assert_int_equal(b.files_len, 0);
    assert_int_equal(bundle_add(&b, "a/b", "x\0y", 3, &err), 0);
    assert_int_equal(bundle_find(&b, "a/b")->size, 3);
    assert_memory_equal(bundle_find(&b, "a/b")->content, "x\0y", 4);
    bundle_release(&b);
    bundle_release(NULL);
}

static void many_names_with_one_stem_stay_apart_in_little_time(void **state)
{
    enum { COUNT = 20000 };
    struct skill *many = mem_zalloc(COUNT, sizeof(*many));
    struct model m = { .skills = many, .skills_len = COUNT };
    struct str_list stems = { 0 };
    struct err err = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT; i++)
        many[i].name = mark;
    assert_int_equal(skill_stems(&m, &stems, &err), 0);
    assert_string_equal(stems.items[0], "_");
    assert_string_equal(stems.items[COUNT - 1], "__20000");
    str_list_release(&stems);
    mem_free(many);
}

static void short_memory_is_an_error_and_leaks_nothing(void **state)
{
    struct model m = rich();

    (void)state;
    m.rags = rags;
    m.rags_len = ARRAY_LEN(rags);
    OOM_SWEEP({
        struct bundle b = { 0 };
        struct err err = { 0 };
        int result = generate_bundle(&m, &download, &b, &err);

        assert_int_equal(result, oom_hit() ? -1 : 0);
        bundle_release(&b);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_in_order_and_below_their_root),
        cmocka_unit_test(downloads_have_a_readme_and_folders_for_documents),
        cmocka_unit_test(a_readme_says_which_settings_left_the_texts_alone),
        cmocka_unit_test(a_verdict_needs_the_config_of_the_diagram_only),
        cmocka_unit_test(a_session_needs_a_config_that_can_be_written_into),
        cmocka_unit_test(a_program_never_hides_a_module),
        cmocka_unit_test(a_workspace_that_leaves_its_folder_is_refused),
        cmocka_unit_test(folders_never_have_the_name_of_a_file),
        cmocka_unit_test(a_path_that_is_not_clean_never_enters_a_bundle),
        cmocka_unit_test(many_names_with_one_stem_stay_apart_in_little_time),
        cmocka_unit_test(short_memory_is_an_error_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
