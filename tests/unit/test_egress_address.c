#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "supervisor/egress/address.h"

static struct address parsed(const char *text)
{
    struct address a;

    if (address_parse(text, &a) < 0)
        fail_msg("%s is no address", text);
    return a;
}

static void expect_refused(const char *text, const char *kind)
{
    struct address a = parsed(text);
    const char *got = address_kind_refused(&a);

    if (!got || !strstr(got, kind))
        fail_msg("%s: %s, not %s", text, got ? got : "public", kind);
}

static void expect_public(const char *text)
{
    struct address a = parsed(text);
    const char *got = address_kind_refused(&a);

    if (got)
        fail_msg("%s: %s", text, got);
}

static void inner_ipv4_addresses_are_refused(void **state)
{
    static const struct {
        const char *text, *kind;
    } rows[] = {
        { "0.0.0.0", "unspecified" },
        { "0.0.0.1", "reserved" },
        { "0.255.255.255", "reserved" },
        { "10.0.0.0", "private" },
        { "10.255.255.255", "private" },
        { "100.64.0.0", "inner network" },
        { "100.100.100.200", "inner network" },
        { "100.127.255.255", "inner network" },
        { "127.0.0.1", "loopback" },
        { "127.255.255.255", "loopback" },
        { "168.63.129.16", "metadata" },
        { "169.254.169.254", "metadata" },
        { "169.254.0.1", "link-local" },
        { "169.254.170.2", "link-local" },
        { "172.16.0.0", "private" },
        { "172.31.255.255", "private" },
        { "192.0.0.192", "reserved" },
        { "192.0.2.1", "documentation" },
        { "192.88.99.1", "reserved" },
        { "192.168.0.0", "private" },
        { "192.168.255.255", "private" },
        { "198.18.0.0", "benchmarks" },
        { "198.19.255.255", "benchmarks" },
        { "198.51.100.7", "documentation" },
        { "203.0.113.7", "documentation" },
        { "224.0.0.1", "multicast" },
        { "239.255.255.255", "multicast" },
        { "240.0.0.1", "reserved" },
        { "255.255.255.255", "reserved" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(rows[i].text, rows[i].kind);
}

static void neighbours_of_inner_ranges_are_public(void **state)
{
    static const char *const rows[] = {
        "1.0.0.0",     "1.1.1.1",         "8.8.8.8",     "9.255.255.255",   "11.0.0.0",        "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.0",   "168.63.129.15",   "168.63.129.17",   "169.253.255.255",
        "169.255.0.0", "172.15.255.255",  "172.32.0.0",  "191.255.255.255", "192.0.1.0",       "192.0.3.0",
        "192.88.98.0", "192.88.100.0",    "192.167.0.0", "192.169.0.0",     "198.17.255.255",  "198.20.0.0",
        "198.51.99.0", "198.51.101.0",    "203.0.112.0", "203.0.114.0",     "223.255.255.255",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect_public(rows[i]);
}

static void inner_ipv6_addresses_are_refused(void **state)
{
    static const struct {
        const char *text, *kind;
    } rows[] = {
        { "::", "unspecified" },
        { "::1", "loopback" },
        { "::2", "IPv4" },
        { "fc00::1", "private" },
        { "fd00:ec2::254", "private" },
        { "fdff:ffff::1", "private" },
        { "fe80::1", "link-local" },
        { "febf::1", "link-local" },
        { "fec0::1", "private" },
        { "ff02::1", "multicast" },
        { "ff0e::1", "multicast" },
        { "100::1", "reserved" },
        { "2001:db8::1", "documentation" },
        { "3fff:fff::1", "documentation" },
        { "2001:2::1", "benchmarks" },
        { "2001:10::1", "reserved" },
        { "2001:20::1", "reserved" },
        { "5f00::1", "reserved" },
        { "4000::1", "reserved" },
        { "1fff::1", "reserved" },
        { "fe00::1", "reserved" },
        { "64:ff9b:1::a00:1", "reserved" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(rows[i].text, rows[i].kind);
}

static void ipv6_forms_of_ipv4_addresses_are_no_way_around(void **state)
{
    static const char *const carriers[] = {
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1",
        "::127.0.0.1",
        "::8.8.8.8",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2600:1::5efe:10.0.0.1",
        "2600:1::200:5efe:10.0.0.1",
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(carriers); i++)
        expect_refused(carriers[i], "IPv4 address in IPv6 form");
    expect_refused("64:ff9b::127.0.0.1", "loopback");
    expect_refused("64:ff9b::10.1.2.3", "private");
    expect_refused("64:ff9b::169.254.169.254", "metadata");
    expect_public("64:ff9b::8.8.8.8");
}

static void public_ipv6_addresses_are_public(void **state)
{
    static const char *const rows[] = {
        "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450:4001::1", "2001:200::1", "3ffe::1", "2003::1", "2000::1",
        "2001:db9::1"
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        expect_public(rows[i]);
}

static void only_full_forms_are_addresses(void **state)
{
    static const char *const none[] = { "",           "127.1",      "0x7f.0.0.1", "2130706433", "127.0.0.01",
                                        "0177.0.0.1", "127.0.0.1 ", " 127.0.0.1", "1.2.3.4.5",  "1.2.3.",
                                        "256.1.1.1",  "[::1]",      "fe80::1%lo", "::1%1",      ":::",
                                        "localhost",  "1.2.3.4.",   "12345::" };
    struct address a;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(none); i++)
        if (address_parse(none[i], &a) == 0)
            fail_msg("%s is an address", none[i]);
    assert_int_equal(address_parse("0.10.100.0", &a), 0);
}

static void numbers_in_disguise_are_known(void **state)
{
    static const char *const numeric[] = { "127.1",  "0x7f000001", "2130706433", "1.2.3.4", "a.1",
                                           "x.0x1f", "x.0x",       "0177.1.",    "1" };
    static const char *const names[] = {
        "", ".", "a", "1a", "example.org", "1.example", "0xg", "a.b1", "x.0x1g", "1-1"
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(numeric); i++)
        if (!address_looks_numeric(numeric[i]))
            fail_msg("%s", numeric[i]);
    for (i = 0; i < ARRAY_LEN(names); i++)
        if (address_looks_numeric(names[i]))
            fail_msg("%s", names[i]);
}

static void addresses_survive_the_way_to_the_socket_layer(void **state)
{
    static const char *const rows[] = { "1.2.3.4", "2606:4700::1111", "::1", "255.255.255.255" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct address a = parsed(rows[i]), b;
        struct sockaddr_storage sa;
        char text[ADDRESS_TEXT_MAX];

        assert_true(address_to_sockaddr(&a, 443, &sa) > 0);
        assert_int_equal(address_from_sockaddr((struct sockaddr *)&sa, &b), 0);
        assert_true(address_equal(&a, &b));
        address_format(&b, text);
        assert_string_equal(text, rows[i]);
    }
    assert_int_equal(address_from_sockaddr(&(struct sockaddr){ .sa_family = AF_UNIX }, &(struct address){ 0 }), -1);
}

static void families_do_not_equal(void **state)
{
    struct address a = parsed("1.2.3.4"), b = parsed("102:304::");

    (void)state;
    assert_false(address_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_ipv4_addresses_are_refused),
        cmocka_unit_test(neighbours_of_inner_ranges_are_public),
        cmocka_unit_test(inner_ipv6_addresses_are_refused),
        cmocka_unit_test(ipv6_forms_of_ipv4_addresses_are_no_way_around),
        cmocka_unit_test(public_ipv6_addresses_are_public),
        cmocka_unit_test(only_full_forms_are_addresses),
        cmocka_unit_test(numbers_in_disguise_are_known),
        cmocka_unit_test(addresses_survive_the_way_to_the_socket_layer),
        cmocka_unit_test(families_do_not_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
