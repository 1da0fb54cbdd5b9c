/* fcgi/zip.h -- a ZIP archive written as it comes: into a buffer, or to the client. Uses libarchive; nobody else here
 * does. Equal input and time give equal bytes. */
#ifndef FCGI_ZIP_H
#define FCGI_ZIP_H

#include <stdint.h>

#include "shared/base/err.h"

#define ZIP_SIZE_OPEN UINT64_MAX

struct zip; /* opaque; zip_free() accepts NULL */

/* write: 0, or -1 to end it all. when: seconds since 1970 that every entry carries. */
int zip_new(int (*write)(void *port, const void *data, size_t len), void *port, int64_t when, struct zip **ret,
            struct err *err);
void zip_free(struct zip *z);

int zip_directory(struct zip *z, const char *path, struct err *err);
/* Its data follow: size bytes, or any number when it may still change (ZIP_SIZE_OPEN). */
int zip_file(struct zip *z, const char *path, uint64_t size, struct err *err);
int zip_data(struct zip *z, const void *data, size_t len, struct err *err);
int zip_close(struct zip *z, struct err *err); /* the directory at the end */

#endif
