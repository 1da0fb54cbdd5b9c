#include "supervisor/keeper/origins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/io.h"

#define PATH_BYTES 4200
#define TEXT_MAX 65536

static bool is_plain(const char *s, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:/._-[]";
    size_t i;

    for (i = 0; i < len; i++)
        if (!memchr(letters, s[i], sizeof(letters) - 1))
            return false;
    return len && memmem(s, len, "://", 3);
}

void keeper_put_origins(const char *list, struct buf *out)
{
    bool all = false;

    buf_add_str(out, "# From CORS_ORIGINS, written at every start and reload.\n");
    while (*list) {
        size_t part = strcspn(list, ","), start = strspn(list, " "), end = part;

        while (end > start && list[end - 1] == ' ')
            end--;
        if (start < end && end - start == 1 && list[start] == '*')
            all = true;
        else if (start < end && is_plain(list + start, end - start))
            buf_add_fmt(out, "\"%.*s\" \"%.*s\";\n", (int)(end - start), list + start, (int)(end - start),
                        list + start);
        list += part + (list[part] == ',');
    }
    if (all)
        buf_add_str(out, "\"\" \"\";\ndefault \"*\";\n"); /* who sends no Origin needs no answer to it */
}

int keeper_write_origins(const struct config *c, struct err *err)
{
    char path[PATH_BYTES], new_path[PATH_BYTES + 4];
    auto_buf struct buf text;

    buf_init(&text, TEXT_MAX);
    keeper_put_origins(c->cors_origins, &text);
    if (buf_failed(&text))
        return err_nomem(err);
    snprintf(path, sizeof(path), "%s/nginx-origins.conf", c->runtime_dir);
    snprintf(new_path, sizeof(new_path), "%s.new", path);
    if (io_write_file(new_path, text.data, text.len, 0644, err) < 0)
        return -1;
    return rename(new_path, path) < 0 ? err_set(err, ERR_INTERNAL, errno, "rename %s", new_path) : 0;
}
