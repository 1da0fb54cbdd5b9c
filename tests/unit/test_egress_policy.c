#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "supervisor/egress/policy.h"
#include "tests/support/oom.h"

static struct allow_list parsed(const char *text)
{
    struct allow_list list;
    struct err err = { 0 };

    if (allow_list_parse(text, &list, &err) < 0)
        fail_msg("%s", err.msg);
    return list;
}

static struct egress_target target(const char *host, uint16_t port)
{
    struct egress_target t = { .port = port };

    if (address_parse(host, &t.address) < 0)
        (void)snprintf(t.name, sizeof(t.name), "%s", host);
    return t;
}

static struct address address(const char *text)
{
    struct address a;

    assert_int_equal(address_parse(text, &a), 0);
    return a;
}

static void entries_are_names_names_below_and_addresses(void **state)
{
    struct allow_list list = parsed("Example.org:443, *.models.example:8443,192.0.2.7:80 ,[2001:db8::7]:8080,,");

    (void)state;
    assert_int_equal(list.n, 4);
    assert_true(allow_list_has_name(&list, "example.org", 443));
    assert_false(allow_list_has_name(&list, "example.org", 80));
    assert_false(allow_list_has_name(&list, "www.example.org", 443));
    assert_false(allow_list_has_name(&list, "notexample.org", 443));
    assert_true(allow_list_has_name(&list, "a.models.example", 8443));
    assert_true(allow_list_has_name(&list, "a.b.models.example", 8443));
    assert_false(allow_list_has_name(&list, "models.example", 8443));
    assert_false(allow_list_has_name(&list, "xmodels.example", 8443));
    assert_true(allow_list_has_address(&list, &(struct address){ AF_INET, { 192, 0, 2, 7 } }, 80));
    assert_false(allow_list_has_address(&list, &(struct address){ AF_INET, { 192, 0, 2, 7 } }, 81));
    assert_false(allow_list_has_address(&list, &(struct address){ AF_INET, { 192, 0, 2, 8 } }, 80));
    {
        struct address six = address("2001:db8::7");

        assert_true(allow_list_has_address(&list, &six, 8080));
    }
    allow_list_release(&list);
    allow_list_release(NULL);
}

static void an_entry_that_makes_no_sense_is_named(void **state)
{
    static const char *const rows[] = {
        "example.org",
        ":443",
        "example.org:",
        "example.org:0",
        "example.org:65536",
        "example.org:4x",
        "a b:1",
        "*:443",
        "*.:443",
        "a.*.b:443",
        "*example.org:443",
        "-a.org:1",
        "a-.org:1",
        "a..b:1",
        "127.1:80",
        "0x7f000001:80",
        "*.1.2.3.4:80",
        "[127.0.0.1]:80",
        "::1:80",
        "[::1:80",
        "[fe80::1%lo]:80",
        "ex\xc3\xa4mple:1",
        "a.b:443,x",
        "a/b:1",
        "10.1.0.1/16:443",
        "10.1.0.0/33:443",
        "10.1.0.0/:443",
        "10.1.0.0/-1:443",
        "0.0.0.0/0:443",
        "10.1/16:443",
        "[fd00::/129]:443",
        "[fd00::1/64]:443",
        "[::/0]:443",
        "a.example/24:443",
        "[10.0.0.0/8]:443",
        "fd00::/64:443",
    };
    struct allow_list list = { 0 };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };

        if (allow_list_parse(rows[i], &list, &err) == 0)
            fail_msg("%s is taken", rows[i]);
        assert_int_equal(err.kind, ERR_BAD_REQUEST);
        assert_non_null(strstr(err.msg, "is not host:port"));
        assert_null(list.entries);
    }
}

