/* `agentsim drain` and `agentsim reload`: what operators do to the service as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/cli.h"
#include "shared/cli/service.h"
#include "shared/ipc/wire.h"

#define DEFAULT_PATIENCE_S 1000 /* a session's usual lifetime and what its end takes */
#define MOST_PATIENCE_S 2592000
#define PAUSE_MS 200

enum { CONFIG_FILE, TIMEOUT, UNDO };

static const struct cli_option drain_options[] = {
    [CONFIG_FILE] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    [TIMEOUT] = { "timeout", 't', "SECONDS", "wait that long for the last session (1000); 0 does not wait" },
    [UNDO] = { "undo", 'u', NULL, "take new sessions again" },
    { 0 },
};

static int ask_status(const struct config *c, enum rpc_type question, uint32_t flags, struct rpc_status *ret,
                      struct buf *answer, struct err *err)
{
    auto_buf struct buf request;
    struct wire_in in;

    buf_init(&request, 64);
    if (question == RPC_DRAIN)
        wire_put_u32(&request, flags);
    buf_release(answer);
    if (service_ask(c, question, &request, RPC_STATUS, answer, err) < 0)
        return -1;
    wire_start(&in, answer->data, answer->len);
    if (rpc_get_status(&in, ret) < 0)
        return err_set(err, ERR_UPSTREAM, 0, "the supervisor's answer is malformed");
    return 0;
}

static void pause_a_moment(void)
{
    const struct timespec t = { 0, PAUSE_MS * 1000000L };

    nanosleep(&t, NULL);
}

/* Until no session is left; says how many are. */
static int wait_until_empty(const struct config *c, long seconds)
{
    int64_t until = time_mono_ms() + seconds * 1000;
    auto_buf struct buf answer = { 0 };
    uint32_t told = UINT32_MAX;
    struct rpc_status s;
    struct err err = { 0 };

    for (;;) {
        if (ask_status(c, RPC_HEALTH, 0, &s, &answer, &err) < 0)
            return cli_fail(CLI_NO, "%s", err.msg);
        if (!s.sessions) {
            printf("drained: no session is left\n");
            return CLI_OK;
        }
        if (!s.draining)
            return cli_fail(CLI_NO, "somebody has the service take new sessions again");
        if (s.sessions != told)
            printf("%u session%s left\n", s.sessions, s.sessions == 1 ? "" : "s");
        (void)fflush(stdout);
        told = s.sessions;
        if (time_mono_ms() >= until)
            return cli_fail(CLI_NO, "%u session%s left after %ld s (agentsim kill all ends them)", s.sessions,
                            s.sessions == 1 ? " is" : "s are", seconds);
        pause_a_moment();
    }
}

static int parse_seconds(const char *text, long *ret)
{
    char *end;

    errno = 0;
    *ret = strtol(text, &end, 10);
    return errno || end == text || *end || *ret < 0 || *ret > MOST_PATIENCE_S ? -1 : 0;
}

static int drain(const struct config *c, bool undo, long seconds)
{
    auto_buf struct buf answer = { 0 };
    struct rpc_status s;
    struct err err = { 0 };

    if (ask_status(c, RPC_DRAIN, undo ? 0 : RPC_DRAIN_ON, &s, &answer, &err) < 0)
        return cli_fail(CLI_NO, "%s", err.msg);
    if (undo) {
        printf("new sessions are taken again\n");
        return CLI_OK;
    }
    printf("no new sessions are taken\n");
    return seconds ? wait_until_empty(c, seconds) : CLI_OK;
}

static int run_drain(const struct cli_input *in)
{
    long seconds = DEFAULT_PATIENCE_S;
    struct config c = { 0 };
    bool bad_settings;
    int status;

    if (in->values[TIMEOUT] && parse_seconds(in->values[TIMEOUT], &seconds) < 0)
        return cli_fail(CLI_USAGE, "--timeout %s is no number of seconds up to %d", in->values[TIMEOUT],
                        MOST_PATIENCE_S);
    status = service_config(&c, in->values[CONFIG_FILE], &bad_settings);
    if (status != CLI_OK)
        return status;
    status = drain(&c, in->values[UNDO] != NULL, seconds);
    config_release(&c);
    return status == CLI_OK && bad_settings ? CLI_NO : status;
}

const struct cli_command cli_drain = {
    .name = "drain",
    .arguments = "",
    .summary = "Take no new sessions, wait until the last one has ended",
    .details =
        "\nUsers who ask for a session get 503 meanwhile, and /readyz says so; running sessions go on until they\n"
        "end by themselves. Exit status 0 when none is left, 1 when the time is up. A restart of the\n"
        "supervisor forgets it. For root and the service's user.",
    .options = drain_options,
    .run = run_drain,
};

/* ---- reload ---- */

/* The keeper holds a lock on its file as long as it runs: a number in it without a lock is nobody's. */
static pid_t keeper_pid(const struct config *c, struct err *err)
{
    auto_buf struct buf path;
    auto_fd int fd = -1;
    char text[32];
    ssize_t n;
    long pid;

    buf_init(&path, 4096);
    if (buf_add_fmt(&path, "%s/keeper.pid", c->runtime_dir) < 0)
        return err_nomem(err);
    fd = open(path.data, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0)
        return err_set(err, ERR_UNAVAILABLE, 0, "no keeper runs with %s", c->runtime_dir);
    n = read(fd, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    pid = strtol(text, NULL, 10);
    return pid > 1 ? (pid_t)pid : err_set(err, ERR_INTERNAL, 0, "%s holds no process id", path.data);
}

/* The supervisor judges, as it knows what is in force; the keeper then has everybody follow. */
static int reload(const struct config *c, struct err *err)
{
    auto_buf struct buf answer = { 0 };
    pid_t pid = keeper_pid(c, err);

    if (pid < 0 || service_ask(c, RPC_RELOAD, NULL, RPC_OK, &answer, err) < 0)
        return -1;
    if (kill(pid, SIGHUP) < 0)
        return err_set(err, ERR_FORBIDDEN, errno, "tell the keeper, process %d", (int)pid);
    return 0;
}

static int run_reload(const struct cli_input *in)
{
    struct config c = { 0 };
    struct err err = { 0 };
    int r = cli_load_config(&c, in->values[CONFIG_FILE], "nothing was changed: ");

    if (r != CLI_OK)
        return r;
    r = geteuid() == 0 ? reload(&c, &err) : err_set(&err, ERR_FORBIDDEN, 0, "only root may reload the service");
    config_release(&c);
    if (r < 0)
        return cli_fail(CLI_NO, "%s", err.msg);
    printf("the settings are in force; sessions that run keep theirs\n");
    return CLI_OK;
}

static const struct cli_option reload_options[] = {
    [CONFIG_FILE] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    { 0 },
};

const struct cli_command cli_reload = {
    .name = "reload",
    .arguments = "",
    .summary = "Put changed settings in force without a restart",
    .details = "\nAll of them or none: a bad value, or a changed one that needs a restart (agentsim config; the\n"
               "configuration page marks them), is refused with its name and exit status 1. The environment is\n"
               "that of the service's start; only the file is read anew. For root.",
    .options = reload_options,
    .run = run_reload,
};
