#include "fcgi/body.h"

#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"

/* application/json, application/x+json, with or without parameters. No type at all is none, as in the reference: a page
 * of another origin may send such a body without being asked first. */
static bool is_json_type(const char *type)
{
    size_t len = strcspn(type, "; \t");
    static const char prefix[] = "application/";

    if (len <= strlen(prefix) || strncasecmp(type, prefix, strlen(prefix)) != 0)
        return false;
    if (len == strlen(prefix) + 4 && strncasecmp(type + strlen(prefix), "json", 4) == 0)
        return true;
    return len > strlen(prefix) + 5 && strncasecmp(type + len - 5, "+json", 5) == 0;
}

static void answer_fault(const struct json_error *e, struct reply *rp)
{
    auto_buf struct buf list;

    buf_init(&list, 65536);
    switch (e->fault) {
    case JSON_INVALID:
    case JSON_EMPTY:
        json_body_fault(e, &list);
        reply_schema(rp, &list);
        break;
    case JSON_NOMEM:
        reply_detail(rp, 503, "The service is short of memory, try again in a moment");
        break;
    case JSON_TOO_MANY:
        reply_detail(rp, 413, "The request body cannot be read: %s", e->message);
        break;
    default:
        reply_detail(rp, 400, "The request body cannot be read: %s", e->message);
        break;
    }
}

static void answer_no_object(const cJSON *body, struct reply *rp)
{
    auto_buf struct buf list;

    buf_init(&list, 65536);
    json_body_not_object(body, &list);
    reply_schema(rp, &list);
}

static int check(const cJSON *body, struct reply *rp, const struct field_rule *rules, size_t rules_len)
{
    auto_buf struct buf list;

    buf_init(&list, 1u << 20);
    if (json_check_fields(body, rules, rules_len, &list) == 0)
        return 0;
    reply_schema(rp, &list);
    return -1;
}

cJSON *body_parse(const struct request *rq, struct reply *rp, const struct field_rule *rules, size_t rules_len,
                  bool *ret_nul)
{
    struct json_error e = { 0 };
    cJSON *body;

    if (rq->body.len && !is_json_type(request_param(rq, "CONTENT_TYPE"))) {
        answer_no_object(NULL, rp);
        return NULL;
    }
    body = json_parse_request(rq->body.data ? rq->body.data : "", rq->body.len, ret_nul, &e);
    if (!body) {
        answer_fault(&e, rp);
        return NULL;
    }
    if (check(body, rp, rules, rules_len) < 0) {
        body_free(body, NULL);
        return NULL;
    }
    return body;
}

/* Depth is bounded by the reader. */
static void wipe_texts(const cJSON *node)
{
    const cJSON *c;

    if (cJSON_IsString(node) && node->valuestring)
        mem_wipe(node->valuestring, strlen(node->valuestring));
    for (c = node ? node->child : NULL; c; c = c->next)
        wipe_texts(c);
}

void body_free(cJSON *body, const char *secrets)
{
    if (secrets)
        wipe_texts(json_get(body, secrets));
    cJSON_Delete(body);
}

const char *body_text(const cJSON *body, const char *key)
{
    const cJSON *v = json_get(body, key);

    return cJSON_IsString(v) ? v->valuestring : NULL;
}
