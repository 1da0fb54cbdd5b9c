#include "shared/config/table.h"

#include <ctype.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define AT(member) offsetof(struct config, member)
#define SIM CONFIG_ENV_PREFIX

static const char *const egress_words[] = { "none", "public", "allow", "host", NULL };
static const char *const sandbox_words[] = { "auto", "off", NULL };
static const char *const log_words[] = { "text", "json", NULL };
static const char *const level_words[] = { "debug", "info", "warn", "error", NULL };

/* Those that the reference opens itself to: its editor and the usual development servers. */
#define DEFAULT_ORIGINS \
    "https://editor.besser-pearl.org,http://localhost:5173,http://localhost:3000,http://localhost:8080," \
    "http://127.0.0.1:5173,http://127.0.0.1:3000,http://127.0.0.1:8080"

#define BOOL(name, member, standard, help) \
    { \
        name, CONFIG_BOOL, AT(member), 0, 1, standard, NULL, 0, help \
    }
#define INT(name, member, min, max, standard, help) \
    { \
        name, CONFIG_INT, AT(member), min, max, standard, NULL, 0, help \
    }
#define FIXED(name, member, min, max, standard, help) \
    { \
        name, CONFIG_INT, AT(member), min, max, standard, NULL, CONFIG_RESTART, help \
    }
#define TEXT(name, kind, member, min, max, standard, flags, help) \
    { \
        name, kind, AT(member), min, max, standard, NULL, flags, help \
    }

static const struct config_row doors[] = {
    TEXT(SIM "API_TOKEN", CONFIG_TEXT, api_token, 0, 4096, "", CONFIG_SECRET,
         "Shared secret of the internal surface. Unset: it refuses everything with 503, and no session starts."),
    BOOL(SIM "REQUIRE_AUTH", require_auth, "true", "The simulation routes need a GitHub sign-in."),
    BOOL(SIM "RESTRICT_CUSTOM_CODE", restrict_custom_code, "true", "Refuse diagrams with custom Python bodies."),
    INT(SIM "RATE_LIMIT_WINDOW_SECONDS", rate_window_s, 1, 86400, "60", "Length of the sliding window of one actor."),
    INT(SIM "RATE_LIMIT_MAX_REQUESTS", rate_max_requests, 1, 1000000, "12",
        "Requests of one actor in that window: validate, start, and sign-in of a socket."),
    INT(SIM "RATE_LIMIT_MAX_KEYS", rate_max_keys, 1, 1000000, "10000",
        "Actors that are counted at the same time; the oldest is forgotten first."),
    TEXT("CORS_ORIGINS", CONFIG_ORIGINS, cors_origins, 0, 8192, DEFAULT_ORIGINS, 0,
         "Comma list of origins whose pages may call the public surface; * allows all."),
    TEXT("GITHUB_CLIENT_ID", CONFIG_TEXT, github_client_id, 0, 255, "", 0, "OAuth application of the sign-in."),
    TEXT("GITHUB_CLIENT_SECRET", CONFIG_TEXT, github_client_secret, 0, 255, "", CONFIG_SECRET,
         "Secret of that OAuth application."),
    TEXT("GITHUB_REDIRECT_URI", CONFIG_URL, github_redirect_uri, 0, 2048, "", 0,
         "Where GitHub sends the browser after the sign-in. Unset: where the OAuth application says."),
    TEXT("DEPLOYMENT_URL", CONFIG_URL, deployment_url, 0, 2048, "", 0,
         "Where the browser goes once it is signed in, with the session's id in the query. Unset: to the console."),
    TEXT(SIM "GITHUB_URL", CONFIG_URL, github_url, 1, 2048, "https://github.com", 0,
         "Base address of GitHub's pages (Enterprise, tests)."),
    TEXT(SIM "GITHUB_API_URL", CONFIG_URL, github_api_url, 1, 2048, "https://api.github.com", 0,
         "Base address of GitHub's API."),
    TEXT(SIM "SIGNIN_KEY", CONFIG_TEXT, signin_key, 0, 4096, "", CONFIG_SECRET | CONFIG_RESTART,
         "What the file of sign-ins is sealed with, at least 32 random characters. Unset: a key file in "
         "STATE_DIR/signin."),
};

