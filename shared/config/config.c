#include "shared/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"

#define VALUE_MAX 70000 /* above the longest text of the table */
#define NOBODY 65534
#define LEAST_KEY 32 /* characters of a key that seals files */

static int set_defaults(struct config *c, struct err *err)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++)
        if (config_row_set(c, row, row->standard, err) < 0)
            return -1;
    return 0;
}

int config_go_on(const struct config_faults *faults, int r, struct err *err)
{
    if (r == 0 || !faults || err->kind != ERR_BAD_REQUEST)
        return r;
    faults->told(faults->arg, err->msg);
    *err = (struct err){ 0 };
    return 0;
}

static int set_one_from_environment(struct config *c, const struct config_row *row, const char *value, struct err *err)
{
    if (config_row_set(c, row, value, err) < 0)
        return err_wrap(err, "environment");
    config_row_came_from(c, row, value, CONFIG_FROM_ENVIRONMENT);
    return 0;
}

static int set_from_environment(struct config *c, const struct config_faults *faults, struct err *err)
{
    const struct config_row *row;
    const char *value;
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++) {
        value = getenv(row->env);
        if (value && !config_row_takes_empty(row) && !value[strspn(value, " \t\r\n")])
            continue;
        if (!value)
            continue;
        if (config_go_on(faults, set_one_from_environment(c, row, value, err), err) < 0)
            return -1;
    }
    return 0;
}

/* What no single row can see. */
static int check_together(const struct config *c, struct err *err)
{
    int64_t last_uid = c->session_uid_base + c->max_sessions - 1;
    int64_t last_port = c->port_pool_start + c->max_sessions - 1;

    if (c->session_uid_base <= NOBODY + 1 && last_uid >= NOBODY)
        return err_set(err, ERR_BAD_REQUEST, 0,
                       "%sSESSION_UID_BASE is %lld; with %lld sessions the pool would hold UID %d or %d, which belong "
                       "to nobody",
                       CONFIG_ENV_PREFIX, (long long)c->session_uid_base, (long long)c->max_sessions, NOBODY,
                       NOBODY + 1);
    if (last_port > 65535)
        return err_set(err, ERR_BAD_REQUEST, 0,
                       "%sPORT_POOL_START is %lld; with %lld sessions at most %lld is possible", CONFIG_ENV_PREFIX,
                       (long long)c->port_pool_start, (long long)c->max_sessions, (long long)(65536 - c->max_sessions));
    if (*c->signin_key && strlen(c->signin_key) < LEAST_KEY)
        return err_set(err, ERR_BAD_REQUEST, 0, "%sSIGNIN_KEY has fewer than %d characters, which could be guessed",
                       CONFIG_ENV_PREFIX, LEAST_KEY);
    return 0;
}

static int load(struct config *c, const char *file, const struct config_faults *faults, struct err *err)
{
    if (set_defaults(c, err) < 0)
        return -1;
    if (file && config_go_on(faults, config_read_yaml(c, file, faults, err), err) < 0)
        return -1;
    if (set_from_environment(c, faults, err) < 0)
        return -1;
    return config_go_on(faults, check_together(c, err), err);
}

static int load_into(struct config *ret, const char *file, const struct config_faults *faults, struct err *err)
{
    struct config c = { 0 };

    if (load(&c, file, faults, err) < 0) {
        config_release(&c);
        return -1;
    }
    *ret = c;
    return 0;
}

static const char *file_or_default(const char *file)
{
    return file ? file : access(CONFIG_DEFAULT_FILE, F_OK) == 0 || errno != ENOENT ? CONFIG_DEFAULT_FILE : NULL;
}

int config_load(struct config *ret, const char *file, struct err *err)
{
    return load_into(ret, file_or_default(file), NULL, err);
}

int config_load_rest(struct config *ret, const char *file, const struct config_faults *faults, struct err *err)
{
    return load_into(ret, file_or_default(file), faults, err);
}

int config_load_env(struct config *ret, struct err *err)
{
    return load_into(ret, NULL, NULL, err);
}

int config_load_env_rest(struct config *ret, const struct config_faults *faults, struct err *err)
{
    return load_into(ret, NULL, faults, err);
}

void config_release(struct config *c)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; c && (row = config_row_at(i)); i++) {
        char **text = (char **)((char *)c + row->slot);

        if (row->kind < CONFIG_WORD || !*text)
            continue;
        if (row->flags & CONFIG_SECRET)
            mem_wipe(*text, strlen(*text));
        mem_free(*text);
        *text = NULL;
    }
}

static char *env_entry(const struct config *c, const struct config_row *row)
{
    auto_buf struct buf b;

    buf_init(&b, VALUE_MAX);
    buf_add_fmt(&b, "%s=", row->env);
    config_row_format(c, row, &b);
    return buf_steal(&b, NULL);
}

int config_public_env(const struct config *c, char ***ret, struct err *err)
{
    const struct config_row *row;
    size_t rows = 0, n = 0, i;
    char **env;

    while (config_row_at(rows))
        rows++;
    env = mem_zalloc(rows + 1, sizeof(*env));
    if (!env)
        return err_nomem(err);
    for (i = 0; (row = config_row_at(i)); i++) {
        if (row->flags & CONFIG_SECRET)
            continue;
        env[n] = env_entry(c, row);
        if (!env[n++]) {
            config_env_free(env);
            return err_nomem(err);
        }
    }
    *ret = env;
    return 0;
}

void config_env_free(char **env)
{
    size_t i;

    for (i = 0; env && env[i]; i++)
        mem_free(env[i]);
    mem_free(env);
}

const char *config_egress_name(int egress)
{
    static const char *const names[] = { "none", "public", "allow", "host" };

    return egress >= 0 && (size_t)egress < ARRAY_LEN(names) ? names[egress] : "none";
}
