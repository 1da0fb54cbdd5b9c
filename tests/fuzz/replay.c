/* Runs one fuzzer's function over the files it is given, without the fuzzer: what was found once stays mended.
 * Each file is tried whole, and cut at a few places. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The copy has no byte to spare, so that the sanitizer sees one read too many. */
static void try_bytes(const char *bytes, size_t size)
{
    uint8_t *exact = malloc(size);

    if (size && !exact)
        abort();
    if (size)
        memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int try_file(const char *path)
{
    static char bytes[FILE_MAX];
    size_t size;
    FILE *f = fopen(path, "rb");

    if (!f) {
        perror(path);
        return -1;
    }
    size = fread(bytes, 1, sizeof bytes, f);
    if (fclose(f) != 0 || size == sizeof bytes) {
        fprintf(stderr, "%s: cannot be read in one piece\n", path);
        return -1;
    }
    try_bytes(bytes, size);
    for (size_t eighth = 0; eighth < 8; eighth++)
        try_bytes(bytes, size * eighth / 8);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        printf("%s\n", argv[i]); /* the last one named is the one that ended us */
        fflush(stdout);
        if (try_file(argv[i]) < 0)
            return 1;
    }
    return argc > 1 ? 0 : 1;
}
