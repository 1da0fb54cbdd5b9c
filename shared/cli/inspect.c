#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/compile_command.h"

/* Support files are those beside the program that a session needs (section 8.2 of the agent diagram contract). */
static bool is_support_file(const char *path)
{
    return strcmp(path, "tools.py") == 0 || str_starts(path, "skills/") || str_starts(path, "guis/");
}

static bool add_text(cJSON *array, const char *s)
{
    cJSON *item = cJSON_CreateString(s);

    if (item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool fill(const struct compiled *c, cJSON *top)
{
    cJSON *events = cJSON_AddArrayToObject(top, "event_list");
    cJSON *workspaces = cJSON_AddArrayToObject(top, "workspace_paths");
    cJSON *files = cJSON_AddArrayToObject(top, "support_files");
    bool ok = events && workspaces && files && cJSON_AddStringToObject(top, "lint", "ok");
    size_t i;

    for (i = 0; ok && i < c->events.len; i++)
        ok = add_text(events, c->events.items[i]);
    for (i = 0; ok && i < c->model.workspaces_len; i++)
        ok = add_text(workspaces, c->model.workspaces[i].path);
    for (i = 0; ok && i < c->bundle.files_len; i++)
        if (is_support_file(c->bundle.files[i].path))
            ok = add_text(files, c->bundle.files[i].path);
    return ok;
}

static int print_facts(const struct compiled *c)
{
    cJSON *top = cJSON_CreateObject();
    char *text = top && fill(c, top) ? cJSON_Print(top) : NULL;

    cJSON_Delete(top);
    if (!text)
        return cli_fail(CLI_FAILED, "out of memory");
    puts(text);
    cJSON_free(text);
    return CLI_OK;
}

static int run(const struct cli_input *in)
{
    struct generate_options o = { .session = true, .verdict = true, .host = "127.0.0.1", .port = 8765 };
    struct compiled c;
    int status = cli_compile(in->args[0], &o, &c);

    if (status != CLI_OK)
        return status;
    if (c.findings.errors) {
        cli_print_findings(&c.findings, stderr);
        status = CLI_NO;
    } else {
        status = print_facts(&c);
    }
    compiled_release(&c);
    return status;
}

const struct cli_command cli_inspect = {
    .name = "inspect",
    .arguments = "DIAGRAM.json",
    .summary = "Print what a session of a diagram would get, as JSON",
    .details =
        "\nMembers: event_list (event classes of the transitions), workspace_paths, support_files, lint. A refused\n"
        "diagram prints its findings on standard error instead and exits with 1.",
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
