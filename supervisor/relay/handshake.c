#include "supervisor/relay/handshake.h"

#include <string.h>
#include <strings.h>

#include "shared/base/str.h"
#include "shared/ipc/actor.h"

static const struct {
    const char *before, *behind;
} paths[] = {
    { "/besser_api/simulation/", "/ws" }, /* public */
    { "/sessions/", "/ws" },              /* internal */
};

/* What stands for {id} in a surface's path: 0, or -1 when the path is another one. */
static int path_id(const char *path, bool internal, const char **ret, size_t *ret_len)
{
    const char *before = paths[internal].before, *behind = paths[internal].behind;
    size_t len = strlen(path), fixed = strlen(before) + strlen(behind);

    if (len <= fixed || !str_starts(path, before) || !str_ends(path, behind))
        return -1;
    *ret = path + strlen(before);
    *ret_len = len - fixed;
    return memchr(*ret, '/', *ret_len) ? -1 : 0;
}

static bool parse_id(const char *text, size_t len, struct id *ret)
{
    char id[ID_TEXT_MAX + 1];

    if (len > ID_TEXT_MAX)
        return false;
    memcpy(id, text, len);
    id[len] = '\0';
    return id_parse(id, ret) == 0;
}

/* scheme://host[:port] of the page against our own name, which is what the browser wrote into Host. */
static bool same_origin(const char *origin, const char *host)
{
    const char *authority = strstr(origin, "://");

    return authority && host && host[0] && strcasecmp(authority + 3, host) == 0;
}

static bool in_list(const char *list, const char *origin)
{
    size_t want = strlen(origin);

    while (*list) {
        size_t len = strcspn(list, ",");
        const char *item = list;

        list += len + (list[len] == ',');
        while (len && (item[0] == ' ' || item[len - 1] == ' ')) {
            item += item[0] == ' ';
            len--;
        }
        if (len && item[len - 1] == '/')
            len--;
        if ((len == 1 && item[0] == '*') || (len == want && strncasecmp(item, origin, len) == 0))
            return true;
    }
    return false;
}

/* The editor that people are sent back to after signing in. */
static bool deployed_at(const char *url, const char *origin)
{
    size_t len = strlen(origin);

    return strncasecmp(url, origin, len) == 0 && (url[len] == '\0' || url[len] == '/');
}

/* Pages of other sites could ride on the visitor's address. Programs send no Origin and are nobody's page. */
static bool origin_allowed(const struct config *config, const struct handshake_request *r)
{
    if (!config->cors_origins[0] || !r->origin || !r->origin[0])
        return true;
    return same_origin(r->origin, r->host) || in_list(config->cors_origins, r->origin) ||
           deployed_at(config->deployment_url, r->origin);
}

static bool token_right(const struct config *config, const char *token)
{
    return config->api_token[0] && token && str_eq_consttime(token, config->api_token);
}

int handshake_judge(const struct config *config, const struct handshake_request *r, struct handshake *ret,
                    struct err *err)
{
    struct handshake h = { .internal = r->surface && strcmp(r->surface, "internal") == 0 };
    const char *id;
    size_t len;

    if (!r->path || path_id(r->path, h.internal, &id, &len) < 0)
        return err_set(err, ERR_NOT_FOUND, 0, "Not Found");
    if (h.internal && !token_right(config, r->token))
        return err_set(err, ERR_FORBIDDEN, 0, "The service token is missing or wrong");
    if (!h.internal && !origin_allowed(config, r))
        return err_set(err, ERR_FORBIDDEN, 0, "Pages of this origin may not connect");
    if (h.internal)
        memcpy(h.actor, ACTOR_INTERNAL, sizeof(ACTOR_INTERNAL));
    else
        actor_from_address(r->address, h.actor);
    h.id_valid = parse_id(id, len, &h.id);
    *ret = h;
    return 0;
}
