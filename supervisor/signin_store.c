#include "supervisor/signin_store.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

#define PATH_BYTES 4200
#define NONCE 12
#define TAG 16

/* The first bytes of a file, covered by the seal too; another version has others. */
static const char magic[8] = "AGSIGN1\n";

/* ---- the seal ---- */

static int broken(struct err *err)
{
    return err_set(err, ERR_INTERNAL, 0, "the cipher cannot be used");
}

static int seal_into(EVP_CIPHER_CTX *x, const uint8_t *key, const uint8_t *nonce, const void *plain, size_t len,
                     uint8_t *to)
{
    int n, rest;

    if (EVP_EncryptInit_ex(x, EVP_aes_256_gcm(), NULL, key, nonce) != 1 ||
        EVP_EncryptUpdate(x, NULL, &n, (const unsigned char *)magic, sizeof(magic)) != 1 ||
        EVP_EncryptUpdate(x, to, &n, plain, (int)len) != 1 || EVP_EncryptFinal_ex(x, to + n, &rest) != 1 ||
        (size_t)n + (size_t)rest != len || EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_GCM_GET_TAG, TAG, to + len) != 1)
        return -1;
    return 0;
}

int signin_seal(const uint8_t key[SIGNIN_KEY_BYTES], const void *plain, size_t len, struct buf *out, struct err *err)
{
    uint8_t nonce[NONCE];
    EVP_CIPHER_CTX *x;
    int r;

    if (len > SIGNIN_STORE_MAX || getrandom(nonce, NONCE, 0) != NONCE)
        return broken(err);
    buf_add(out, magic, sizeof(magic));
    buf_add(out, nonce, NONCE);
    if (buf_reserve(out, len + TAG) < 0 || buf_failed(out))
        return err_nomem(err);
    x = EVP_CIPHER_CTX_new();
    r = x ? seal_into(x, key, nonce, plain, len, (uint8_t *)out->data + out->len) : -1;
    EVP_CIPHER_CTX_free(x);
    if (r < 0)
        return broken(err);
    out->len += len + TAG;
    out->data[out->len] = '\0';
    return 0;
}

static int unseal_into(EVP_CIPHER_CTX *x, const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, size_t len,
                       uint8_t *to)
{
    uint8_t tag[TAG];
    int n, rest;

    memcpy(tag, sealed + len, TAG);
    if (EVP_DecryptInit_ex(x, EVP_aes_256_gcm(), NULL, key, nonce) != 1 ||
        EVP_DecryptUpdate(x, NULL, &n, (const unsigned char *)magic, sizeof(magic)) != 1 ||
        EVP_DecryptUpdate(x, to, &n, sealed, (int)len) != 1 ||
        EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_GCM_SET_TAG, TAG, tag) != 1 || EVP_DecryptFinal_ex(x, to + n, &rest) != 1)
        return -1;
    return 0;
}

int signin_unseal(const uint8_t key[SIGNIN_KEY_BYTES], const void *sealed, size_t len, struct buf *out, struct err *err)
{
    const uint8_t *bytes = sealed;
    size_t head = sizeof(magic) + NONCE, body;
    EVP_CIPHER_CTX *x;
    int r;

    if (len < head + TAG || len > SIGNIN_STORE_MAX + head + TAG || memcmp(bytes, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "no file of sign-ins, or one that was cut");
    body = len - head - TAG;
    if (buf_reserve(out, body + 1) < 0)
        return err_nomem(err);
    x = EVP_CIPHER_CTX_new();
    if (!x)
        return err_nomem(err);
    r = unseal_into(x, key, bytes + sizeof(magic), bytes + head, body, (uint8_t *)out->data + out->len);
    EVP_CIPHER_CTX_free(x);
    if (r < 0) {
        mem_wipe(out->data + out->len, body); /* what a wrong key made of it is nobody's business */
        return err_set(err, ERR_BAD_REQUEST, 0, "sealed with another key, or changed");
    }
    out->len += body;
    out->data[out->len] = '\0';
    return 0;
}

/* ---- files ---- */

static char *join(const char *dir, const char *name)
{
    auto_buf struct buf b;

    buf_init(&b, PATH_BYTES);
    buf_add_fmt(&b, "%s/%s", dir, name);
    return buf_steal(&b, NULL);
}

static int sync_directory(const char *file)
{
    auto_free char *dir = mem_strdup(file);
    auto_fd int fd = -1;
    char *slash = dir ? strrchr(dir, '/') : NULL;

    if (!slash)
        return -1;
    *slash = '\0';
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : fsync(fd);
}

/* Written beside it, then put in its place. */
static int replace(const char *path, const char *new_path, const void *data, size_t len, bool durable, struct err *err)
{
    auto_fd int fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "create %s", new_path);
    if (io_write_all(fd, data, len) < 0 || (durable && fsync(fd) < 0)) {
        err_set(err, ERR_INTERNAL, errno, "write %s", new_path);
        (void)unlink(new_path);
        return -1;
    }
    if (rename(new_path, path) < 0)
        return err_set(err, ERR_INTERNAL, errno, "rename %s", new_path);
    if (durable && sync_directory(path) < 0)
        return err_set(err, ERR_INTERNAL, errno, "sync the directory of %s", path);
    return 0;
}

