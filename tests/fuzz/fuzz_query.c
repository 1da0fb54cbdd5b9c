/* Queries of addresses, as the sign-in reads them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fcgi/github.h"
#include "fcgi/query.h"
#include "shared/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

/* What was read, written again, reads alike. */
static void again(const char *name, const char *value)
{
    auto_free char *back = NULL;
    auto_buf struct buf b;

    buf_init(&b, 1u << 20);
    query_add(&b, name, value);
    must(!buf_failed(&b) &&
         strspn(b.data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%=") == b.len);
    back = query_value(b.data, name);
    must(back && strcmp(back, value) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "code", "state", "error", "session_id", "" };
    auto_free char *query = mem_dup(data, size);
    char word[GITHUB_WORD_MAX + 1];
    size_t i;

    if (size > 16384)
        return 0;
    must(query != NULL);
    for (i = 0; i < ARRAY_LEN(names); i++) {
        auto_free char *value = query_value(query, names[i]);

        if (!value)
            continue;
        must(strlen(value) <= strlen(query));
        again(names[i], value);
        github_word(value, word);
        must(*word && !strpbrk(word, "&=\r\n "));
    }
    return 0;
}
