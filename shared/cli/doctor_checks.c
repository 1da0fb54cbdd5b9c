#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"
#include "shared/cli/doctor.h"
#include "shared/cli/service.h"
#include "shared/ipc/wire.h"

#define PROBE_MS 20000

#define SET(field, ...) (void)snprintf(field, sizeof(field), __VA_ARGS__)

/* First line of a file, "" when there is none. */
static void read_line(const char *path, char *out, size_t size)
{
    auto_buf struct buf text;

    buf_init(&text, 65536);
    out[0] = '\0';
    if (io_read_file(path, &text, NULL) == 0 && text.data)
        (void)snprintf(out, size, "%.*s", (int)strcspn(text.data, "\n"), text.data);
}

static bool line_is(const char *path, const char *want)
{
    char line[256];

    read_line(path, line, sizeof(line));
    return strcmp(line, want) == 0;
}

/* The user of the first session when we may become it, else ourselves. */
static unsigned session_user(const struct config *c)
{
    return geteuid() == 0 ? (unsigned)c->session_uid_base : 0;
}

static void namespace_cure(struct doctor_result *r)
{
    static const struct {
        const char *path, *value, *cure;
    } rows[] = {
        { "/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1" },
        { "/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000" },
        { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
          "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        if (line_is(rows[i].path, rows[i].value)) {
            SET(r->cure, "%s", rows[i].cure);
            return;
        }
    }
    SET(r->cure, "in a container: --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
                 "--security-opt systempaths=unconfined");
}

/* A child may fail as it likes: its exit status is errno. */
static int try_user_namespace(unsigned uid)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
            _exit(EPERM);
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0
                  ? errno
                  : 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static void check_namespaces(const struct config *c, struct doctor_result *r)
{
    int failure = try_user_namespace(session_user(c));

    if (!failure) {
        SET(r->found, "user, mount, process, network, IPC and host name namespaces can be made");
        return;
    }
    r->state = DOCTOR_BAD;
    SET(r->found, "cannot be made: %s", strerror(failure));
    namespace_cure(r);
}

static void check_bubblewrap(const struct config *c, struct doctor_result *r)
{
    char program[] = "/usr/bin/bwrap", version[] = "--version";
    char *argv[] = { program, version, NULL };
    auto_buf struct buf out;
    unsigned long major = 0, minor = 0;
    char *end = NULL;

    (void)c;
    buf_init(&out, 65536);
    if (doctor_run(NULL, argv, 0, PROBE_MS, &out) == 0 && out.data && str_starts(out.data, "bubblewrap ")) {
        major = strtoul(out.data + strlen("bubblewrap "), &end, 10);
        minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
    }
    if (!end) {
        r->state = DOCTOR_BAD;
        SET(r->found, "%s does not run", program);
        SET(r->cure, "apt-get install -y bubblewrap");
        return;
    }
    SET(r->found, "version %lu.%lu", major, minor);
    if (major == 0 && minor < 8) {
        r->state = DOCTOR_BAD;
        SET(r->cure, "0.8 or newer is needed (--disable-userns)");
    }
}

static void check_seccomp(const struct config *c, struct doctor_result *r)
{
    char actions[512];

    (void)c;
    read_line("/proc/sys/kernel/seccomp/actions_avail", actions, sizeof(actions));
    if (strstr(actions, "kill_process") && strstr(actions, "errno")) {
        SET(r->found, "filters can be installed");
        return;
    }
    r->state = DOCTOR_BAD;
    SET(r->found, "the kernel offers no system call filters");
    SET(r->cure, "use a kernel with CONFIG_SECCOMP_FILTER");
}

/* Only the launcher may try it, and only as root; others hear what it found when the service started. */
static int limits_text(const struct config *c, char *out, size_t size)
{
    char flag[] = "--self-test";
    auto_free char *program = cli_program_path("agentsim-launcher");
    char *argv[] = { program, flag, NULL };
    auto_buf struct buf text = { 0 };
    struct rpc_status s;
    struct wire_in in;
    struct err err = { 0 };
    int status;

    if (geteuid() == 0) {
        buf_init(&text, 65536);
        status = program ? doctor_run(c, argv, 0, PROBE_MS, &text) : -1;
        (void)snprintf(out, size, "%.*s", text.data ? (int)strcspn(text.data, "\n") : 0, text.data ? text.data : "");
        return status == 127 ? -1 : status;
    }
    if (service_ask(c, RPC_HEALTH, NULL, RPC_STATUS, &text, &err) < 0)
        return -1;
    wire_start(&in, text.data, text.len);
    if (rpc_get_status(&in, &s) < 0)
        return -1;
    (void)snprintf(out, size, "%s", s.cgroup);
    return strstr(s.cgroup, "not enforced") ? 1 : 0;
}

