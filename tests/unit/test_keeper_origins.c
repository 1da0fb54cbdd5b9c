#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/keeper/origins.h"

#define HEAD "# From CORS_ORIGINS, written at every start and reload.\n"

static void assert_rows(const char *list, const char *rows)
{
    auto_buf struct buf b;

    buf_init(&b, 4096);
    keeper_put_origins(list, &b);
    assert_int_equal(strncmp(b.data, HEAD, strlen(HEAD)), 0);
    assert_string_equal(b.data + strlen(HEAD), rows);
}

static void each_origin_becomes_a_row(void **state)
{
    (void)state;
    assert_rows("", "");
    assert_rows("https://a.example", "\"https://a.example\" \"https://a.example\";\n");
    assert_rows(" http://[::1]:80 ,https://b ",
                "\"http://[::1]:80\" \"http://[::1]:80\";\n\"https://b\" \"https://b\";\n");
    assert_rows("https://a, *", "\"https://a\" \"https://a\";\n\"\" \"\";\ndefault \"*\";\n");
}

static void what_nginx_could_read_otherwise_is_left_out(void **state)
{
    (void)state;
    assert_rows("https://a\";}evil{,https://$host,~.*,default,https://a b,include,,https://ok",
                "\"https://ok\" \"https://ok\";\n");
}

static void the_file_is_replaced(void **state)
{
    char dir[] = "/tmp/agentsim-test-XXXXXX", path[64], first[] = "https://a", second[] = "";
    struct config c = { .runtime_dir = dir, .cors_origins = first };
    auto_buf struct buf b;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/nginx-origins.conf", dir);
    assert_int_equal(keeper_write_origins(&c, &err), 0);
    c.cors_origins = second;
    assert_int_equal(keeper_write_origins(&c, &err), 0);
    buf_init(&b, 4096);
    assert_int_equal(io_read_file(path, &b, &err), 0);
    assert_string_equal(b.data, HEAD);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(keeper_write_origins(&c, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_origin_becomes_a_row),
        cmocka_unit_test(what_nginx_could_read_otherwise_is_left_out),
        cmocka_unit_test(the_file_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
