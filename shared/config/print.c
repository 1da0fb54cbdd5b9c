/* The table for people: values in force, and the page docs/configuration.md. */
#include <string.h>

#include "shared/base/mem.h"
#include "shared/config/table.h"

#define VALUE_MAX 70000

static void print_value(const struct config *c, const struct config_row *row, FILE *out)
{
    static const char *const from[] = { "", "  # file", "  # environment" };
    size_t place = config_row_place(row);
    auto_buf struct buf b;

    buf_init(&b, VALUE_MAX);
    config_row_format(c, row, &b);
    fprintf(out, "%-45s %s%s\n", row->env,
            !b.len                         ? "-"
            : (row->flags & CONFIG_SECRET) ? "***"
                                           : b.data,
            place < CONFIG_SETTINGS_MAX && c->sources[place] < ARRAY_LEN(from) ? from[c->sources[place]] : "");
    mem_wipe(b.data, b.cap);
}

int config_print_value(const struct config *c, const char *key, FILE *out, struct err *err)
{
    const struct config_row *row = config_row_find(key);
    auto_buf struct buf b;

    buf_init(&b, VALUE_MAX);
    if (!row)
        return err_set(err, ERR_BAD_REQUEST, 0, "unknown setting \"%.80s\"", key);
    config_row_format(c, row, &b);
    fprintf(out, "%s\n", b.len ? b.data : "");
    mem_wipe(b.data, b.cap);
    return 0;
}

void config_print(const struct config *c, FILE *out)
{
    const struct config_row *row;
    size_t i;

    for (i = 0; (row = config_row_at(i)); i++)
        print_value(c, row, out);
}

static void print_row(const struct config_row *row, FILE *out)
{
    auto_buf struct buf allowed;
    char name[CONFIG_NAME_MAX];

    buf_init(&allowed, 1000);
    config_row_allowed(row, &allowed);
    config_row_name(row, name);
    fprintf(out, "| `%s` | `%s` | %s%s%s | %s | %s%s |\n", row->env, name, *row->standard ? "`" : "",
            *row->standard ? row->standard : "unset", *row->standard ? "`" : "", allowed.data ? allowed.data : "",
            row->help, row->flags & CONFIG_RESTART ? " Needs a restart." : "");
}

void config_print_markdown(FILE *out)
{
    const struct config_group *group;
    size_t g, i;

    fputs(
        "# Configuration\n\n"
        "<!-- printed by `make docs` from shared/config/table.c -->\n\n"
        "The environment wins over `" CONFIG_DEFAULT_FILE "` (or `--config FILE`), which wins over the default. A\n"
        "value that is malformed or out of bounds, or an unknown name in the file, stops the start with a sentence\n"
        "that says what is allowed. An empty variable means the default, except for texts that may be empty.\n\n"
        "The file is one YAML mapping; names may be nested at any underscore, lists may be YAML lists:\n\n"
        "```yaml\n"
        "max_sessions: 20\n"
        "rate_limit:\n"
        "  window_seconds: 60\n"
        "  max_requests: 30\n"
        "cors_origins: [https://editor.example.org]\n"
        "```\n\n"
        "`agentsim config` prints what a start with this file and this environment would use, secrets as `***`, and\n"
        "where each value comes from; `agentsim config max_sessions` prints one. `agentsim reload` (or SIGHUP to the\n"
        "keeper) puts a changed file in force, all of it or nothing: a bad value, or a changed one that needs a "
        "restart,\n"
        "is refused by name. Running sessions keep what they were started with. `make up` without any word on\n"
        "`require_auth` switches the sign-in off.\n",
        out);
    for (g = 0; (group = config_group_at(g)); g++) {
        fprintf(out, "\n## %s\n\n| Variable | In the file | Default | Allowed | Meaning |\n|---|---|---|---|---|\n",
                group->title);
        for (i = 0; i < group->len; i++)
            print_row(&group->rows[i], out);
    }
}
