#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/ipc/actor.h"

static void addresses_of_one_owner_give_one_actor(void **state)
{
    static const struct {
        const char *address, *actor;
        int rc;
    } rows[] = {
        { "192.0.2.1", "ip:192.0.2.1", 0 },
        { "127.0.0.1", "ip:127.0.0.1", 0 },
        { "::ffff:192.0.2.1", "ip:192.0.2.1", 0 },
        { "2001:db8:1:2:3:4:5:6", "ip:2001:db8:1:2::/64", 0 },
        { "2001:0DB8:0001:0002:ffff::", "ip:2001:db8:1:2::/64", 0 },
        { "2001:db8:1:3::1", "ip:2001:db8:1:3::/64", 0 },
        { "::1", "ip:::/64", 0 },
        { "unix:", "ip:unknown", -1 },
        { "", "ip:unknown", -1 },
        { "192.0.2.1:80", "ip:unknown", -1 },
        { "192.0.2.1, 10.0.0.1", "ip:unknown", -1 },
        { NULL, "ip:unknown", -1 },
    };
    char actor[RPC_ACTOR_MAX + 1];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(actor_from_address(rows[i].address, actor), rows[i].rc);
        assert_string_equal(actor, rows[i].actor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_one_owner_give_one_actor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
