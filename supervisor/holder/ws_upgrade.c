#include "supervisor/holder/ws_upgrade.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"

#define ACCEPT_LEN 28 /* base64 of a SHA-1 */

void ws_upgrade_key(const uint8_t random[16], char out[WS_KEY_LEN + 1])
{
    EVP_EncodeBlock((unsigned char *)out, random, 16);
}

void ws_upgrade_request(struct buf *out, uint16_t port, const char *key, const char *session)
{
    buf_add_fmt(out,
                "GET / HTTP/1.1\r\n"
                "Host: 127.0.0.1:%u\r\n"
                "Upgrade: websocket\r\n"
                "Connection: Upgrade\r\n"
                "Sec-WebSocket-Key: %s\r\n"
                "Sec-WebSocket-Version: 13\r\n"
                "X-Session-ID: %s\r\n"
                "\r\n",
                port, key, session);
}

static int accept_for(const char *key, char out[ACCEPT_LEN + 1])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */
    unsigned char both[WS_KEY_LEN + sizeof(guid)], digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    memcpy(both, key, WS_KEY_LEN);
    memcpy(both + WS_KEY_LEN, guid, sizeof(guid));
    if (EVP_Digest(both, WS_KEY_LEN + sizeof(guid) - 1, digest, &n, EVP_sha1(), NULL) != 1)
        return -1;
    EVP_EncodeBlock((unsigned char *)out, digest, (int)n);
    return 0;
}

/* Value of a header in the lines between start and end, trimmed; NULL when it is not there. */
static const char *find_header(const char *start, const char *end, const char *name, size_t *ret_len)
{
    size_t n = strlen(name);
    const char *p = start, *eol;

    for (; p < end && (eol = memmem(p, (size_t)(end - p), "\r\n", 2)); p = eol + 2) {
        const char *v = p + n + 1, *stop = eol;

        if ((size_t)(eol - p) <= n || p[n] != ':' || strncasecmp(p, name, n) != 0)
            continue;
        while (v < stop && (*v == ' ' || *v == '\t'))
            v++;
        while (stop > v && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        *ret_len = (size_t)(stop - v);
        return v;
    }
    return NULL;
}

ptrdiff_t ws_upgrade_answer(const char *data, size_t len, const char *key, struct err *err)
{
    static const char status[] = "HTTP/1.1 101";
    const char *end = len ? memmem(data, len, "\r\n\r\n", 4) : NULL, *got;
    char accept[ACCEPT_LEN + 1];
    size_t n;

    if (!end)
        return len < WS_ANSWER_MAX ? 0 : err_set(err, ERR_UPSTREAM, 0, "the agent's answer is too long");
    if (strncmp(data, status, sizeof(status) - 1) != 0)
        return err_set(err, ERR_UPSTREAM, 0, "the agent refused the WebSocket");
    if (accept_for(key, accept) < 0)
        return err_nomem(err);
    got = find_header(data, end + 2, "Sec-WebSocket-Accept", &n);
    if (!got || n != ACCEPT_LEN || memcmp(got, accept, ACCEPT_LEN) != 0)
        return err_set(err, ERR_UPSTREAM, 0, "the agent's answer does not fit the handshake");
    if (find_header(data, end + 2, "Sec-WebSocket-Extensions", &n))
        return err_set(err, ERR_UPSTREAM, 0, "the agent answered with an extension nobody offered");
    return end + 4 - data;
}
