#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/access.h"
#include "shared/base/mem.h"

#define NOWHERE "/nonexistent/supervisor.sock"

static enum err_kind token(const char *configured, const char *sent)
{
    struct config c = { .api_token = (char *)(uintptr_t)configured };
    char header[100];
    char *params[] = { header, NULL };
    struct request rq = { .params = params };
    struct err err = { 0 };

    snprintf(header, sizeof(header), "%s", sent ? "HTTP_X_AGENT_SIMULATOR_TOKEN=" : "X=");
    if (sent)
        strncat(header, sent, sizeof(header) - strlen(header) - 1);
    return access_token(&c, &rq, &err) == 0 ? ERR_NONE : err.kind;
}

static void the_token_has_to_be_the_same(void **state)
{
    (void)state;
    assert_int_equal(token("secret", "secret"), ERR_NONE);
    assert_int_equal(token("secret", "Secret"), ERR_AUTH);
    assert_int_equal(token("secret", "secre"), ERR_AUTH);
    assert_int_equal(token("secret", "secretx"), ERR_AUTH);
    assert_int_equal(token("secret", ""), ERR_AUTH);
    assert_int_equal(token("secret", NULL), ERR_AUTH);
}

static void without_a_configured_token_nobody_gets_in(void **state)
{
    (void)state;
    assert_int_equal(token("", ""), ERR_UNAVAILABLE);
    assert_int_equal(token("", "x"), ERR_UNAVAILABLE);
    assert_int_equal(token("", NULL), ERR_UNAVAILABLE);
}

static void the_actor_is_the_address_unless_a_sign_in_is_needed(void **state)
{
    struct config c = { .require_auth = false };
    char *params[] = { (char[]){ "REMOTE_ADDR=192.0.2.9" }, (char[]){ "HTTP_X_GITHUB_SESSION=abc" }, NULL };
    struct request rq = { .params = params };
    char actor[RPC_ACTOR_MAX + 1];
    struct err err;

    (void)state;
    assert_int_equal(access_actor(&c, NOWHERE, &rq, actor, &err), 0);
    assert_string_equal(actor, "ip:192.0.2.9");
    c.require_auth = true;
    assert_int_equal(access_actor(&c, NOWHERE, &rq, actor, &err), -1);
    assert_int_equal(err.kind, ERR_AUTH); /* no such form: nobody is asked */
    assert_null(strstr(err.msg, "abc"));
    params[1] = (char[]){ "X=" };
    assert_int_equal(access_actor(&c, NOWHERE, &rq, actor, &err), -1);
    assert_int_equal(err.kind, ERR_AUTH);
    params[1] = (char[]){ "HTTP_X_GITHUB_SESSION=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" };
    assert_int_equal(access_actor(&c, NOWHERE, &rq, actor, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE); /* nobody to ask: nobody gets in */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_token_has_to_be_the_same),
        cmocka_unit_test(without_a_configured_token_nobody_gets_in),
        cmocka_unit_test(the_actor_is_the_address_unless_a_sign_in_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
