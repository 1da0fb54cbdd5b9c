#include "shared/cli/cli.h"

#include <stdarg.h>
#include <string.h>

#include "shared/base/str.h"

static size_t count_options(const struct cli_command *c)
{
    size_t n = 0;

    while (c->options && c->options[n].name)
        n++;
    return n;
}

/* Row of "--name", "--name=value" or "-l", "-lVALUE"; *ret_value is what is attached, NULL when nothing is. */
static const struct cli_option *find_option(const struct cli_command *c, const char *word, const char **ret_value)
{
    size_t n = count_options(c), i, len;

    *ret_value = NULL;
    for (i = 0; i < n; i++) {
        const struct cli_option *o = &c->options[i];

        if (word[1] != '-') {
            if (o->letter != word[1])
                continue;
            *ret_value = word[2] ? word + 2 : NULL;
            return o;
        }
        len = strlen(o->name);
        if (strncmp(word + 2, o->name, len) != 0 || (word[2 + len] && word[2 + len] != '='))
            continue;
        *ret_value = word[2 + len] ? word + 2 + len + 1 : NULL;
        return o;
    }
    return NULL;
}

/* Takes the option at argv[i]; the number of words used, or -1. */
static int take_option(const struct cli_command *c, int left, char **argv, struct cli_input *in, struct err *err)
{
    const char *value;
    const struct cli_option *o = find_option(c, argv[0], &value);

    if (!o)
        return err_set(err, ERR_BAD_REQUEST, 0, "unknown option %s", argv[0]);
    if (!o->value) {
        if (value)
            return err_set(err, ERR_BAD_REQUEST, 0, "option --%s takes no value", o->name);
        in->values[o - c->options] = "";
        return 1;
    }
    if (!value && left < 2)
        return err_set(err, ERR_BAD_REQUEST, 0, "option --%s needs %s", o->name, o->value);
    in->values[o - c->options] = value ? value : argv[1];
    return value ? 1 : 2;
}

static int check_count(const struct cli_command *c, int n, struct err *err)
{
    if (n >= c->args_min && n <= c->args_max)
        return 0;
    if (!c->args_max)
        return err_set(err, ERR_BAD_REQUEST, 0, "takes no argument");
    return err_set(err, ERR_BAD_REQUEST, 0, n < c->args_min ? "%s is missing" : "more arguments than %s", c->arguments);
}

int cli_parse(const struct cli_command *c, int argc, char **argv, struct cli_input *ret, struct err *err)
{
    struct cli_input in = { .args = argv };
    bool options = true;
    int i = 0;

    while (i < argc) {
        char *word = argv[i];

        if (options && strcmp(word, "--") == 0) {
            options = false;
            i++;
        } else if (options && word[0] == '-' && word[1]) {
            int used = take_option(c, argc - i, argv + i, &in, err);

            if (used < 0)
                return -1;
            i += used;
        } else {
            argv[in.args_len++] = word; /* never ahead of i: values keep their own words */
            i++;
        }
    }
    if (check_count(c, in.args_len, err) < 0)
        return -1;
    *ret = in;
    return 0;
}

void cli_print_help(const struct cli_command *c, FILE *out)
{
    size_t n = count_options(c), i;

    fprintf(out, "usage: agentsim %s%s%s%s\n\n%s.\n", c->name, n ? " [OPTION...]" : "", *c->arguments ? " " : "",
            c->arguments, c->summary);
    if (c->details)
        fprintf(out, "%s\n", c->details);
    fprintf(out, "\noptions:\n");
    for (i = 0; i < n; i++) {
        const struct cli_option *o = &c->options[i];
        char left[64], letter[8] = "    ";

        if (o->letter)
            snprintf(letter, sizeof(letter), "-%c, ", o->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
        fprintf(out, "  %-28s %s\n", left, o->help);
    }
    fprintf(out, "  %-28s %s\n", "-h, --help", "this text");
}

int cli_fail(int status, const char *fmt, ...)
{
    va_list ap;

    fputs("agentsim: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return status;
}
