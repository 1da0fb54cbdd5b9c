#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fcgi/prefer.h"
#include "shared/base/mem.h"

static void only_a_wait_that_makes_sense_counts(void **state)
{
    static const struct {
        const char *header;
        unsigned seconds;
    } rows[] = {
        { "", 0 },
        { "wait=10", 10 },
        { "WAIT = 10", 10 },
        { "respond-async, wait=7", 7 },
        { "return=minimal; foo=\"bar\", wait=\"8\"; x", 8 },
        { "wait=60", 60 },
        { "wait=61", 60 },
        { "wait=99999999999999999999", 60 },
        { "wait=0", 0 },
        { "wait", 0 },
        { "wait=", 0 },
        { "wait=-1", 0 },
        { "wait=1.5", 0 },
        { "wait=5x", 0 },
        { "wait=\"5", 0 },
        { "waiting=5", 0 },
        { "x=wait=5", 0 },
        { ",,, ,wait=3", 3 },
        { "wait=x, wait=5", 0 },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (prefer_wait(rows[i].header) != rows[i].seconds)
            fail_msg("%s: %u", rows[i].header, prefer_wait(rows[i].header));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(only_a_wait_that_makes_sense_counts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