static const struct config_row sessions[] = {
    FIXED(SIM "MAX_SESSIONS", max_sessions, 1, 4096, "5", "Concurrent sessions of the service; each has its own UID."),
    INT(SIM "MAX_SESSIONS_PER_ACTOR", max_sessions_per_actor, 1, 4096, "1", "Concurrent sessions of one owner."),
    INT(SIM "SESSION_LIFETIME_SECONDS", session_lifetime_s, 1, 2592000, "900", "Hard end of a session."),
    INT(SIM "READY_SECONDS", ready_s, 1, 3600, "75", "Time an agent has until it listens."),
    INT(SIM "DETACH_SECONDS", detach_s, 0, 86400, "60", "Time a session lives on without a browser."),
    INT(SIM "PING_SECONDS", ping_s, 1, 3600, "25",
        "Silence after which a browser is pinged; one that answers none of three is given up. Below the idle limit of "
        "proxies."),
    INT(SIM "REPLAY_BYTES", replay_bytes, 65536, 1073741824, "4194304",
        "Frames kept per session for a browser that comes back or is slow."),
    FIXED(SIM "WARM_POOL", warm_pool, 0, 64, "2",
          "Interpreters that wait ready for the next sessions; 0: none. 22 MiB each."),
    { SIM "EGRESS", CONFIG_CHOICE, AT(egress), 0, 0, "public", egress_words, 0,
      "What agents reach: nothing, public addresses, a list, or (host) all that this machine does." },
    TEXT(SIM "EGRESS_ALLOW", CONFIG_PEERS, egress_allow, 0, 65536, "", 0,
         "The list of `allow`, commas between: host:port, *.host:port for all names below, address:port, "
         "range/bits:port. "
         "A name leads to public addresses, and to inner ones that are listed too."),
    INT(SIM "EGRESS_CONNECTIONS", egress_connections, 1, 1024, "64", "Connections of an agent to the proxy at once."),
    INT(SIM "EGRESS_PER_SECOND", egress_per_second, 1, 1000, "50",
        "New connections a second that an agent's proxy takes, after the first 256."),
    INT(SIM "EGRESS_MB", egress_mb, 1, 1073741824, "2048",
        "MiB that a session may carry over the proxy, both directions together."),
    INT(SIM "EGRESS_HEAD_SECONDS", egress_head_s, 1, 3600, "30", "Time for the head of a request to the proxy."),
    INT(SIM "EGRESS_RESOLVE_SECONDS", egress_resolve_s, 1, 3600, "15", "Time to find the addresses of a name."),
    INT(SIM "EGRESS_CONNECT_SECONDS", egress_connect_s, 1, 3600, "20", "Time to reach a server."),
    INT(SIM "EGRESS_HALF_CLOSED_SECONDS", egress_half_closed_s, 1, 86400, "300",
        "Time that a connection lives on when one side has closed and the other is quiet."),
    { SIM "SANDBOX", CONFIG_CHOICE, AT(sandbox), 0, 0, "auto", sandbox_words, CONFIG_LENIENT | CONFIG_RESTART,
      "`off` runs agents unconfined; anything else does not." },
    FIXED(SIM "SESSION_UID_BASE", session_uid_base, 1000, 2000000000, "20000",
          "First UID of the pool, one per session."),
    FIXED(SIM "PORT_POOL_START", port_pool_start, 1024, 65535, "7700",
          "First agent port where sessions share a network namespace."),
    INT(SIM "RLIMIT_AS_GB", rlimit_as_gb, 1, 1024, "4", "Address space of an agent in GiB."),
    INT(SIM "RLIMIT_CPU_SEC", rlimit_cpu_s, 1, 2592000, "120", "CPU time of an agent."),
    INT(SIM "RLIMIT_FSIZE_MB", rlimit_fsize_mb, 1, 1048576, "100", "Largest file of an agent in MiB."),
    INT(SIM "RLIMIT_NPROC", rlimit_nproc, 1, 65536, "64", "Processes and threads of an agent."),
    INT(SIM "RLIMIT_NOFILE", rlimit_nofile, 64, 1048576, "1024", "Open files of an agent."),
    FIXED(SIM "MEMORY_MB", memory_mb, 0, 1048576, "0",
          "Memory of a session in MiB, enforced and shown; 0: half of the machine's, not shown."),
    { SIM "CPU_CORES", CONFIG_REAL, AT(cpu_cores), 0, 1024, "0", NULL, CONFIG_RESTART,
      "CPU cores of a session, enforced and shown; 0 is no limit." },
    FIXED(SIM "DISK_MB", disk_mb, 0, 1048576, "0",
          "Files of a session in MiB, enforced and shown; 0: a sixteenth of the machine's memory, 1024 at most, not "
          "shown."),
    BOOL(SIM "QUOTA_ENABLED", quota_enabled, "false", "Shown by the limits route as editorQuotaEnabled."),
};

