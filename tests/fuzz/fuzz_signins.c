/* The file of sign-ins: any bytes as the sealed file, and, as if they had been sealed with our key, as its contents. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "supervisor/signin_store.h"
#include "supervisor/signins.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW INT64_C(1800000000000)

static void must(bool fact)
{
    if (!fact)
        abort();
}

static void unseal(const void *data, size_t size)
{
    static const uint8_t key[SIGNIN_KEY_BYTES] = { 1 };
    auto_buf struct buf plain;
    struct err err;

    buf_init(&plain, SIGNIN_STORE_MAX);
    must(signin_unseal(key, data, size, &plain, &err) < 0 && !plain.len); /* nobody guesses a seal */
}

/* What was read is within bounds and is written in a form that is read alike. */
static void read_and_write(struct signins *s, const void *data, size_t size)
{
    auto_buf struct buf once, twice;
    struct err err = { 0 };

    buf_init(&once, SIGNIN_STORE_MAX);
    buf_init(&twice, SIGNIN_STORE_MAX);
    if (signins_read(s, data, size, NOW, &err) < 0) {
        must(err.kind == ERR_BAD_REQUEST && !signins_sessions(s) && !signins_states(s));
        return;
    }
    must(signins_sessions(s) <= signins_usual.sessions && signins_states(s) <= signins_usual.states);
    signins_write(s, &once);
    must(!buf_failed(&once) && signins_read(s, once.data, once.len, NOW, &err) == 0);
    signins_write(s, &twice);
    must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    signins_expire(s, NOW + signins_usual.session_ms);
    must(!signins_sessions(s) && !signins_states(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *exact = mem_dup(data, size); /* reads behind the end are seen */
    struct signins *s = signins_new(&signins_usual);

    must(s && exact);
    unseal(exact, size);
    read_and_write(s, exact, size);
    signins_free(s);
    return 0;
}
