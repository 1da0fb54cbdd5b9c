#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/cli/junit.h"
#include "tests/support/oom.h"

static void results_are_counted_and_their_texts_escaped(void **state)
{
    auto_buf struct buf out;
    struct junit j;

    (void)state;
    buf_init(&out, 65536);
    junit_init(&j);
    junit_add(&j, "a & b", 1.25, NULL);
    junit_add(&j, "c", 0.5, "expected <x>\x1b\xff \"y\"");
    junit_write(&j, "suite", &out);
    assert_false(buf_failed(&out));
    assert_string_equal(
        out.data, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "<testsuite name=\"suite\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"1.750\">\n"
                  "  <testcase classname=\"scenario\" name=\"a &amp; b\" time=\"1.250\"/>\n"
                  "  <testcase classname=\"scenario\" name=\"c\" time=\"0.500\">\n"
                  "    <failure message=\"c did not go as written\">expected &lt;x&gt;\xef\xbf\xbd\xef\xbf\xbd "
                  "&quot;y&quot;</failure>\n  </testcase>\n</testsuite>\n</testsuites>\n");
    junit_release(&j);
}

static void without_memory_the_report_says_that_it_failed(void **state)
{
    auto_buf struct buf out;
    struct junit j;

    (void)state;
    buf_init(&out, 65536);
    junit_init(&j);
    oom_fail_at(1);
    junit_add(&j, "a", 1, NULL);
    oom_off();
    junit_write(&j, "suite", &out);
    assert_true(buf_failed(&out));
    junit_release(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_counted_and_their_texts_escaped),
        cmocka_unit_test(without_memory_the_report_says_that_it_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
