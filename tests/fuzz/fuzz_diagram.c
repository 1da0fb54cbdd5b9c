/* Any bytes as a diagram request: read and check it, without the parser of Python. Nothing may crash, leak,
 * or be refused without a reason. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/check.h"
#include "shared/diagram/read.h"
#include "shared/json/json.h"
#include "shared/python/dedent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_model(struct model *m, struct findings *f, struct err *err)
{
    struct str_list events = { 0 };

    if (diagram_check(m, f, err) < 0 || diagram_event_list(m, &events) < 0)
        abort();
    str_list_release(&events);
    model_release(m);
}

static void read_request(const cJSON *tree)
{
    struct err err = { 0 };
    struct findings f;
    struct model m;

    findings_init(&f);
    (void)diagram_uses_custom_code(tree);
    if (diagram_read(tree, NULL, &m, &f, &err) == 0)
        check_model(&m, &f, &err);
    else if (!f.errors)
        abort();
    findings_release(&f);
}

static void dedent(const uint8_t *data, size_t size)
{
    char *text = mem_dup(data, size), *shorter;

    if (!text)
        return;
    shorter = python_dedent(text);
    if (shorter && strlen(shorter) > strlen(text))
        abort();
    mem_free(shorter);
    mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_error e;
    cJSON *tree = json_parse((const char *)data, size, &e);

    if (tree)
        read_request(tree);
    cJSON_Delete(tree);
    dedent(data, size);
    return 0;
}
