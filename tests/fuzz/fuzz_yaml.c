/* config.yaml from strangers: repaired, overridden, its database set. What comes out must be a mapping again that holds
 * the endpoint, and from the second time on overriding it must change nothing (the first may turn plain texts that YAML
 * would misread, such as "a:", into quoted ones). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/generate/config_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_endpoint(const char *text)
{
    struct ytree t = { 0 }, *node;
    struct err err = { 0 };

    if (ytree_parse(text, strlen(text), &t, &err) < 0)
        abort();
    node = ytree_get(&t, "platforms");
    node = node ? ytree_get(node, "websocket") : NULL;
    node = node ? ytree_get(node, "port") : NULL;
    if (!node || !str_eq(node->text, "8765"))
        abort();
    ytree_release(&t);
}

static void override_twice(const char *text, size_t len)
{
    static const struct generate_options o = { .session = true, .host = "127.0.0.1", .port = 8765 };
    auto_free char *once = NULL, *twice = NULL, *again = NULL;
    struct err err = { 0 };

    if (config_yaml_override(text, len, &o, &once, &err) < 0)
        return;
    check_endpoint(once);
    if (strlen(once) > YTREE_BYTES_MAX / 2) /* expanded and quoted, it may not fit again */
        return;
    if (config_yaml_override(once, strlen(once), &o, &twice, &err) < 0 ||
        config_yaml_override(twice, strlen(twice), &o, &again, &err) < 0 || !str_eq(twice, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sql_field field = { "dialect", "sqlite", false };
    static const struct sql_entry entry = { &field, 1 };
    auto_free char *text = mem_dup(data, size), *repaired = NULL, *owned = NULL;
    struct err err = { 0 };

    if (!text)
        return 0;
    override_twice(text, size);
    if (config_yaml_repair(text, &repaired, &err) < 0 || strlen(repaired) > strlen(text))
        abort();
    if (config_yaml_set_db1(repaired, &entry, &owned, &err) < 0)
        abort();
    return 0;
}