static void a_range_is_every_address_in_it(void **state)
{
    static const struct {
        const char *address;
        uint16_t port;
        bool listed;
    } rows[] = {
        { "10.1.0.0", 443, true },         { "10.1.255.255", 443, true },  { "10.2.0.0", 443, false },
        { "10.0.255.255", 443, false },    { "10.1.0.1", 80, false },      { "172.16.3.255", 80, true },
        { "172.16.4.0", 80, false },       { "192.0.2.9", 1, true },       { "192.0.2.8", 1, false },
        { "fd00:1::5", 443, true },        { "fd00:1:ffff::", 443, true }, { "fd00:2::", 443, false },
        { "::ffff:10.1.0.1", 443, false },
    };
    struct allow_list list = parsed("10.1.0.0/16:443,172.16.0.0/22:80,192.0.2.9/32:1,[fd00:1::/32]:443");
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct address a = address(rows[i].address);

        if (allow_list_has_address(&list, &a, rows[i].port) != rows[i].listed)
            fail_msg("%s:%u", rows[i].address, rows[i].port);
    }
    allow_list_release(&list);
}

static void the_list_is_bounded(void **state)
{
    auto_buf struct buf text;
    struct allow_list list = { 0 };
    struct err err = { 0 };
    int i;

    (void)state;
    buf_init(&text, 1 << 20);
    for (i = 0; i < ALLOW_LIST_MAX; i++)
        buf_add_fmt(&text, "h%d.example:443,", i);
    assert_int_equal(allow_list_parse(text.data, &list, &err), 0);
    assert_int_equal(list.n, ALLOW_LIST_MAX);
    allow_list_release(&list);
    buf_add_str(&text, "one.more:1");
    assert_int_equal(allow_list_parse(text.data, &list, &err), -1);
    assert_non_null(strstr(err.msg, "1024"));
}

static void host_names_are_put_in_one_form(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: refused */
    } rows[] = {
        { "Example.ORG", "example.org" },
        { "example.org.", "example.org" },
        { "localhost", "localhost" },
        { "a_b.c-d.e1", "a_b.c-d.e1" },
        { "xn--bcher-kva.example", "xn--bcher-kva.example" },
        { "1e100.net", "1e100.net" },
        { "", NULL },
        { ".", NULL },
        { "..", NULL },
        { "a..", NULL },
        { "-a", NULL },
        { "a-", NULL },
        { "a.-b", NULL },
        { "a b", NULL },
        { "a%b", NULL },
        { "b\xc3\xbc", NULL },
        { "1.2.3.4", NULL },
        { "127.1", NULL },
        { "a/b", NULL },
        { "a:b", NULL },
        { "0x7f.1", NULL },
    };
    char long_name[300];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char text[64];
        int r;

        (void)snprintf(text, sizeof(text), "%s", rows[i].in);
        r = host_name_check(text);
        if ((r == 0) != (rows[i].out != NULL))
            fail_msg("\"%s\": %d", rows[i].in, r);
        if (rows[i].out)
            assert_string_equal(text, rows[i].out);
    }
    for (i = 0; i < sizeof(long_name); i++)
        long_name[i] = i % 50 == 49 ? '.' : 'a';
    long_name[253] = '\0';
    assert_int_equal(host_name_check(long_name), 0);
    long_name[253] = 'a';
    long_name[254] = '\0';
    assert_int_equal(host_name_check(long_name), -1);
    memset(long_name, 'a', 64);
    long_name[64] = '\0';
    assert_int_equal(host_name_check(long_name), -1);
    long_name[63] = '\0';
    assert_int_equal(host_name_check(long_name), 0);
}

