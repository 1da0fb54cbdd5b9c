#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/diagram/findings.h"
#include "tests/support/oom.h"

static void errors_say_stop_and_warnings_go_on(void **state)
{
    struct findings f;

    (void)state;
    findings_init(&f);
    assert_int_equal(finding_add(&f, FINDING_ERROR, 4, "model.elements.a", "state \"%s\"", "x"), -1);
    assert_int_equal(finding_add(&f, FINDING_WARNING, 21, NULL, "tool"), 0);
    assert_int_equal(f.len, 2);
    assert_int_equal(f.errors, 1);
    assert_int_equal(f.items[0].rule, 4);
    assert_string_equal(f.items[0].message, "state \"x\"");
    assert_string_equal(f.items[0].where, "model.elements.a");
    assert_string_equal(f.items[1].where, "");
    assert_false(f.truncated);
    findings_release(&f);
    assert_int_equal(f.len, 0);
    findings_release(NULL);
}

static void many_warnings_leave_room_for_errors(void **state)
{
    struct findings f;
    size_t i;

    (void)state;
    findings_init(&f);
    for (i = 0; i < 5000; i++)
        finding_add(&f, FINDING_WARNING, 0, NULL, "w");
    assert_int_equal(f.len, FINDINGS_WARNINGS_MAX);
    assert_true(f.truncated);
    for (i = 0; i < 5000; i++)
        assert_int_equal(finding_add(&f, FINDING_ERROR, 1, NULL, "e"), -1);
    assert_int_equal(f.len, FINDINGS_MAX);
    assert_int_equal(f.errors, 5000);
    findings_release(&f);
}

static void long_messages_are_cut_between_characters(void **state)
{
    char text[FINDING_MESSAGE_MAX * 2];
    struct findings f;
    size_t i;

    (void)state;
    for (i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[i] = '\0';
    findings_init(&f);
    finding_add(&f, FINDING_ERROR, 1, NULL, "x%s", text);
    assert_int_equal(strlen(f.items[0].message), FINDING_MESSAGE_MAX - 1);
    findings_release(&f);
}

static void short_memory_keeps_the_verdict(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct findings f;

        findings_init(&f);
        assert_int_equal(finding_add(&f, FINDING_ERROR, 1, "w", "m"), -1);
        assert_int_equal(f.errors, 1);
        assert_true(f.len == 1 ? !f.truncated : f.truncated);
        findings_release(&f);
    });
}

static void a_part_is_adopted_with_its_place_and_its_title(void **state)
{
    static const struct {
        const char *where, *becomes;
    } rows[] = {
        { "model.elements.a", "config.variations[1].model.elements.a" },
        { "model", "config.variations[1].model" },
        { "models", "models" },
        { "config.language", "config.variations[1].config.language" },
        { "title", "title" },
        { "", "" },
    };
    struct findings f, part;
    size_t i;

    (void)state;
    findings_init(&f);
    findings_init(&part);
    finding_add(&f, FINDING_ERROR, 1, "", "before");
    for (i = 0; i < ARRAY_LEN(rows); i++)
        finding_add(&part, i ? FINDING_WARNING : FINDING_ERROR, 7, rows[i].where, "is wrong");
    part.errors += 3; /* those that found no room */
    part.truncated = true;
    findings_adopt(&f, &part, "Variation", "config.variations[1].model", "config.variations[1].config");
    assert_int_equal(part.len, 0);
    assert_int_equal(f.errors, 5);
    assert_true(f.truncated);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_string_equal(f.items[i + 1].where, rows[i].becomes);
        assert_string_equal(f.items[i + 1].message, "Variation: is wrong");
        assert_int_equal(f.items[i + 1].rule, 7);
        assert_int_equal(f.items[i + 1].severity, i ? FINDING_WARNING : FINDING_ERROR);
    }
    finding_add(&part, FINDING_WARNING, 0, "model.x", "w");
    findings_adopt(&f, &part, NULL, NULL, NULL);
    assert_string_equal(f.items[f.len - 1].where, "model.x");
    assert_string_equal(f.items[f.len - 1].message, "w");
    findings_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_say_stop_and_warnings_go_on),
        cmocka_unit_test(many_warnings_leave_room_for_errors),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(short_memory_keeps_the_verdict),
        cmocka_unit_test(a_part_is_adopted_with_its_place_and_its_title),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
