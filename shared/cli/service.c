#include "shared/cli/service.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/cli.h"
#include "shared/ipc/wire.h"

#define ANSWER_MS 60000 /* ending a session waits until nothing of it is left */

int service_ask(const struct config *c, enum rpc_type question, const struct buf *payload, enum rpc_type want,
                struct buf *answer, struct err *err)
{
    auto_buf struct buf path;
    enum rpc_type got;

    buf_init(answer, RPC_MAX_PAYLOAD);
    buf_init(&path, 4096);
    if (buf_add_fmt(&path, "%s/supervisor.sock", c->runtime_dir) < 0)
        return err_nomem(err);
    if (rpc_call(path.data, question, payload, ANSWER_MS, &got, answer, NULL, err) < 0) {
        if (err->errnum == EACCES)
            return err_set(err, ERR_FORBIDDEN, 0, "only root and %s may ask the supervisor at %s", c->user, path.data);
        if (err->errnum == ENOENT || err->errnum == ECONNREFUSED)
            return err_set(err, ERR_UNAVAILABLE, 0, "the service is not running (nobody listens at %s)", path.data);
        return -1;
    }
    if (got != want)
        return err_set(err, ERR_UPSTREAM, 0, "the supervisor answered with message %d", (int)got);
    return 0;
}

static void tell_fault(void *arg, const char *sentence)
{
    *(bool *)arg = true;
    (void)cli_fail(CLI_NO, "%s", sentence);
}

int service_config(struct config *ret, const char *file, bool *ret_bad)
{
    const struct config_faults faults = { tell_fault, ret_bad };

    *ret_bad = false;
    return cli_load_rest(ret, file, &faults);
}

/* Every command here: configuration, one question, one answer. */
static int ask(const char *config_file, enum rpc_type question, enum rpc_type want, struct buf *answer, bool *ret_bad)
{
    struct config c = { 0 };
    struct err err = { 0 };
    int r = service_config(&c, config_file, ret_bad);

    if (r != CLI_OK)
        return r;
    r = service_ask(&c, question, NULL, want, answer, &err);
    config_release(&c);
    return r < 0 ? cli_fail(CLI_NO, "%s", err.msg) : CLI_OK;
}

static void print_json_text(const char *before, const char *s, const char *after)
{
    auto_buf struct buf b;

    buf_init(&b, 1u << 20);
    buf_add_json_str(&b, s, strlen(s));
    printf("%s%s%s", before, b.data, after);
}

static void print_plain(const char *before, const char *s, const char *after)
{
    auto_buf struct buf b;

    buf_init(&b, 1u << 20);
    cli_add_plain(&b, s, strlen(s), false);
    printf("%s%s%s", before, b.data ? b.data : "", after);
}

enum { CONFIG_FILE, JSON };

static const struct cli_option options[] = {
    [CONFIG_FILE] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    [JSON] = { "json", 'j', NULL, "as JSON" },
    { 0 },
};

static void print_status(const struct rpc_status *s, bool bad_settings, bool json)
{
    if (json) {
        printf("{\"sessions\":%u,\"capacity\":%u,\"quarantined\":%u", s->sessions, s->capacity, s->quarantined);
        print_json_text(",\"sandbox\":", s->sandbox, "");
        print_json_text(",\"egress\":", s->egress, "");
        print_json_text(",\"cgroup\":", s->cgroup, "");
        printf(",\"draining\":%s,\"warm\":%u,\"warmPool\":%u,\"settings\":\"%s\"}\n", s->draining ? "true" : "false",
               s->warm, s->warm_pool, bad_settings ? "bad" : "ok");
        return;
    }
    printf("sessions     %u of %u\n", s->sessions, s->capacity);
    if (s->warm_pool)
        printf("warm         %u of %u wait ready for the next ones\n", s->warm, s->warm_pool);
    if (s->quarantined)
        printf("quarantined  %u (slots whose processes cannot be killed)\n", s->quarantined);
    if (s->draining)
        printf("draining     no new sessions are taken (agentsim drain --undo)\n");
    if (bad_settings)
        printf("settings     bad: the service runs with those of its start, and would not start with these\n");
    print_plain("sandbox      ", s->sandbox, "\n");
    print_plain("egress       ", s->egress, "\n");
    print_plain("cgroup       ", s->cgroup, "\n");
}

static int run_status(const struct cli_input *in)
{
    auto_buf struct buf answer = { 0 };
    bool bad_settings;
    int status = ask(in->values[CONFIG_FILE], RPC_HEALTH, RPC_STATUS, &answer, &bad_settings);
    struct rpc_status s;
    struct wire_in w;

    if (status != CLI_OK)
        return status;
    wire_start(&w, answer.data, answer.len);
    if (rpc_get_status(&w, &s) < 0)
        return cli_fail(CLI_NO, "the supervisor's answer is malformed");
    print_status(&s, bad_settings, in->values[JSON]);
    if (bad_settings)
        return CLI_NO;
    return (strcmp(s.sandbox, "ok") == 0 || strcmp(s.sandbox, "off") == 0) && !s.draining ? CLI_OK : CLI_NO;
}