static void check_limits(const struct config *c, struct doctor_result *r)
{
    char text[300] = "";
    int status = limits_text(c, text, sizeof(text));

    if (status < 0) {
        r->state = DOCTOR_WARN;
        SET(r->found, "cannot be told%s%s", *text ? ": " : "", text);
        SET(r->cure, "run this as root");
        return;
    }
    SET(r->found, "%s", text);
    if (status == 0 && !str_starts(text, "none"))
        return;
    r->state = DOCTOR_WARN;
    SET(r->cure,
        "sessions have rlimits and what is named here; mount cgroup2 writable on /sys/fs/cgroup (a container: "
        "a cgroup namespace of its own, not read-only), and let the launcher start with CAP_SYS_ADMIN for disks");
}

/* What is ours to ask of the kernel besides namespaces, control groups and filters; without it, what happens. */
static void check_kernel(const struct config *c, struct doctor_result *r)
{
    static const struct {
        long number;
        const char *name, *since;
        enum doctor_state without;
    } rows[] = {
        { SYS_pidfd_open, "pidfd_open", "5.3", DOCTOR_BAD },
        { SYS_pidfd_send_signal, "pidfd_send_signal", "5.1", DOCTOR_BAD },
        { SYS_close_range, "close_range", "5.9", DOCTOR_BAD },
        { SYS_memfd_create, "memfd_create", "3.17", DOCTOR_BAD },
        { SYS_openat2, "openat2", "5.6", DOCTOR_WARN },
    };
    struct utsname u = { 0 };
    size_t i;

    (void)c;
    uname(&u);
    SET(r->found, "Linux %.60s has every call that is needed", u.release);
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        if (syscall(rows[i].number, -1, -1, -1, -1) >= 0 || (errno != ENOSYS && errno != EPERM) ||
            rows[i].without < r->state)
            continue;
        r->state = rows[i].without;
        SET(r->found, "%s is %s%s", rows[i].name, errno == EPERM ? "forbidden" : "missing",
            r->state == DOCTOR_WARN ? ": files of sessions are reached in a slower way" : "");
        SET(r->cure, "use Linux %s or newer; in a container, a seccomp profile that lets the call through",
            rows[i].since);
    }
}

/* True where nothing is tried, or must not be by us. */
static bool judge_policy(const struct config *c, struct doctor_result *r)
{
    if (c->sandbox == SANDBOX_OFF || c->egress == EGRESS_HOST) {
        r->state = DOCTOR_WARN;
        SET(r->found, "agents reach every network that this machine reaches, its loopback included");
        SET(r->cure, "%s",
            c->sandbox == SANDBOX_OFF ? "unset AGENT_SIMULATOR_SANDBOX" : "AGENT_SIMULATOR_EGRESS=public");
        return true;
    }
    SET(r->found, "%s", c->egress == EGRESS_NONE ? "none: agents reach nothing" : config_egress_name(c->egress));
    return c->egress == EGRESS_NONE || geteuid() != 0;
}

static void check_egress(const struct config *c, struct doctor_result *r)
{
    char flag[] = "--self-test=egress";
    auto_free char *program = cli_program_path("agentsim-holder");
    char *argv[] = { program, flag, NULL };
    auto_buf struct buf out = { 0 };
    int status;

    if (judge_policy(c, r))
        return;
    buf_init(&out, 65536);
    status = program ? doctor_run(c, argv, (unsigned)c->session_uid_base, 2 * PROBE_MS, &out) : -1;
    if (out.data && *out.data)
        SET(r->found, "%.*s", (int)strcspn(out.data, "\n"), out.data);
    if (status == 0)
        return;
    r->state = DOCTOR_BAD;
    SET(r->cure, "as for the sandbox, in the last line; the list of `allow` is AGENT_SIMULATOR_EGRESS_ALLOW");
}

