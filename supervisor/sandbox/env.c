#include "supervisor/sandbox/env.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static const char *const inherited[] = { "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ" };

/* One BLAS thread and one malloc arena: 40 MB of address space and a thread less per core and
 * agent. */
static const struct {
    const char *name, *value;
} fixed[] = {
    { "PYTHONUNBUFFERED", "1" },     { "PYTHONDONTWRITEBYTECODE", "1" }, { "BESSER_TEST_MODE", "1" },
    { "OPENBLAS_NUM_THREADS", "1" }, { "OMP_NUM_THREADS", "1" },         { "MALLOC_ARENA_MAX", "2" },
};

static const char *const ours[] = { "BESSER_WS_PORT", "NLTK_DATA", "HOME", "TMPDIR", ENV_WAIT };

bool env_name_is_secret(const char *name)
{
    static const char *const words[] = { "TOKEN",      "SECRET",  "PASSWORD", "PASSWD", "KEY",
                                         "CREDENTIAL", "PRIVATE", "AUTH",     "COOKIE" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    const char *p;

    if (!*name || isdigit((unsigned char)*name))
        return false;
    for (p = name; *p; p++)
        if (*p != '_' && (!isascii((unsigned char)*p) || !isalnum((unsigned char)*p)))
            return false;
    return true;
}

static bool is_ours(const char *name)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(fixed); i++)
        if (!strcmp(name, fixed[i].name))
            return true;
    for (i = 0; i < ARRAY_LEN(ours); i++)
        if (!strcmp(name, ours[i]))
            return true;
    return false;
}

int env_check_extra(const char *name, const char *value, struct err *err)
{
    if (strlen(name) > ENV_NAME_MAX || !is_identifier(name))
        return err_set(err, ERR_BAD_REQUEST, 0, "no name of an environment variable: \"%.64s\"", name);
    if (strlen(value) > ENV_VALUE_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "the value of %s is too long", name);
    if (is_ours(name))
        return err_set(err, ERR_BAD_REQUEST, 0, "%s is set by the service", name);
    return 0;
}

static void inherit(struct strv *s, char *const *service)
{
    size_t i;

    for (; service && *service; service++)
        for (i = 0; i < ARRAY_LEN(inherited); i++) {
            size_t len = strlen(inherited[i]);

            if (!strncmp(*service, inherited[i], len) && (*service)[len] == '=' && !env_name_is_secret(inherited[i]))
                strv_set_env(s, inherited[i], *service + len + 1);
        }
}

/* Both spellings: some programs read only one. What an agent serves to itself stays inside. */
static void add_proxy(struct strv *s, uint16_t port)
{
    static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++)
        strv_add_fmt(s, "%s=http://127.0.0.1:%u", names[i], port);
    strv_set_env(s, "NO_PROXY", "127.0.0.1,localhost");
    strv_set_env(s, "no_proxy", "127.0.0.1,localhost");
}

void env_build(struct strv *s, const struct env_place *place, char *const *service, const struct strv *extra)
{
    size_t i;

    strv_set_env(s, "PATH", "/usr/local/bin:/usr/bin:/bin");
    inherit(s, service);
    for (i = 0; i < ARRAY_LEN(fixed); i++)
        strv_set_env(s, fixed[i].name, fixed[i].value);
    strv_add_fmt(s, "BESSER_WS_PORT=%u", place->port);
    if (*place->nltk_data)
        strv_set_env(s, "NLTK_DATA", place->nltk_data);
    strv_set_env(s, "HOME", place->work);
    strv_add_fmt(s, "TMPDIR=%s/tmp", place->work);
    if (place->proxy_port)
        add_proxy(s, place->proxy_port);
    for (i = 0; extra && i < extra->n; i++) {
        const char *eq = strchr(extra->v[i], '=');
        auto_free char *name = eq ? mem_dup(extra->v[i], (size_t)(eq - extra->v[i])) : NULL;

        if (name)
            strv_set_env(s, name, eq + 1);
        else
            s->failed = true;
    }
}
