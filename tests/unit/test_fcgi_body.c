#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/body.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

static const struct field_rule rules[] = { { "title", FIELD_STRING, true, false } };

static int nobody(void *port, const void *data, size_t len)
{
    (void)port;
    (void)data;
    (void)len;
    return 0;
}

/* Status of the answer (0: the body is fine), its text in out. */
static int judge(const char *type, const char *body, size_t len, char out[1000])
{
    char t[100];
    char *params[] = { t, (char[]){ "REQUEST_URI=/x" }, NULL };
    struct request rq;
    struct reply rp;
    struct err err;
    bool nul = false;
    cJSON *tree;
    int status;

    snprintf(t, sizeof(t), "CONTENT_TYPE=%s", type);
    assert_int_equal(request_init(&rq, params, &err), 0);
    buf_add(&rq.body, body, len);
    reply_init(&rp, nobody, NULL);
    tree = body_parse(&rq, &rp, rules, ARRAY_LEN(rules), &nul);
    status = rp.status;
    assert_int_equal(tree != NULL, status == 0);
    snprintf(out, 1000, "%s", rp.body.data ? rp.body.data : "");
    body_free(tree, "title");
    reply_release(&rp);
    request_release(&rq);
    return status;
}

static void content_types_of_json_are_taken(void **state)
{
    static const struct {
        const char *type;
        int status;
    } rows[] = {
        { "application/json", 0 },
        { "APPLICATION/JSON", 0 },
        { "application/json; charset=utf-8", 0 },
        { "application/json;charset=x", 0 },
        { "application/ld+json", 0 },
        { "", 422 },
        { "text/plain", 422 },
        { "application/jsonx", 422 },
        { "application/xml", 422 },
        { "text/json", 422 },
        { "application/", 422 },
        { "multipart/form-data; boundary=x", 422 },
        { "application/+json", 422 },
    };
    char out[1000];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        if (judge(rows[i].type, "{\"title\":\"x\"}", 13, out) != rows[i].status)
            fail_msg("%s", rows[i].type);
        if (rows[i].status)
            assert_non_null(strstr(out, "\"model_attributes_type\",\"loc\":[\"body\"]"));
    }
    assert_int_equal(judge("text/plain", "", 0, out), 422);
    assert_non_null(strstr(out, "\"missing\",\"loc\":[\"body\"]"));
}

static void faults_have_their_status(void **state)
{
    static const struct {
        const char *body;
        size_t len;
        int status;
        const char *part;
    } rows[] = {
        { "", 0, 422, "\"missing\"" },
        { "{", 1, 422, "\"json_invalid\",\"loc\":[\"body\",1]" },
        { "null", 4, 422, "\"model_attributes_type\"" },
        { "{}", 2, 422, "\"missing\",\"loc\":[\"body\",\"title\"]" },
        { "{\"title\":1}", 11, 422, "\"string_type\"" },
        { "{\"title\":NaN}", 13, 422, "\"json_invalid\"" },
        { "{\"title\":\"\xff\"}", 13, 400,
          "{\"detail\":\"The request body cannot be read: The document is not valid UTF-8\"}" },
    };
    char out[1000], deep[3000];
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(judge("application/json", rows[i].body, rows[i].len, out), rows[i].status);
        if (!strstr(out, rows[i].part))
            fail_msg("%s -> %s", rows[i].body, out);
    }
    memset(deep, '[', sizeof(deep));
    assert_int_equal(judge("application/json", deep, sizeof(deep), out), 400);
    memset(deep, '9', sizeof(deep));
    assert_int_equal(judge("application/json", deep, sizeof(deep), out), 400);
}

static void short_memory_is_answered(void **state)
{
    char *params[] = { (char[]){ "CONTENT_TYPE=application/json" }, (char[]){ "REQUEST_URI=/x" }, NULL };

    (void)state;
    OOM_SWEEP({
        struct request rq;
        struct reply rp;
        struct err err;
        bool nul = false;

        reply_init(&rp, nobody, NULL);
        if (request_init(&rq, params, &err) == 0 && buf_add_str(&rq.body, "{\"title\":[1,2]}") == 0) {
            assert_null(body_parse(&rq, &rp, rules, 1, &nul));
            assert_true(rp.status == 422 || rp.status == 503);
        }
        request_release(&rq);
        reply_release(&rp);
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_types_of_json_are_taken),
        cmocka_unit_test(faults_have_their_status),
        cmocka_unit_test(short_memory_is_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
