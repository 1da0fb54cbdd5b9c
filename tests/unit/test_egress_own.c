#include <ifaddrs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/egress/own.h"

static bool own(const char *text)
{
    struct address a;

    assert_int_equal(address_parse(text, &a), 0);
    return egress_is_own(&a);
}

static void every_address_of_an_interface_is_own(void **state)
{
    struct ifaddrs *list, *i;
    struct address a;
    char text[ADDRESS_TEXT_MAX];

    (void)state;
    assert_int_equal(getifaddrs(&list), 0);
    for (i = list; i; i = i->ifa_next) {
        if (!i->ifa_addr || address_from_sockaddr(i->ifa_addr, &a) < 0)
            continue;
        address_format(&a, text);
        if (!egress_is_own(&a))
            fail_msg("%s", text);
    }
    freeifaddrs(list);
    assert_true(own("127.0.0.1"));
    assert_true(own("127.255.3.4")); /* no interface lists it, and it is */
}

static void addresses_of_others_are_not(void **state)
{
    (void)state;
    assert_false(own("8.8.8.8"));
    assert_false(own("240.0.0.1"));
    assert_false(own("2606:4700::1111"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_of_an_interface_is_own),
        cmocka_unit_test(addresses_of_others_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
