#include "fcgi/cors.h"

#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"

#define METHODS "GET, POST, PUT, DELETE, OPTIONS"
#define HEADERS "Content-Type, X-GitHub-Session, Content-Disposition, Authorization, Idempotency-Key"
#define MAX_AGE "600"

/* A word of a comma list, blanks around it not counted; *list moves behind it. NULL at the end. */
static const char *next_word(const char **list, size_t *ret_len)
{
    const char *start = *list + strspn(*list, ", \t");
    size_t len = strcspn(start, ",");

    *list = start + len;
    while (len && (start[len - 1] == ' ' || start[len - 1] == '\t'))
        len--;
    *ret_len = len;
    return len ? start : NULL;
}

static bool in_list(const char *list, const char *word, size_t word_len, bool ignore_case)
{
    const char *entry;
    size_t len;

    while ((entry = next_word(&list, &len)))
        if (len == word_len && (ignore_case ? strncasecmp(entry, word, len) == 0 : strncmp(entry, word, len) == 0))
            return true;
    return false;
}

static bool is_named(const struct config *c, const char *origin)
{
    return in_list(c->cors_origins, origin, strlen(origin), false);
}

static bool all_allowed(const struct config *c)
{
    return in_list(c->cors_origins, "*", 1, false);
}

/* Those that browsers may send to anybody need no permission. */
static bool headers_allowed(const char *requested)
{
    const char *word;
    size_t len;

    while ((word = next_word(&requested, &len)))
        if (!in_list(HEADERS ", Accept, Accept-Language, Content-Language", word, len, true))
            return false;
    return true;
}

void cors_apply(const struct config *c, const struct request *rq, struct reply *rp)
{
    const char *origin = request_param(rq, "HTTP_ORIGIN");

    if (rq->surface != SURFACE_PUBLIC || !*origin)
        return;
    reply_header(rp, "Vary", "Origin");
    if (is_named(c, origin)) {
        reply_header(rp, "Access-Control-Allow-Origin", origin);
        reply_header(rp, "Access-Control-Allow-Credentials", "true");
    } else if (all_allowed(c)) {
        reply_header(rp, "Access-Control-Allow-Origin", "*"); /* to all, so without their credentials */
    } else {
        return;
    }
    reply_header(rp, "Access-Control-Expose-Headers", "Content-Disposition");
}

bool cors_preflight(const struct config *c, const struct request *rq, struct reply *rp)
{
    const char *origin = request_param(rq, "HTTP_ORIGIN");
    const char *method = request_param(rq, "HTTP_ACCESS_CONTROL_REQUEST_METHOD");

    if (rq->surface != SURFACE_PUBLIC || rq->method != METHOD_OPTIONS || !*origin || !*method)
        return false;
    if (!is_named(c, origin) && !all_allowed(c)) {
        reply_detail(rp, 400, "Pages of this origin may not call the service");
    } else if (!in_list(METHODS, method, strlen(method), false)) {
        reply_detail(rp, 400, "The requested method is not allowed for other origins");
    } else if (!headers_allowed(request_param(rq, "HTTP_ACCESS_CONTROL_REQUEST_HEADERS"))) {
        reply_detail(rp, 400, "A requested header is not allowed for other origins");
    } else {
        reply_header(rp, "Access-Control-Allow-Methods", METHODS);
        reply_header(rp, "Access-Control-Allow-Headers", HEADERS);
        reply_header(rp, "Access-Control-Max-Age", MAX_AGE);
        buf_add_str(&rp->body, "{\"ok\":true}");
        reply_json(rp, 200);
    }
    return true;
}