static void add_unknown(void *arg, const char *name, const char *meant)
{
    struct doctor_result *r = arg;
    size_t used = r->state == DOCTOR_OK ? 0 : strlen(r->found);

    r->state = DOCTOR_WARN;
    (void)snprintf(r->found + used, sizeof(r->found) - used, "%s%s%s%s", used ? ", " : "no settings: ", name,
                   meant ? ", meant may be " : "", meant ? meant : "");
    SET(r->cure, "correct or unset them; `agentsim config` lists the settings");
}

static void check_settings(const struct config *c, struct doctor_result *r)
{
    (void)c;
    SET(r->found, "every AGENT_SIMULATOR_ name in the environment is one");
    config_unknown_env(environ, add_unknown, r);
}

static void check_runtime(const struct config *c, struct doctor_result *r)
{
    char isolated[] = "-I", command[] = "-c";
    char script[] = "import sys, importlib.util as u; s = u.find_spec('baf'); "
                    "print(sys.version.split()[0] + ' with ' + s.submodule_search_locations[0])";
    char *argv[] = { c->python, isolated, command, script, NULL };
    auto_buf struct buf out;

    buf_init(&out, 65536);
    if (doctor_run(NULL, argv, session_user(c), PROBE_MS, &out) == 0 && out.data) {
        SET(r->found, "Python %.*s", (int)strcspn(out.data, "\n"), out.data);
        return;
    }
    r->state = DOCTOR_BAD;
    if (access(c->python, X_OK) < 0)
        SET(r->found, "%s: %s", c->python, strerror(errno));
    else
        SET(r->found, "%s cannot import the agents' framework", c->python);
    SET(r->cure, "run docker/install/runtime.sh (make up does)");
}

static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
}

/* NLTK looks below its interpreter's prefix too. */
static void check_nltk(const struct config *c, struct doctor_result *r)
{
    char beside[4096];

    SET(beside, "%s", c->python);
    cut_last(beside);
    cut_last(beside);
    SET(r->found, "%.390s", c->nltk_data);
    if (access(c->nltk_data, R_OK | X_OK) == 0)
        return;
    SET(r->found, "%.380s/nltk_data", beside);
    if (access(r->found, R_OK | X_OK) == 0)
        return;
    r->state = DOCTOR_WARN;
    SET(r->found, "neither %.180s nor %.180s/nltk_data is there", c->nltk_data, beside);
    SET(r->cure, "run docker/install/runtime.sh (make up does); intents need it");
}

static void check_programs(const struct config *c, struct doctor_result *r)
{
    static const char *const names[] = { "agentsim-keeper", "agentsim-launcher", "agentsim-supervisor",
                                         "agentsim-holder", "agentsim-fcgi",     "agentsim-pid1",
                                         "agentsim-pyparse" };
    char path[4096];
    size_t i;

    for (i = 0; i < ARRAY_LEN(names); i++) {
        SET(path, "%s/%s", c->program_dir, names[i]);
        if (access(path, X_OK) == 0)
            continue;
        r->state = DOCTOR_BAD;
        SET(r->found, "%.200s/%s: %s", c->program_dir, names[i], strerror(errno));
        SET(r->cure, "make install");
        return;
    }
    SET(r->found, "all %zu in %.300s", ARRAY_LEN(names), c->program_dir);
}

static void check_users(const struct config *c, struct doctor_result *r)
{
    struct passwd *p = getpwuid((uid_t)c->session_uid_base);

    if (p) {
        r->state = DOCTOR_WARN;
        SET(r->found, "the first session user %u is %.64s, who could touch a session's files",
            (unsigned)c->session_uid_base, p->pw_name);
        SET(r->cure, "choose a free range with AGENT_SIMULATOR_SESSION_UID_BASE");
        return;
    }
    if (!getpwnam(c->user) || !getgrnam(c->web_group)) {
        r->state = DOCTOR_BAD;
        SET(r->found, "user %.64s or group %.64s is missing", c->user, c->web_group);
        SET(r->cure, "make up creates the user; the group comes with nginx");
        return;
    }
    SET(r->found, "%.64s, group %.64s, sessions from %u", c->user, c->web_group, (unsigned)c->session_uid_base);
}

