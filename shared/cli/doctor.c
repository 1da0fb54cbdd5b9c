#include "shared/cli/doctor.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/cli/cli.h"

enum { CONFIG_FILE, JSON };

static const struct cli_option options[] = {
    [CONFIG_FILE] = { "config", 'c', "FILE", "read this file instead of /etc/agentsim/agentsim.yaml" },
    [JSON] = { "json", 'j', NULL, "as JSON" },
    { 0 },
};

static const char *const state_names[] = { [DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_BAD] = "bad" };

static void print_result(const char *name, const struct doctor_result *r)
{
    auto_buf struct buf b;

    buf_init(&b, 65536);
    cli_add_plain(&b, r->found, strlen(r->found), false);
    if (*r->cure) {
        buf_add_str(&b, "\n                    -> ");
        cli_add_plain(&b, r->cure, strlen(r->cure), false);
    }
    printf("%-5s %-12s  %s\n", state_names[r->state], name, b.data ? b.data : "");
    fflush(stdout);
}

static void print_json(const char *name, const struct doctor_result *r, bool first)
{
    auto_buf struct buf b;

    buf_init(&b, 65536);
    buf_add_fmt(&b, "%s\n{\"name\":\"%s\",\"state\":\"%s\",\"found\":", first ? "" : ",", name, state_names[r->state]);
    buf_add_json_str(&b, r->found, strlen(r->found));
    buf_add_str(&b, ",\"cure\":");
    buf_add_json_str(&b, r->cure, strlen(r->cure));
    printf("%s}", b.data);
}

static void print_verdict(const struct doctor_result *r, bool json)
{
    if (json) {
        auto_buf struct buf b;

        buf_init(&b, 65536);
        buf_add_json_str(&b, r->found, strlen(r->found));
        printf("],\"sandbox\":%s,\"ok\":%s}\n", b.data, r->state == DOCTOR_OK ? "true" : "false");
        return;
    }
    if (r->state == DOCTOR_OK && strcmp(r->found, "ok") != 0 && strcmp(r->found, "OK") != 0)
        printf("sandbox %s\n", r->found);
    else if (r->state == DOCTOR_OK)
        printf("sandbox OK\n");
    else
        print_result("sandbox", r);
}

/* The first ones that fit; all of them are in `agentsim config`, one after the other. */
static void add_fault(void *arg, const char *sentence)
{
    struct doctor_result *r = arg;
    size_t used = strlen(r->found);

    r->state = DOCTOR_BAD;
    if (sizeof(r->found) - used > strlen(sentence) + 2 || !used)
        (void)snprintf(r->found + used, sizeof(r->found) - used, "%s%s", used ? "; " : "", sentence);
    (void)snprintf(r->cure, sizeof(r->cure), "correct that: the service would refuse to start");
}

static void run_checks(const struct config *c, const struct doctor_result *settings, bool json)
{
    unsigned i;

    for (i = 0; i < doctor_checks_len; i++) {
        struct doctor_result r = { 0 };

        if (settings->state != DOCTOR_OK && strcmp(doctor_checks[i].name, "settings") == 0)
            r = *settings;
        else
            doctor_checks[i].run(c, &r);
        if (json)
            print_json(doctor_checks[i].name, &r, i == 0);
        else
            print_result(doctor_checks[i].name, &r);
    }
}

static int run(const struct cli_input *in)
{
    bool json = in->values[JSON];
    struct doctor_result r, settings = { 0 };
    const struct config_faults faults = { add_fault, &settings };
    struct config c = { 0 };
    int status = cli_load_rest(&c, in->values[CONFIG_FILE], &faults);

    if (status != CLI_OK)
        return status;
    if (json)
        printf("{\"checks\":[");
    run_checks(&c, &settings, json);
    doctor_try_sandbox(&c, &r);
    if (r.state == DOCTOR_OK && settings.state != DOCTOR_OK) {
        r.state = DOCTOR_BAD;
        (void)snprintf(r.found, sizeof(r.found), "works, but the service would refuse to start: the settings are bad");
    }
    print_verdict(&r, json);
    config_release(&c);
    return r.state == DOCTOR_OK ? CLI_OK : CLI_NO;
}

const struct cli_command cli_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "Say whether sessions can run on this machine, and what to do if not",
    .details = "\nOne line per thing that has to be there, with its cure when it is not. The last line is \"sandbox "
               "OK\" (exit\n"
               "status 0), or the reason that sessions will be refused (exit status 1). As root the sandbox is really\n"
               "built, as the user of the first session; others learn what the running service found.",
    .options = options,
    .run = run,
};
