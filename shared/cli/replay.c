/* `agentsim test`: scenarios, one after the other, and a report for people and, on request, one for machines. */
#include <stdlib.h>
#include <string.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/cli.h"
#include "shared/cli/junit.h"
#include "shared/cli/player.h"
#include "shared/cli/scenario.h"

enum { JUNIT, DIAGRAM, URL, SIGN_IN, CREDENTIALS, VERBOSE };

static const struct cli_option options[] = {
    [JUNIT] = { "junit", 'j', "FILE", "write a JUnit XML report too" },
    [DIAGRAM] = { "diagram", 'd', "FILE", "the diagram to talk to, whatever the scenarios name" },
    [URL] = { "url", 'u', "URL", "address of the service (http://127.0.0.1:8080)" },
    [SIGN_IN] = { "github-session", 0, "ID", "sign-in, where the service asks for one (AGENTSIM_GITHUB_SESSION)" },
    [CREDENTIALS] = { "credentials", 0, NULL, "hand the API keys of this environment to the sessions" },
    [VERBOSE] = { "verbose", 'v', NULL, "show every frame of the agent" },
    { 0 },
};

static void print(const struct buf *b)
{
    if (b->len)
        (void)fwrite(b->data, 1, b->len, stdout);
    (void)fflush(stdout);
}

/* The diagram of all scenarios, or of this one. NULL: said, and in *ret_status. */
static cJSON *request_for(const cJSON *common, const struct scenario *s, int *ret_status)
{
    cJSON *request;

    if (!common)
        return cli_read_request(s->diagram, true, ret_status);
    request = cJSON_Duplicate(common, true);
    if (!request)
        *ret_status = cli_fail(CLI_FAILED, "out of memory");
    return request;
}

/* 0 it went as written, 1 it did not; what was wrong is said. */
static int play(const struct player_options *o, const struct scenario *s, const cJSON *common, struct junit *report)
{
    int64_t began = time_mono_ms();
    auto_buf struct buf lines, failure;
    cJSON *request;
    double seconds;
    int status, r;

    buf_init(&lines, 64u << 20);
    buf_init(&failure, 1u << 20);
    request = request_for(common, s, &status);
    r = request ? player_run(o, s, request, &lines, &failure) : -1;
    if (!request)
        buf_add_fmt(&failure, "%s cannot be used", common ? "the diagram" : s->diagram);
    cJSON_Delete(request);
    seconds = (double)(time_mono_ms() - began) / 1000.0;
    printf("%s\n", s->name);
    print(&lines);
    if (r < 0)
        printf("FAIL %s (%.1f s)\n%s\n", s->name, seconds, failure.data ? failure.data : "out of memory");
    else
        printf("ok   %s (%.1f s)\n", s->name, seconds);
    (void)fflush(stdout);
    junit_add(report, s->name, seconds, r < 0 ? (failure.data ? failure.data : "out of memory") : NULL);
    return r < 0;
}

static int play_all(const struct cli_input *in, const struct scenario *all, const cJSON *common, struct junit *report)
{
    const struct player_options o = {
        .url = in->values[URL] ? in->values[URL] : "http://127.0.0.1:8080",
        .sign_in = chat_sign_in(in->values[SIGN_IN]),
        .credentials = in->values[CREDENTIALS],
        .verbose = in->values[VERBOSE],
    };
    int i, failed = 0;

    for (i = 0; i < in->args_len; i++)
        failed += play(&o, &all[i], common, report);
    printf("%d passed, %d failed\n", in->args_len - failed, failed);
    return failed;
}

/* All of them first: a misspelt name should not be found after minutes. */
static int read_all(const struct cli_input *in, struct scenario *all, cJSON **ret_common)
{
    struct err err = { 0 };
    int status, i;

    for (i = 0; i < in->args_len; i++) {
        if (scenario_read(in->args[i], &all[i], &err) < 0)
            return cli_fail(CLI_USAGE, "%s", err.msg);
        if (!in->values[DIAGRAM] && !all[i].diagram)
            return cli_fail(CLI_USAGE, "%s names no diagram that is there; --diagram does", in->args[i]);
    }
    if (in->values[DIAGRAM]) {
        *ret_common = cli_read_request(in->values[DIAGRAM], true, &status);
        return *ret_common ? CLI_OK : status;
    }
    return CLI_OK;
}

static int write_report(const char *path, const struct junit *report)
{
    auto_buf struct buf text;
    struct err err = { 0 };

    buf_init(&text, 64u << 20);
    junit_write(report, "agentsim test", &text);
    if (buf_failed(&text))
        return cli_fail(CLI_FAILED, "out of memory");
    return io_write_file(path, text.data, text.len, 0644, &err) < 0 ? cli_fail(CLI_FAILED, "%s", err.msg) : CLI_OK;
}

static int run(const struct cli_input *in)
{
    struct scenario *all = mem_zalloc((size_t)in->args_len, sizeof(*all));
    cJSON *common = NULL;
    struct junit report;
    int status, i;

    if (!all)
        return cli_fail(CLI_FAILED, "out of memory");
    junit_init(&report);
    status = read_all(in, all, &common);
    if (status == CLI_OK) {
        status = play_all(in, all, common, &report) ? CLI_NO : CLI_OK;
        if (in->values[JUNIT] && write_report(in->values[JUNIT], &report) != CLI_OK)
            status = CLI_FAILED;
    }
    for (i = 0; i < in->args_len; i++)
        scenario_release(&all[i]);
    cJSON_Delete(common);
    junit_release(&report);
    mem_free(all);
    return status;
}

const struct cli_command cli_test = {
    .name = "test",
    .arguments = "SCENARIO.json...",
    .summary = "Replay conversations through the running service",
    .details =
        "\nA scenario is a conversation written down: what is sent, and what the agent has to say, frame by frame. "
        "The\n"
        "transcript of a session (GET .../sessions/ID/transcript) is one. Its diagram is found beside it, or in the\n"
        "folder ../diagrams. Exit status 0: every conversation went as written; 1: one did not.",
    .options = options,
    .args_min = 1,
    .args_max = 10000,
    .run = run,
};
