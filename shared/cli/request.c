#include "shared/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/buf.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/config/table.h"
#include "shared/json/json.h"

int cli_read_file(const char *path, struct buf *text, struct err *err)
{
    auto_fd int fd = -1;
    bool from_input = strcmp(path, "-") == 0;

    if (!from_input) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return err_set(err, ERR_NOT_FOUND, errno, "%s", path);
    }
    if (io_read_rest(from_input ? STDIN_FILENO : fd, text, err) < 0)
        return err_wrap(err, "%s", from_input ? "standard input" : path);
    return 0;
}

/* The last part of the path without its extension. */
static char *title_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

    if (strcmp(path, "-") == 0)
        return mem_strdup("Agent");
    return mem_dup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* { elements, relationships } alone is what the editor keeps; requests hold it as "model". */
static cJSON *envelope(cJSON *document)
{
    cJSON *request;

    if (json_get(document, "model") || !json_get(document, "elements"))
        return document;
    request = cJSON_CreateObject();
    if (!request || !cJSON_AddItemToObject(request, "model", document)) {
        cJSON_Delete(request);
        cJSON_Delete(document);
        return NULL;
    }
    return request;
}

static int add_title(cJSON *request, const char *path)
{
    auto_free char *title = NULL;

    if (json_get(request, "title"))
        return 0;
    title = title_of(path);
    return title && cJSON_AddStringToObject(request, "title", title) ? 0 : -1;
}

void cli_place(const struct buf *text, size_t offset, char out[static CLI_PLACE_MAX])
{
    size_t line = 1, column = 1, i;

    for (i = 0; i < offset && i < text->len; i++) {
        column = text->data[i] == '\n' ? 1 : column + ((text->data[i] & 0xc0) != 0x80);
        line += text->data[i] == '\n';
    }
    (void)snprintf(out, CLI_PLACE_MAX, "line %zu, column %zu", line, column);
}

/* Where and what; who gives a Python file is told the way. */
static int no_json(const char *path, const struct buf *text, const struct json_error *fault)
{
    size_t len = strlen(path);
    bool python = len > 3 && strcmp(path + len - 3, ".py") == 0;
    char place[CLI_PLACE_MAX];

    cli_place(text, fault->offset, place);
    return cli_fail(fault->fault == JSON_NOMEM ? CLI_FAILED : CLI_NO, "%s: %s: %s%s", path, place, fault->message,
                    python ? " (agentsim import makes a diagram of a Python file)" : "");
}

cJSON *cli_read_request(const char *path, bool want_title, int *ret_status)
{
    struct json_error fault = { 0 };
    struct err err = { 0 };
    auto_buf struct buf text;
    cJSON *request;

    buf_init(&text, CLI_DIAGRAM_MAX);
    if (cli_read_file(path, &text, &err) < 0) {
        *ret_status = cli_fail(CLI_USAGE, "%s", err.msg);
        return NULL;
    }
    request = json_parse(text.data ? text.data : "", text.len, &fault);
    if (!request) {
        *ret_status = no_json(path, &text, &fault);
        return NULL;
    }
    if (!cJSON_IsObject(request)) {
        cJSON_Delete(request);
        *ret_status = cli_fail(CLI_NO, "%s: the document is no JSON object", path);
        return NULL;
    }
    request = envelope(request);
    if (!request || (want_title && add_title(request, path) < 0)) {
        cJSON_Delete(request);
        *ret_status = cli_fail(CLI_FAILED, "out of memory");
        return NULL;
    }
    return request;
}

char *cli_program_path(const char *name)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    auto_buf struct buf path;
    char *slash;

    buf_init(&path, 2 * sizeof(self));
    if (n > 0) {
        self[n] = '\0';
        slash = strrchr(self, '/');
        buf_add_fmt(&path, "%.*s/%s", (int)(slash - self), self, name);
        if (!buf_failed(&path) && access(path.data, X_OK) == 0)
            return buf_steal(&path, NULL);
        buf_clear(&path);
    }
    buf_add_fmt(&path, "%s/bin/%s", AGENTSIM_PREFIX, name);
    return buf_steal(&path, NULL);
}

/* True where the service's own file is not for this user. */
static bool must_do_without(const char *file)
{
    return !file && geteuid() != 0 && access(CONFIG_DEFAULT_FILE, R_OK) < 0;
}

static int say_why(const struct err *err, const char *before)
{
    int status = err->errnum == ENOMEM ? CLI_FAILED : err->kind == ERR_BAD_REQUEST ? CLI_NO : CLI_USAGE;

    return cli_fail(status, "%s%s", before, err->msg);
}

int cli_load_config(struct config *ret, const char *file, const char *before)
{
    struct err err = { 0 };
    int r = must_do_without(file) ? config_load_env(ret, &err) : config_load(ret, file, &err);

    return r == 0 ? CLI_OK : say_why(&err, before);
}

int cli_load_rest(struct config *ret, const char *file, const struct config_faults *faults)
{
    struct err err = { 0 };
    int r = must_do_without(file) ? config_load_env_rest(ret, faults, &err) : config_load_rest(ret, file, faults, &err);

    return r == 0 ? CLI_OK : say_why(&err, "");
}

void cli_add_plain(struct buf *out, const char *s, size_t len, bool keep_lines)
{
    size_t i = 0, width;

    while (i < len && !buf_failed(out)) {
        int32_t cp = utf8_decode(s + i, len - i, &width);

        if (cp < 0)
            buf_add_str(out, UTF8_REPLACEMENT);
        else if (cp == '\t' || (cp == '\n' && keep_lines))
            buf_add_char(out, (char)cp);
        else if (cp == '\r' && keep_lines && i + 1 < len && s[i + 1] == '\n')
            ;
        else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
            buf_add_fmt(out, "\\x%02x", (unsigned)cp);
        else if ((cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069)) /* turns reading order around */
            buf_add_fmt(out, "\\u%04x", (unsigned)cp);
        else
            buf_add(out, s + i, width);
        i += width;
    }
}
