#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/zip.h"
#include "shared/base/buf.h"
#include "shared/base/mem.h"

static int keep(void *port, const void *data, size_t len)
{
    return buf_add(port, data, len);
}

static int full(void *port, const void *data, size_t len)
{
    (void)port;
    (void)data;
    (void)len;
    return -1;
}

static void pack(struct buf *out)
{
    struct zip *z;
    struct err err;

    assert_int_equal(zip_new(keep, out, 315532800, &z, &err), 0);
    assert_int_equal(zip_directory(z, "data", &err), 0);
    assert_int_equal(zip_file(z, "data/a.txt", 5, &err), 0);
    assert_int_equal(zip_data(z, "hel", 3, &err), 0);
    assert_int_equal(zip_data(z, "lo", 2, &err), 0);
    assert_int_equal(zip_file(z, "open", ZIP_SIZE_OPEN, &err), 0);
    assert_int_equal(zip_data(z, "x", 1, &err), 0);
    assert_int_equal(zip_data(z, "y", 1, &err), 0);
    assert_int_equal(zip_file(z, "nothing", ZIP_SIZE_OPEN, &err), 0);
    assert_int_equal(zip_file(z, "empty", 0, &err), 0);
    assert_int_equal(zip_close(z, &err), 0);
    zip_free(z);
}

static void an_archive_reads_back_and_is_the_same_each_time(void **state)
{
    static const struct {
        const char *name, *content;
    } rows[] = { { "data/", "" }, { "data/a.txt", "hello" }, { "open", "xy" }, { "nothing", "" }, { "empty", "" } };
    auto_buf struct buf out;
    auto_buf struct buf again;
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    char content[200];
    size_t i;

    (void)state;
    buf_init(&out, 100000);
    buf_init(&again, 100000);
    pack(&out);
    pack(&again);
    assert_int_equal(out.len, again.len);
    assert_memory_equal(out.data, again.data, out.len);
    archive_read_support_format_zip_seekable(a);
    assert_int_equal(archive_read_open_memory(a, out.data, out.len), ARCHIVE_OK);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        ssize_t n;

        assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_OK);
        assert_string_equal(archive_entry_pathname(e), rows[i].name);
        n = archive_read_data(a, content, sizeof(content));
        assert_int_equal(n, strlen(rows[i].content));
        assert_memory_equal(content, rows[i].content, (size_t)n);
    }
    assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_EOF);
    archive_read_free(a);
}

static void an_archive_that_was_not_closed_has_no_end(void **state)
{
    auto_buf struct buf out;
    struct zip *z;
    struct err err;

    (void)state;
    buf_init(&out, 1000000);
    assert_int_equal(zip_new(keep, &out, 0, &z, &err), 0);
    assert_int_equal(zip_file(z, "a", 1, &err), 0);
    zip_free(z);
    assert_true(!out.len || !memmem(out.data, out.len, "PK\5\6", 4));
    zip_free(NULL);
}

static void a_lost_reader_ends_it(void **state)
{
    char *data = mem_zalloc(1, 1 << 20);
    struct zip *z;
    struct err err = { 0 };
    uint32_t x = 2463534242u;
    size_t i;

    (void)state;
    for (i = 0; i < 1 << 20; i++) { /* nothing that could be compressed */
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        data[i] = (char)x;
    }
    assert_int_equal(zip_new(full, NULL, 0, &z, &err), 0);
    assert_int_equal(zip_file(z, "a", 1 << 20, &err), 0);
    assert_int_equal(zip_data(z, data, 1 << 20, &err), -1);
    assert_int_equal(err.kind, ERR_INTERNAL);
    zip_free(z);
    mem_free(data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_reads_back_and_is_the_same_each_time),
        cmocka_unit_test(an_archive_that_was_not_closed_has_no_end),
        cmocka_unit_test(a_lost_reader_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