static int make_key(const char *dir, const char *path, uint8_t key[SIGNIN_KEY_BYTES], struct err *err)
{
    auto_free char *new_path = join(dir, "key.new");

    if (!new_path)
        return err_nomem(err);
    if (getrandom(key, SIGNIN_KEY_BYTES, 0) != SIGNIN_KEY_BYTES)
        return err_set(err, ERR_INTERNAL, errno, "the machine has no randomness");
    return replace(path, new_path, key, SIGNIN_KEY_BYTES, true, err);
}

static int read_key(const char *path, uint8_t key[SIGNIN_KEY_BYTES], struct err *err)
{
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, errno, "open %s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != SIGNIN_KEY_BYTES)
        return err_set(err, ERR_BAD_REQUEST, 0, "%s is no key: it should be a file of %d bytes", path,
                       SIGNIN_KEY_BYTES);
    if (st.st_mode & 077)
        return err_set(err, ERR_BAD_REQUEST, 0, "%s may be read by others: its mode has to be 0600", path);
    if (io_read_all(fd, key, SIGNIN_KEY_BYTES) != 1)
        return err_set(err, ERR_INTERNAL, errno, "read %s", path);
    return 0;
}

/* Without a file yet: a new one. One that is there and wrong stays, for whoever can say why. */
static int key_of_file(const char *dir, uint8_t key[SIGNIN_KEY_BYTES], struct err *err)
{
    auto_free char *path = join(dir, "key");

    if (!path)
        return err_nomem(err);
    if (read_key(path, key, err) == 0)
        return 0;
    return err->errnum == ENOENT ? make_key(dir, path, key, err) : -1;
}

static int key_of_text(const char *text, uint8_t key[SIGNIN_KEY_BYTES], struct err *err)
{
    static const char purpose[] = "agentsim sign-ins";
    EVP_MD_CTX *x = EVP_MD_CTX_new();
    int fine = x && EVP_DigestInit_ex(x, EVP_sha256(), NULL) == 1 &&
               EVP_DigestUpdate(x, purpose, sizeof(purpose)) == 1 && EVP_DigestUpdate(x, text, strlen(text)) == 1 &&
               EVP_DigestFinal_ex(x, key, NULL) == 1;

    EVP_MD_CTX_free(x);
    return fine ? 0 : broken(err);
}

int signin_store_open(struct signin_store *st, const char *dir, const char *key_text, struct err *err)
{
    struct signin_store made = { .path = join(dir, "signins"), .new_path = join(dir, "signins.new") };

    if (!made.path || !made.new_path) {
        signin_store_release(&made);
        return err_nomem(err);
    }
    if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
        err_set(err, ERR_INTERNAL, errno, "create %s", dir);
    } else if ((*key_text ? key_of_text(key_text, made.key, err) : key_of_file(dir, made.key, err)) == 0) {
        *st = made;
        mem_wipe(made.key, sizeof(made.key));
        return 0;
    }
    signin_store_release(&made);
    return -1;
}

void signin_store_release(struct signin_store *st)
{
    if (!st)
        return;
    mem_free(st->path);
    mem_free(st->new_path);
    mem_wipe(st->key, sizeof(st->key));
    st->path = st->new_path = NULL;
}

int signin_store_load(const struct signin_store *st, struct buf *plain, struct err *err)
{
    auto_buf struct buf sealed;

    buf_init(&sealed, SIGNIN_STORE_MAX + 64);
    if (!st->path || (access(st->path, F_OK) < 0 && errno == ENOENT))
        return 0;
    if (io_read_file(st->path, &sealed, err) < 0)
        return -1;
    if (signin_unseal(st->key, sealed.data ? sealed.data : "", sealed.len, plain, err) < 0)
        return err_wrap(err, "%s", st->path);
    return 0;
}

int signin_store_save(const struct signin_store *st, const struct buf *plain, bool durable, struct err *err)
{
    auto_buf struct buf sealed;

    buf_init(&sealed, SIGNIN_STORE_MAX + 64);
    if (!st->path)
        return 0;
    if (signin_seal(st->key, plain->data ? plain->data : "", plain->len, &sealed, err) < 0)
        return -1;
    return replace(st->path, st->new_path, sealed.data, sealed.len, durable, err);
}
