#include "fcgi/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>

#include "shared/base/mem.h"

struct zip {
    struct archive *a;
    struct archive_entry *entry;
    int (*write)(void *port, const void *data, size_t len);
    void *port;
    int64_t when;
    bool lost; /* the reader is gone, or nobody is to get the rest */
};

/* Never fails: after a failed write libarchive forgets to free its compressor. */
static la_ssize_t on_write(struct archive *a, void *owner, const void *data, size_t len)
{
    struct zip *z = owner;

    (void)a;
    if (!z->lost && z->write(z->port, data, len) < 0)
        z->lost = true;
    return (la_ssize_t)len;
}

static int check(const struct zip *z, bool done, struct err *err)
{
    const char *why = archive_error_string(z->a);

    if (done && !z->lost)
        return 0;
    return err_set(err, ERR_INTERNAL, 0, "archive: %s", z->lost ? "the reader is gone" : why ? why : "unknown");
}

int zip_new(int (*write)(void *port, const void *data, size_t len), void *port, int64_t when, struct zip **ret,
            struct err *err)
{
    struct zip *z = mem_zalloc(1, sizeof(*z));

    if (!z)
        return err_nomem(err);
    *z = (struct zip){ .write = write, .port = port, .when = when };
    z->a = archive_write_new();
    z->entry = archive_entry_new();
    if (!z->a || !z->entry) {
        zip_free(z);
        return err_nomem(err);
    }
    /* No padding at the end: the size is what it is. */
    if (archive_write_set_format_zip(z->a) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(z->a, 65536) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(z->a, 1) != ARCHIVE_OK ||
        archive_write_open(z->a, z, NULL, on_write, NULL) != ARCHIVE_OK) {
        check(z, false, err);
        zip_free(z);
        return -1;
    }
    *ret = z;
    return 0;
}

void zip_free(struct zip *z)
{
    if (!z)
        return;
    archive_entry_free(z->entry);
    z->lost = true; /* an archive that was not closed must not get the end that makes it look whole */
    if (z->a)
        archive_write_free(z->a);
    mem_free(z);
}

static int begin(struct zip *z, const char *path, unsigned type, unsigned mode, uint64_t size, struct err *err)
{
    archive_entry_clear(z->entry);
    archive_entry_set_pathname(z->entry, path);
    archive_entry_set_filetype(z->entry, type);
    archive_entry_set_perm(z->entry, (__LA_MODE_T)mode);
    if (size <= INT64_MAX)
        archive_entry_set_size(z->entry, (int64_t)size);
    archive_entry_set_mtime(z->entry, (time_t)z->when, 0);
    return check(z, archive_write_header(z->a, z->entry) >= ARCHIVE_WARN, err);
}

int zip_directory(struct zip *z, const char *path, struct err *err)
{
    return begin(z, path, AE_IFDIR, 0755, 0, err);
}

int zip_file(struct zip *z, const char *path, uint64_t size, struct err *err)
{
    return begin(z, path, AE_IFREG, 0644, size, err);
}

int zip_data(struct zip *z, const void *data, size_t len, struct err *err)
{
    return check(z, archive_write_data(z->a, data, len) >= 0, err);
}

int zip_close(struct zip *z, struct err *err)
{
    return check(z, archive_write_close(z->a) == ARCHIVE_OK, err);
}
