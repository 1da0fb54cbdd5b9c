#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "supervisor/signin_store.h"
#include "tests/support/oom.h"

static const uint8_t key[SIGNIN_KEY_BYTES] = { 1, 2, 3 };

struct place {
    char parent[64], dir[80], file[96], key[96];
};

static int setup(void **state)
{
    struct place *p = mem_zalloc(1, sizeof(*p));

    assert_non_null(p);
    snprintf(p->parent, sizeof(p->parent), "/tmp/agentsim-test-XXXXXX");
    assert_non_null(mkdtemp(p->parent));
    snprintf(p->dir, sizeof(p->dir), "%s/signin", p->parent);
    snprintf(p->file, sizeof(p->file), "%s/signins", p->dir);
    snprintf(p->key, sizeof(p->key), "%s/key", p->dir);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;

    unlink(p->file);
    unlink(p->key);
    rmdir(p->dir);
    assert_int_equal(rmdir(p->parent), 0); /* nothing else was left */
    mem_free(p);
    return 0;
}

static int save(const struct signin_store *st, const char *text)
{
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, 4096);
    buf_add_str(&b, text);
    return signin_store_save(st, &b, true, &err);
}

static void assert_holds(const struct signin_store *st, const char *text)
{
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, 4096);
    assert_int_equal(signin_store_load(st, &b, &err), 0);
    assert_int_equal(b.len, strlen(text));
    assert_memory_equal(b.len ? b.data : "", text, b.len);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void what_is_kept_is_there_after_a_restart(void **state)
{
    const struct place *p = *state;
    struct signin_store st;
    struct err err;

    assert_int_equal(signin_store_open(&st, p->dir, "", &err), 0);
    assert_holds(&st, "");
    assert_int_equal(save(&st, "first"), 0);
    assert_int_equal(save(&st, "second and longer"), 0);
    signin_store_release(&st);
    assert_int_equal(signin_store_open(&st, p->dir, "", &err), 0);
    assert_holds(&st, "second and longer");
    signin_store_release(&st);
    assert_int_equal(mode_of(p->dir), 0700);
    assert_int_equal(mode_of(p->file), 0600);
    assert_int_equal(mode_of(p->key), 0600);
}

static void a_key_of_ones_own_needs_no_file_and_opens_only_its_own(void **state)
{
    const struct place *p = *state;
    struct signin_store st;
    auto_buf struct buf b;
    struct err err;

    buf_init(&b, 4096);
    assert_int_equal(signin_store_open(&st, p->dir, "a key that is long enough to be one", &err), 0);
    assert_int_equal(save(&st, "text"), 0);
    signin_store_release(&st);
    assert_int_equal(access(p->key, F_OK), -1);
    assert_int_equal(signin_store_open(&st, p->dir, "another key, long enough to be one", &err), 0);
    assert_int_equal(signin_store_load(&st, &b, &err), -1);
    assert_int_equal(b.len, 0);
    assert_non_null(strstr(err.msg, p->file));
    signin_store_release(&st);
    assert_int_equal(signin_store_open(&st, p->dir, "a key that is long enough to be one", &err), 0);
    assert_holds(&st, "text");
    signin_store_release(&st);
}

static void a_key_file_that_is_none_stays_and_is_named(void **state)
{
    const struct place *p = *state;
    struct signin_store st;
    struct err err;

    assert_int_equal(mkdir(p->dir, 0700), 0);
    assert_int_equal(io_write_file(p->key, "short", 5, 0600, &err), 0);
    assert_int_equal(signin_store_open(&st, p->dir, "", &err), -1);
    assert_non_null(strstr(err.msg, p->key));
    assert_int_equal(io_write_file(p->key, key, sizeof(key), 0600, &err), 0);
    assert_int_equal(chmod(p->key, 0640), 0);
    assert_int_equal(signin_store_open(&st, p->dir, "", &err), -1);
    assert_non_null(strstr(err.msg, "0600"));
    assert_int_equal(unlink(p->key), 0);
    assert_int_equal(symlink("/dev/zero", p->key), 0);
    assert_int_equal(signin_store_open(&st, p->dir, "", &err), -1);
}

static void every_changed_or_missing_byte_refuses_the_whole(void **state)
{
    auto_buf struct buf sealed, plain;
    struct err err;
    size_t i;

    (void)state;
    buf_init(&sealed, 4096);
    buf_init(&plain, 4096);
    assert_int_equal(signin_seal(key, "some text", 9, &sealed, &err), 0);
    assert_int_equal(signin_unseal(key, sealed.data, sealed.len, &plain, &err), 0);
    assert_int_equal(plain.len, 9);
    for (i = 0; i < sealed.len; i++) {
        auto_free char *cut = mem_dup(sealed.data, i);

        sealed.data[i] ^= 0x10;
        assert_int_equal(signin_unseal(key, sealed.data, sealed.len, &plain, &err), -1);
        sealed.data[i] ^= 0x10;
        assert_int_equal(signin_unseal(key, cut, i, &plain, &err), -1);
        assert_int_equal(plain.len, 9); /* nothing was added */
    }
    buf_add_char(&sealed, 'x');
    assert_int_equal(signin_unseal(key, sealed.data, sealed.len, &plain, &err), -1);
}

static void the_same_text_is_never_sealed_alike(void **state)
{
    auto_buf struct buf a, b;
    struct err err;

    (void)state;
    buf_init(&a, 4096);
    buf_init(&b, 4096);
    assert_int_equal(signin_seal(key, "some text", 9, &a, &err), 0);
    assert_int_equal(signin_seal(key, "some text", 9, &b, &err), 0);
    assert_int_equal(a.len, b.len);
    assert_true(memcmp(a.data, b.data, a.len) != 0);
    assert_null(memmem(a.data, a.len, "some text", 9));
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
    struct signin_store st = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(signin_store_open(&st, "/proc/nowhere/signin", "", &err), -1);
    assert_null(st.path);
    assert_int_equal(save(&st, "goes nowhere"), 0);
    signin_store_release(&st);
    signin_store_release(NULL);
}

static void short_memory_leaves_the_file_as_it_was(void **state)
{
    const struct place *p = *state;
    struct signin_store st;
    struct err err;

    assert_int_equal(signin_store_open(&st, p->dir, "", &err), 0);
    assert_int_equal(save(&st, "old"), 0);
    OOM_SWEEP({
        struct signin_store other = { 0 };

        if (signin_store_open(&other, p->dir, "", &err) == 0 && save(&other, "new") == 0)
            (void)save(&other, "old");
        signin_store_release(&other);
    });
    signin_store_release(&st);
    assert_int_equal(signin_store_open(&st, p->dir, "", &err), 0);
    assert_int_equal(save(&st, "last"), 0);
    assert_holds(&st, "last");
    signin_store_release(&st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_there_after_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_of_ones_own_needs_no_file_and_opens_only_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_file_that_is_none_stays_and_is_named, setup, teardown),
        cmocka_unit_test(every_changed_or_missing_byte_refuses_the_whole),
        cmocka_unit_test(the_same_text_is_never_sealed_alike),
        cmocka_unit_test(a_place_that_cannot_be_written_is_an_error),
        cmocka_unit_test_setup_teardown(short_memory_leaves_the_file_as_it_was, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
