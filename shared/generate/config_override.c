#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/generate/config_yaml.h"

#define PATH_PARTS_MAX 3

/* A null on the way counts as an empty mapping; anything else that is no mapping cannot hold the
 * value. */
static int enter(struct ytree *node, const char *path, struct err *err)
{
    static const char *const kinds[] = {
        [YTREE_SCALAR] = "a single value", [YTREE_MAPPING] = "", [YTREE_SEQUENCE] = "a list"
    };

    if (ytree_is_null(node))
        ytree_make_mapping(node);
    if (node->kind == YTREE_MAPPING)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, 0, "config.yaml: \"%s\" is %s, but has to be a mapping", path,
                   kinds[node->kind]);
}

static int override(struct ytree *root, const char *const parts[PATH_PARTS_MAX], const char *value, bool plain,
                    struct err *err)
{
    char path[96] = "";
    struct ytree *node = root;
    size_t i, len = 0;

    for (i = 0; i < PATH_PARTS_MAX; i++) {
        if (i > 0 && enter(node, path, err) < 0)
            return -1;
        len += (size_t)snprintf(path + len, sizeof(path) - len, "%s%s", i ? "." : "", parts[i]);
        node = ytree_add(node, parts[i], err);
        if (!node)
            return -1;
    }
    return ytree_make_scalar(node, value, plain, err);
}

static bool given(const char *s)
{
    return s && *s;
}

bool config_overrides_any(const struct generate_options *o)
{
    const struct credentials *c = o->credentials;

    return given(o->host) || o->port ||
           (c && (given(c->openai_api_key) || given(c->huggingface_token) || given(c->replicate_api_key)));
}

int config_override_tree(struct ytree *root, const struct generate_options *o, struct err *err)
{
    const struct credentials none = { 0 }, *c = o->credentials ? o->credentials : &none;
    char port[8];
    const struct {
        const char *parts[PATH_PARTS_MAX], *value;
        bool plain;
    } rows[] = {
        { { "platforms", "websocket", "host" }, o->host, false },
        { { "platforms", "websocket", "port" }, o->port ? port : NULL, true },
        { { "nlp", "openai", "api_key" }, c->openai_api_key, false },
        { { "nlp", "huggingface", "token" }, c->huggingface_token, false },
        { { "nlp", "replicate", "api_key" }, c->replicate_api_key, false },
    };
    size_t i;

    snprintf(port, sizeof(port), "%" PRIu16, o->port);
    if (ytree_is_null(root))
        ytree_make_mapping(root);
    if (root->kind != YTREE_MAPPING)
        return err_set(err, ERR_BAD_REQUEST, 0, "config.yaml has to be a mapping");
    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (given(rows[i].value) && override(root, rows[i].parts, rows[i].value, rows[i].plain, err) < 0)
            return -1;
    return 0;
}

int config_yaml_override(const char *yaml, size_t len, const struct generate_options *o, char **ret, struct err *err)
{
    struct ytree root = { 0 };
    int result;

    if (ytree_parse(yaml, len, &root, err) < 0)
        return -1;
    result = config_override_tree(&root, o, err);
    if (result == 0)
        result = ytree_write(&root, ret, err);
    ytree_release(&root);
    return result;
}
