/* A whole request as nginx hands it over: parameters, one per line, an empty line, the body. No supervisor answers and
 * nothing is parsed as Python, so what is tried is everything up to there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fcgi/worker.h"
#include "shared/base/log.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/json.h"
#include "tests/support/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARAMS_MAX 30

static void must(bool fact)
{
    if (!fact)
        abort();
}

static int keep(void *port, const void *data, size_t len)
{
    return buf_add(port, data, len);
}

/* Status line and headers hold no line but their own; a JSON body is JSON. */
static void check_answer(const struct buf *out, const struct reply *rp)
{
    const char *end = memmem(out->data, out->len, "\r\n\r\n", 4);
    size_t len = end ? out->len - (size_t)(end + 4 - out->data) : 0;
    struct json_error e;
    cJSON *tree;

    must(end && str_starts(out->data, "Status: "));
    must(rp->status >= 200 && rp->status < 600);
    if (rp->head || strcmp(rp->content_type, "application/json") != 0)
        return;
    tree = json_parse(end + 4, len, &e);
    must(tree != NULL);
    cJSON_Delete(tree);
}

static void answer(struct worker *w, char *const *params, const char *body, size_t len)
{
    auto_buf struct buf out;
    struct request rq;
    struct reply rp;
    struct err err;

    buf_init(&out, 64u << 20);
    reply_init(&rp, keep, &out);
    if (request_init(&rq, params, &err) == 0) {
        buf_add(&rq.body, body, len);
        worker_answer(w, &rq, &rp);
    } else {
        reply_err(&rp, &err);
    }
    reply_send(&rp);
    check_answer(&out, &rp);
    request_release(&rq);
    reply_release(&rp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_free char *text = mem_dup(data, size);
    char *params[PARAMS_MAX + 1], *line = text;
    struct config c;
    struct worker w;
    struct err err;
    size_t n = 0;

    log_setup("fuzz", false, LOG__MAX); /* that nobody answers is no news here */
    if (!text || config_load_env(&c, &err) < 0)
        return 0;
    put_setting(&c, "runtime_dir", "/nonexistent", &err);
    put_setting(&c, "program_dir", "/nonexistent", &err);
    put_setting(&c, "require_auth", "no", &err);
    put_setting(&c, "api_token", "t", &err);
    if (worker_init(&w, &c, &err) < 0)
        return 0;
    while (n < PARAMS_MAX && *line && *line != '\n') {
        params[n++] = line;
        line += strcspn(line, "\n");
        if (*line)
            *line++ = '\0';
    }
    params[n] = NULL;
    line += *line == '\n';
    answer(&w, params, line, size - (size_t)(line - text));
    worker_release(&w);
    config_release(&c);
    return 0;
}
