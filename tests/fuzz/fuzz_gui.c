/* Designs of GUIs: read, written as a module; the text keeps to the rules of generated files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/gui/module.h"
#include "shared/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fact)
{
    if (!fact)
        abort();
}

/* ASCII only, and no literal left open: quotes stand in pairs on every line. */
static void check_text(const char *text)
{
    size_t quotes = 0;

    for (; *text; text++) {
        must(*text == '\n' || (*text >= ' ' && *text <= '~'));
        quotes += *text == '\'';
        must(*text != '\n' || quotes % 2 == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_error e = { 0 };
    cJSON *tree = json_parse((const char *)data, size, &e);
    char id[] = "fuzzed", *text = NULL, *again = NULL;
    struct gui g = { .gui_id = id, .persist = true };
    struct err err = { 0 };
    const char *width = size % 2 ? NULL : "640px";

    if (!tree)
        return 0;
    must(json_to_value(tree, &g.design) == 0);
    cJSON_Delete(tree);
    if (gui_module_text(&g, width, &text, &err) == 0) {
        check_text(text);
        must(gui_module_text(&g, width, &again, &err) == 0 && strcmp(text, again) == 0);
    } else {
        must(err.kind == ERR_BAD_REQUEST && *err.msg && !text);
    }
    mem_free(text);
    mem_free(again);
    value_release(&g.design);
    return 0;
}