static void public_means_public_addresses_whatever_their_name(void **state)
{
    const struct egress_policy p = { .listed_only = false };
    struct egress_target t;
    struct address a;

    (void)state;
    t = target("anything.example", 25);
    assert_null(egress_refuse_target(&p, &t));
    t = target("localhost", 80);
    assert_null(egress_refuse_target(&p, &t)); /* judged by where it leads */
    t = target("8.8.8.8", 53);
    assert_null(egress_refuse_target(&p, &t));
    t = target("127.0.0.1", 80);
    assert_non_null(egress_refuse_target(&p, &t));
    t = target("::ffff:10.0.0.1", 80);
    assert_non_null(egress_refuse_target(&p, &t));
    a = address("8.8.8.8");
    assert_null(egress_refuse_address(&p, &a, 53, false));
    assert_string_equal(egress_refuse_address(&p, &a, 53, true), "an address of this machine");
    a = address("10.0.0.1");
    assert_string_equal(egress_refuse_address(&p, &a, 80, false), "a private address");
    assert_string_equal(egress_policy_name(&p), "public");
}

static void allow_means_listed_targets_and_no_inner_address_that_is_not_listed(void **state)
{
    struct egress_policy p = { .listed_only = true,
                               .list = parsed("api.example:443,10.0.0.5:443,127.0.0.1:11434,[::1]:5") };
    struct egress_target t;
    struct address a;

    (void)state;
    t = target("api.example", 443);
    assert_null(egress_refuse_target(&p, &t));
    t = target("api.example", 80);
    assert_non_null(egress_refuse_target(&p, &t));
    t = target("localhost", 11434);
    assert_non_null(egress_refuse_target(&p, &t));
    t = target("8.8.8.8", 443);
    assert_non_null(egress_refuse_target(&p, &t));
    t = target("127.0.0.1", 11434);
    assert_null(egress_refuse_target(&p, &t));
    t = target("127.0.0.1", 11435);
    assert_non_null(egress_refuse_target(&p, &t));
    t = target("::ffff:127.0.0.1", 11434); /* another spelling is not listed */
    assert_non_null(egress_refuse_target(&p, &t));

    a = address("10.0.0.5"); /* api.example may lead here, and only here inside */
    assert_null(egress_refuse_address(&p, &a, 443, false));
    assert_null(egress_refuse_address(&p, &a, 443, true));
    assert_non_null(egress_refuse_address(&p, &a, 80, false));
    a = address("10.0.0.6");
    assert_string_equal(egress_refuse_address(&p, &a, 443, false), "a private address");
    a = address("93.184.216.34");
    assert_null(egress_refuse_address(&p, &a, 443, false));
    assert_non_null(egress_refuse_address(&p, &a, 443, true));
    assert_string_equal(egress_policy_name(&p), "allow");
    allow_list_release(&p.list);
}

static void targets_are_written_as_they_are_asked_for(void **state)
{
    char text[EGRESS_TARGET_TEXT];
    struct egress_target t;

    (void)state;
    t = target("example.org", 443);
    egress_target_format(&t, text);
    assert_string_equal(text, "example.org:443");
    t = target("1.2.3.4", 1);
    egress_target_format(&t, text);
    assert_string_equal(text, "1.2.3.4:1");
    t = target("2606:4700::1111", 65535);
    egress_target_format(&t, text);
    assert_string_equal(text, "[2606:4700::1111]:65535");
}

static void a_list_without_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    OOM_SWEEP({
        struct allow_list list = { 0 };
        struct err err = { 0 };

        if (allow_list_parse("a.example:1,*.b.example:2,1.2.3.4:5", &list, &err) < 0)
            assert_true(!list.entries && err.kind == ERR_INTERNAL);
        allow_list_release(&list);
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_names_names_below_and_addresses),
        cmocka_unit_test(an_entry_that_makes_no_sense_is_named),
        cmocka_unit_test(a_range_is_every_address_in_it),
        cmocka_unit_test(the_list_is_bounded),
        cmocka_unit_test(host_names_are_put_in_one_form),
        cmocka_unit_test(public_means_public_addresses_whatever_their_name),
        cmocka_unit_test(allow_means_listed_targets_and_no_inner_address_that_is_not_listed),
        cmocka_unit_test(targets_are_written_as_they_are_asked_for),
        cmocka_unit_test(a_list_without_memory_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
