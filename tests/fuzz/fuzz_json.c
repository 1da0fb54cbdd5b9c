/* Bodies of requests: the reader, the tree, the 422 list, the owned value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct field_rule rules[] = {
    { "title", FIELD_STRING, true, false },
    { "model", FIELD_OBJECT, true, false },
    { "credentials", FIELD_STRING_MAP, false, true },
};

static void must(bool fact)
{
    if (!fact)
        abort();
}

/* Whatever was accepted is printed and read again, with the same outcome. */
static void read_again(const cJSON *tree)
{
    char *text = cJSON_PrintUnformatted(tree);
    struct json_error e;
    cJSON *again;

    if (!text)
        return;
    must(utf8_valid(text, strlen(text)));
    again = json_parse(text, strlen(text), &e);
    must(again != NULL);
    cJSON_Delete(again);
    cJSON_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf detail;
    struct json_error e = { 0 };
    struct value v, copy;
    bool nul = false;
    cJSON *tree = json_parse_request((const char *)data, size, &nul, &e);

    buf_init(&detail, 1 << 20);
    if (!tree) {
        must(e.fault != JSON_OK && e.offset <= size && *e.message);
        json_body_fault(&e, &detail);
        return 0;
    }
    read_again(tree);
    json_check_fields(tree, rules, ARRAY_LEN(rules), &detail);
    must(!detail.len || utf8_valid(detail.data, detail.len));
    must(json_to_value(tree, &v) == 0);
    must(value_copy(&v, &copy) == 0);
    value_release(&v);
    value_release(&copy);
    cJSON_Delete(tree);
    return 0;
}