static const struct config_row places[] = {
    TEXT(SIM "STATE_DIR", CONFIG_PATH, state_dir, 1, 4000, "/var/lib/agentsim", CONFIG_RESTART,
         "Directories of the sessions."),
    TEXT(SIM "RUNTIME_DIR", CONFIG_PATH, runtime_dir, 1, 80, "/run/agentsim", CONFIG_RESTART,
         "Sockets and process ids."),
    TEXT(SIM "PROGRAM_DIR", CONFIG_PATH, program_dir, 1, 4000, AGENTSIM_PREFIX "/bin", CONFIG_RESTART,
         "Our own programs."),
    TEXT(SIM "PYTHON", CONFIG_PATH, python, 1, 4000, AGENTSIM_PREFIX "/runtime/bin/python", CONFIG_RESTART,
         "Interpreter that agents run on."),
    TEXT("NLTK_DATA", CONFIG_PATH, nltk_data, 0, 4000, "/opt/nltk_data", 0, "Tokenizer data for agents."),
    TEXT(SIM "USER", CONFIG_TEXT, user, 1, 32, "agentsim", CONFIG_RESTART, "User of the service's own processes."),
    TEXT(SIM "WEB_GROUP", CONFIG_TEXT, web_group, 1, 32, "www-data", CONFIG_RESTART,
         "Group of nginx: may connect to our sockets."),
    TEXT(SIM "NGINX", CONFIG_PATH, nginx, 0, 4000, "/usr/sbin/nginx", CONFIG_RESTART,
         "nginx to start; empty: one that is not ours."),
    TEXT(SIM "NGINX_CONF", CONFIG_PATH, nginx_conf, 1, 4000, AGENTSIM_PREFIX "/nginx/agentsim.conf", CONFIG_RESTART,
         "Configuration it is started with."),
    FIXED(SIM "WORKERS", workers, 1, 64, "4", "FastCGI worker processes."),
    { SIM "LOG", CONFIG_WORD, AT(log), 0, 0, "text", log_words, 0, "Form of the log lines." },
    { SIM "LOG_LEVEL", CONFIG_WORD, AT(log_level), 0, 0, "info", level_words, 0, "Least level that is written." },
};

static const struct config_group groups[] = {
    { "Doors", doors, ARRAY_LEN(doors) },
    { "Sessions", sessions, ARRAY_LEN(sessions) },
    { "Places and processes", places, ARRAY_LEN(places) },
};

const struct config_group *config_group_at(size_t i)
{
    return i < ARRAY_LEN(groups) ? &groups[i] : NULL;
}

const struct config_row *config_row_at(size_t i)
{
    size_t g;

    for (g = 0; g < ARRAY_LEN(groups); g++) {
        if (i < groups[g].len)
            return &groups[g].rows[i];
        i -= groups[g].len;
    }
    return NULL;
}

size_t config_row_place(const struct config_row *row)
{
    size_t i;

    for (i = 0; config_row_at(i) != row; i++)
        ;
    return i;
}

void config_row_came_from(struct config *c, const struct config_row *row, const char *value, enum config_source source)
{
    size_t place = config_row_place(row);
    bool given = value[strspn(value, " \t\r\n")] || config_row_takes_empty(row);

    if (given && place < CONFIG_SETTINGS_MAX)
        c->sources[place] = (unsigned char)source;
}

void config_row_name(const struct config_row *row, char out[CONFIG_NAME_MAX])
{
    const char *env = row->env;
    size_t i;

    if (str_starts(env, CONFIG_ENV_PREFIX))
        env += strlen(CONFIG_ENV_PREFIX);
    for (i = 0; env[i] && i + 1 < CONFIG_NAME_MAX; i++)
        out[i] = (char)tolower((unsigned char)env[i]);
    out[i] = '\0';
}

const struct config_row *config_row_find(const char *key)
{
    const struct config_row *row;
    char name[CONFIG_NAME_MAX];
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++) {
        config_row_name(row, name);
        if (strcmp(row->env, key) == 0 || strcmp(name, key) == 0)
            return row;
    }
    return NULL;
}