static void print_session(const struct rpc_session *s, bool json, bool first)
{
    int64_t left_s = ((int64_t)s->expires_wall_ms - time_wall_ms()) / 1000;
    char id[ID_TEXT_LEN + 1], started[TIME_TEXT_LEN + 1];

    id_format(&s->id, id);
    time_format_utc((int64_t)s->started_wall_ms, started);
    if (json) {
        printf("%s\n  {\"sessionId\":\"%s\"", first ? "" : ",", id);
        print_json_text(",\"actor\":", s->actor, "");
        print_json_text(",\"state\":", s->state, "");
        printf(",\"startedAt\":\"%s\",\"secondsLeft\":%" PRId64 ",\"attached\":%s,\"framesSent\":%" PRIu64
               ",\"slot\":%u}",
               started, left_s, s->attached ? "true" : "false", s->frames, s->slot);
        return;
    }
    printf("%s  %4u  ", id, s->slot);
    print_plain("", s->state, "");
    printf("%*s %s  %6" PRId64 "  %8" PRIu64 "  ", strlen(s->state) < 10 ? (int)(10 - strlen(s->state)) : 0, "",
           s->attached ? "yes" : "no ", left_s, s->frames);
    print_plain("", s->actor, "\n");
}

static int print_sessions(const struct buf *answer, bool json)
{
    struct wire_in w;
    uint32_t n, i;

    wire_start(&w, answer->data, answer->len);
    n = wire_get_u32(&w);
    if (json)
        fputs("[", stdout);
    else
        printf("%-36s  slot  state      att  left s    frames  owner\n", "session");
    for (i = 0; i < n; i++) {
        struct rpc_session s;

        if (rpc_get_session(&w, &s) < 0)
            break;
        print_session(&s, json, i == 0);
    }
    if (json)
        fputs(n ? "\n]\n" : "]\n", stdout);
    return wire_end(&w) < 0 ? cli_fail(CLI_NO, "the supervisor's answer is malformed") : CLI_OK;
}

static int run_sessions(const struct cli_input *in)
{
    auto_buf struct buf answer = { 0 };
    bool bad_settings;
    int status = ask(in->values[CONFIG_FILE], RPC_LIST, RPC_SESSIONS, &answer, &bad_settings);

    if (status == CLI_OK)
        status = print_sessions(&answer, in->values[JSON]);
    return status == CLI_OK && bad_settings ? CLI_NO : status;
}

/* Ends one session in its owner's name; the list knows the owner. */
static int end_session(const struct config *c, const struct rpc_session *s, struct err *err)
{
    auto_buf struct buf request, answer = { 0 };
    char id[ID_TEXT_LEN + 1];

    buf_init(&request, RPC_MAX_PAYLOAD);
    wire_put_id(&request, &s->id);
    wire_put_str(&request, s->actor);
    id_format(&s->id, id);
    if (service_ask(c, RPC_END, &request, RPC_OK, &answer, err) < 0)
        return err_wrap(err, "session %s", id);
    printf("%s ended\n", id);
    return 0;
}

/* Number of sessions ended, or -1. only NULL: all. */
static int end_listed(const struct config *c, const struct id *only, struct err *err)
{
    auto_buf struct buf list = { 0 };
    struct wire_in w;
    uint32_t n, i;
    int ended = 0;

    if (service_ask(c, RPC_LIST, NULL, RPC_SESSIONS, &list, err) < 0)
        return -1;
    wire_start(&w, list.data, list.len);
    n = wire_get_u32(&w);
    for (i = 0; i < n; i++) {
        struct rpc_session s;

        if (rpc_get_session(&w, &s) < 0)
            return err_set(err, ERR_UPSTREAM, 0, "the supervisor's answer is malformed");
        if (only && !id_equal(only, &s.id))
            continue;
        if (end_session(c, &s, err) < 0)
            return -1;
        ended++;
    }
    return ended;
}

static int run_kill(const struct cli_input *in)
{
    bool all = strcmp(in->args[0], "all") == 0;
    struct config c = { 0 };
    struct err err = { 0 };
    bool bad_settings;
    struct id id;
    int n;

    if (!all && id_parse(in->args[0], &id) < 0)
        return cli_fail(CLI_USAGE, "%s is no session id (see agentsim sessions)", in->args[0]);
    n = service_config(&c, in->values[CONFIG_FILE], &bad_settings);
    if (n != CLI_OK)
        return n;
    n = end_listed(&c, all ? NULL : &id, &err);
    config_release(&c);
    if (n < 0)
        return cli_fail(CLI_NO, "%s", err.msg);
    if (!n && all)
        printf("no session runs\n");
    if (!n && !all)
        return cli_fail(CLI_NO, "there is no session %s", in->args[0]);
    return bad_settings ? CLI_NO : CLI_OK;
}

const struct cli_command cli_status = {
    .name = "status",
    .arguments = "",
    .summary = "Say how the running service is",
    .details = "\nExit status 0 when sessions can be started, 1 when not, with the reason, or when the settings are "
               "bad: the service\n"
               "goes on with those of its start. For root and the service's user.",
    .options = options,
    .run = run_status,
};

const struct cli_command cli_sessions = {
    .name = "sessions",
    .arguments = "",
    .summary = "List the live sessions",
    .details = "\nColumns: id, slot, state, whether a browser is attached, seconds left, frames so far, owner.",
    .options = options,
    .run = run_sessions,
};

static const struct cli_option kill_options[] = {
    [CONFIG_FILE] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    { 0 },
};

const struct cli_command cli_kill = {
    .name = "kill",
    .arguments = "ID|all",
    .summary = "End a session, or all of them",
    .details = "\nReturns once nothing of the session is left.",
    .options = kill_options,
    .args_min = 1,
    .args_max = 1,
    .run = run_kill,
};
