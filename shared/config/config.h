/* shared/config/config.h -- every setting of the service, from one table: environment over file over default.
 * config_load() fills a struct; config_release() frees its strings. A malformed or out-of-bounds value
 * stops the start with a sentence that names the variable, the value and what is allowed.
 * Names, defaults and meanings: the configuration contract; docs/configuration.md is printed from the table. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shared/base/buf.h"
#include "shared/base/err.h"

enum config_egress { EGRESS_NONE, EGRESS_PUBLIC, EGRESS_ALLOW, EGRESS_HOST };
enum config_sandbox { SANDBOX_AUTO, SANDBOX_OFF };
enum config_source { CONFIG_FROM_DEFAULT, CONFIG_FROM_FILE, CONFIG_FROM_ENVIRONMENT };

#define CONFIG_SETTINGS_MAX 96

struct config {
    /* doors */
    char *api_token; /* "" = unset: the internal surface refuses everything */
    bool require_auth;
    bool restrict_custom_code;
    int64_t rate_window_s, rate_max_requests, rate_max_keys;
    int64_t max_sessions_per_actor, max_sessions, session_lifetime_s;
    char *cors_origins; /* comma list, "" = none */
    char *github_client_id, *github_client_secret, *github_redirect_uri, *deployment_url;
    char *github_url, *github_api_url;
    char *signin_key; /* "" = a key file is made */

    /* sessions */
    int64_t session_uid_base, port_pool_start;
    int64_t rlimit_as_gb, rlimit_cpu_s, rlimit_fsize_mb, rlimit_nproc, rlimit_nofile;
    int64_t memory_mb, disk_mb; /* 0 = unset */
    double cpu_cores;           /* 0 = unset */
    bool quota_enabled;
    int64_t detach_s, ping_s, replay_bytes, warm_pool, ready_s;
    int egress; /* enum config_egress */
    char *egress_allow;
    int64_t egress_connections;
    int64_t egress_per_second;
    int64_t egress_mb;
    int64_t egress_head_s;
    int64_t egress_resolve_s;
    int64_t egress_connect_s;
    int64_t egress_half_closed_s;
    int sandbox; /* enum config_sandbox */

    /* places and processes */
    char *state_dir, *runtime_dir, *python, *nltk_data;
    char *program_dir;        /* where our programs are installed, /opt/agentsim/bin */
    char *user;               /* the service's own user, "agentsim" */
    char *web_group;          /* nginx's group, "www-data": may connect to the worker and WebSocket sockets */
    char *nginx, *nginx_conf; /* program and configuration that the keeper starts; nginx "" = not ours to start */
    int64_t workers;          /* FastCGI worker processes */
    char *log;                /* "text" or "json" */
    char *log_level;

    unsigned char sources[CONFIG_SETTINGS_MAX]; /* enum config_source of each row of the table */
};

/* Reads file (NULL: /etc/agentsim/agentsim.yaml if it exists; an explicit one must exist) and the environment. */
int config_load(struct config *ret, const char *file, struct err *err);

/* Who wants to hear of bad settings instead of a refusal. */
struct config_faults {
    void (*told)(void *arg, const char *sentence);
    void *arg;
};

/* As config_load(), for who asks about a service whose settings are broken: what is bad is told and left out, the rest
 * is in force. -1: out of memory, or a file that cannot be read. */
int config_load_rest(struct config *ret, const char *file, const struct config_faults *faults, struct err *err);
int config_load_env_rest(struct config *ret, const struct config_faults *faults, struct err *err);

/* Only the environment and defaults: for processes that must not see secrets (the holder). */
int config_load_env(struct config *ret, struct err *err);

/* Reads file and environment anew, as config_load() did, for a process that runs: 0 and all that may change has
 * changed, or -1 and nothing has: a value is bad, or one differs that only a restart can change (ERR_CONFLICT; the
 * sentence names all of them). Texts of settings that need a restart stay where they are; others are freed. */
int config_reload(struct config *c, const char *file, struct err *err);
void config_release(struct config *c); /* wipes secrets; NULL is fine */

/* All settings without secrets as "NAME=value" strings, NULL-terminated, for a child's environment; free with
 * config_env_free(). */
int config_public_env(const struct config *c, char ***ret, struct err *err);
void config_env_free(char **env);

/* Names in an environment that begin like a setting of ours and are none, most likely misspelt: found() hears each, and
 * the name that was meant, or NULL where none is near. */
void config_unknown_env(char *const *env, void (*found)(void *arg, const char *name, const char *meant), void *arg);

/* The table with the values (secrets as ***) and where those come from that are no default. */
void config_print(const struct config *c, FILE *out);

/* One value by itself, secrets too, for who asks for it by name; -1: no such setting. */
int config_print_value(const struct config *c, const char *key, FILE *out, struct err *err);

/* The page docs/configuration.md. */
void config_print_markdown(FILE *out);

const char *config_egress_name(int egress);

#endif