static void check_nginx(const struct config *c, struct doctor_result *r)
{
    if (!*c->nginx) {
        SET(r->found, "not ours to start");
        return;
    }
    if (access(c->nginx, X_OK) == 0 && access(c->nginx_conf, R_OK) == 0) {
        SET(r->found, "%.180s with %.180s", c->nginx, c->nginx_conf);
        return;
    }
    r->state = DOCTOR_BAD;
    SET(r->found, "%.200s with %.150s: %s", c->nginx, c->nginx_conf, strerror(errno));
    SET(r->cure, "apt-get install -y nginx-light; make install");
}

static void check_service(const struct config *c, struct doctor_result *r)
{
    auto_buf struct buf answer = { 0 };
    struct rpc_status s;
    struct err err = { 0 };
    struct wire_in in;

    if (service_ask(c, RPC_HEALTH, NULL, RPC_STATUS, &answer, &err) < 0) {
        r->state = DOCTOR_WARN;
        SET(r->found, "%.390s", err.msg);
        SET(r->cure, "%s", err.kind == ERR_FORBIDDEN ? "run this as root" : "make up");
        return;
    }
    wire_start(&in, answer.data, answer.len);
    if (rpc_get_status(&in, &s) < 0) {
        r->state = DOCTOR_BAD;
        SET(r->found, "the supervisor's answer is malformed");
        return;
    }
    SET(r->found, "runs, %u of %u sessions, sandbox %.300s", s.sessions, s.capacity, s.sandbox);
    if (strcmp(s.sandbox, "ok") != 0)
        r->state = DOCTOR_WARN;
}

const struct doctor_check doctor_checks[] = {
    { "namespaces", check_namespaces }, { "bubblewrap", check_bubblewrap }, { "seccomp", check_seccomp },
    { "kernel", check_kernel },         { "limits", check_limits },         { "egress", check_egress },
    { "settings", check_settings },     { "runtime", check_runtime },       { "NLTK data", check_nltk },
    { "programs", check_programs },     { "users", check_users },           { "nginx", check_nginx },
    { "disks", doctor_check_disks },    { "service", check_service },
};
const unsigned doctor_checks_len = ARRAY_LEN(doctor_checks);

/* What the service found when it started; for those who may not try it themselves. */
static void ask_service(const struct config *c, struct doctor_result *r)
{
    auto_buf struct buf answer = { 0 };
    struct rpc_status s;
    struct err err = { 0 };
    struct wire_in in;

    r->state = DOCTOR_BAD;
    if (service_ask(c, RPC_HEALTH, NULL, RPC_STATUS, &answer, &err) < 0) {
        SET(r->found, "cannot be told: %.300s", err.msg);
        SET(r->cure, "run this as root");
        return;
    }
    wire_start(&in, answer.data, answer.len);
    if (rpc_get_status(&in, &s) < 0) {
        SET(r->found, "cannot be told: the supervisor's answer is malformed");
        return;
    }
    if (strcmp(s.sandbox, "ok") == 0)
        r->state = DOCTOR_OK;
    SET(r->found, "%.390s", s.sandbox);
}

void doctor_try_sandbox(const struct config *c, struct doctor_result *ret)
{
    char flag[] = "--self-test";
    auto_free char *program = cli_program_path("agentsim-holder");
    char *argv[] = { program, flag, NULL };
    auto_buf struct buf out = { 0 };
    int status;

    *ret = (struct doctor_result){ 0 };
    if (c->sandbox == SANDBOX_OFF) {
        SET(ret->found, "off: agents run unconfined");
        return;
    }
    if (geteuid() != 0) {
        ask_service(c, ret);
        return;
    }
    buf_init(&out, 65536);
    status = program ? doctor_run(c, argv, (unsigned)c->session_uid_base, 2 * PROBE_MS, &out) : -1;
    if (status == 0) {
        SET(ret->found, "OK");
        return;
    }
    ret->state = DOCTOR_BAD;
    if (status == 127)
        SET(ret->found, "%.300s is not installed", program);
    else if (out.data && *out.data)
        SET(ret->found, "%.*s", (int)strcspn(out.data, "\n"), out.data);
    else
        SET(ret->found, "the self-test ended with status %d and no reason", status);
}
