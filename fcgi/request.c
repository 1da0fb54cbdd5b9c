#include "fcgi/request.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

const char *request_param(const struct request *r, const char *name)
{
    size_t len = strlen(name);
    char *const *p;

    for (p = r->params; p && *p; p++)
        if (strncmp(*p, name, len) == 0 && (*p)[len] == '=')
            return *p + len + 1;
    return "";
}

#define AT_ONCE_MAX (1 << 20) /* bytes of memory for a body that is announced only */

static enum method parse_method(const char *name, bool *ret_head)
{
    static const struct {
        const char *name;
        enum method method;
    } rows[] = {
        { "GET", METHOD_GET }, { "HEAD", METHOD_GET },      { "POST", METHOD_POST },
        { "PUT", METHOD_PUT }, { "DELETE", METHOD_DELETE }, { "OPTIONS", METHOD_OPTIONS },
    };
    size_t i;

    *ret_head = strcmp(name, "HEAD") == 0;
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].method;
    return METHOD_OTHER;
}

int request_init(struct request *r, char *const *params, struct err *err)
{
    *r = (struct request){ .params = params, .claim = -1 };
    buf_init(&r->body, REQUEST_BODY_MAX);
    r->method = parse_method(request_param(r, "REQUEST_METHOD"), &r->head);
    /* Only the word "public" opens the surface without a token. */
    r->surface = strcmp(request_param(r, "SURFACE"), "public") == 0 ? SURFACE_PUBLIC : SURFACE_INTERNAL;
    return target_parse(request_param(r, "REQUEST_URI"), &r->target, err);
}

void request_release(struct request *r)
{
    size_t i;

    if (!r)
        return;
    mem_wipe(r->body.data, r->body.cap);
    buf_release(&r->body);
    for (i = 0; i < REQUEST_ARGS_MAX; i++) {
        mem_free(r->args[i]);
        r->args[i] = NULL;
    }
    target_release(&r->target);
    if (r->claim >= 0)
        close(r->claim);
    r->claim = -1;
}

int request_load_body(struct request *r, size_t max, struct err *err)
{
    const char *announced = request_param(r, "CONTENT_LENGTH");
    int64_t length = 0;

    if (*announced && (str_to_int(announced, 0, INT64_MAX, &length) < 0 || length > (int64_t)max))
        return err_set(err, ERR_TOO_LARGE, 0, "The request body is larger than %zu bytes", max);
    r->body.max = max;
    if (buf_reserve(&r->body, (size_t)(length < AT_ONCE_MAX ? length : AT_ONCE_MAX)) < 0)
        return err_nomem(err);
    return r->read_body ? r->read_body(r->port, &r->body, err) : 0;
}

int request_session_id(const struct request *r, size_t i, struct id *ret, struct err *err)
{
    if (id_parse(r->args[i], ret) < 0)
        return err_set(err, ERR_BAD_REQUEST, 0, "The session id is no UUID");
    return 0;
}
