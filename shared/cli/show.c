#include "shared/cli/show.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"
#include "shared/cli/show_html.h"
#include "shared/cli/show_table.h"
#include "shared/json/json.h"

static void add_text(struct buf *out, const char *s)
{
    cli_add_plain(out, s, strlen(s), true);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const char *s = cJSON_GetStringValue(json_get(object, key));

    return s ? s : "";
}

/* Any value as text: strings bare, the rest as JSON. */
static void add_value(struct buf *out, const cJSON *v)
{
    char *printed;

    if (cJSON_IsString(v)) {
        add_text(out, v->valuestring);
        return;
    }
    printed = v ? cJSON_PrintUnformatted(v) : NULL;
    add_text(out, printed ? printed : "");
    cJSON_free(printed);
}

static void add_line_start(struct show *s, struct buf *out, const char *code)
{
    if (s->color)
        buf_add_fmt(out, "\x1b[%sm", code);
}

static void add_line_end(struct show *s, struct buf *out)
{
    buf_add_str(out, s->color ? "\x1b[0m\n" : "\n");
}

static void dimmed(struct show *s, struct buf *out, const char *mark, const char *text)
{
    add_line_start(s, out, "2");
    buf_add_str(out, mark);
    add_text(out, text);
    add_line_end(s, out);
}

/* A message that is JSON text or the value itself; to be deleted. */
static cJSON *unwrap(const cJSON *message)
{
    struct json_error fault;

    if (cJSON_IsString(message))
        return json_parse(message->valuestring, strlen(message->valuestring), &fault);
    return cJSON_Duplicate(message, true);
}

static size_t base64_bytes(const char *s)
{
    size_t len = strlen(s);

    while (len && s[len - 1] == '=')
        len--;
    return len / 4 * 3 + len % 4 * 3 / 4;
}

static void reply_text(struct show *s, const cJSON *m, struct buf *out)
{
    (void)s;
    add_value(out, m);
    buf_add_char(out, '\n');
}

static void reply_html(struct show *s, const cJSON *m, struct buf *out)
{
    if (cJSON_IsString(m))
        show_html(m->valuestring, strlen(m->valuestring), out);
    else
        reply_text(s, m, out);
}

static void reply_file(struct show *s, const cJSON *m, struct buf *out)
{
    (void)s;
    buf_add_str(out, "[file ");
    add_text(out, text_of(m, "name"));
    buf_add_fmt(out, ", %zu bytes]\n", base64_bytes(text_of(m, "base64")));
}

static void reply_image(struct show *s, const cJSON *m, struct buf *out)
{
    (void)s;
    buf_add_fmt(out, "[image, %zu bytes]\n", cJSON_IsString(m) ? base64_bytes(m->valuestring) : 0);
}

static void reply_audio(struct show *s, const cJSON *m, struct buf *out)
{
    const cJSON *rate = json_get(json_get(m, "metadata"), "sample_rate");

    (void)s;
    buf_add_fmt(out, "[audio, %zu bytes", base64_bytes(text_of(m, "audio_data_base64")));
    if (cJSON_IsNumber(rate))
        buf_add_fmt(out, ", %g Hz", rate->valuedouble);
    buf_add_str(out, "]\n");
}

static void reply_location(struct show *s, const cJSON *m, struct buf *out)
{
    const cJSON *lat = json_get(m, "latitude"), *lon = json_get(m, "longitude");

    (void)s;
    buf_add_fmt(out, "[place %.6g, %.6g]\n", cJSON_IsNumber(lat) ? lat->valuedouble : NAN,
                cJSON_IsNumber(lon) ? lon->valuedouble : NAN);
}

static void reply_plot(struct show *s, const cJSON *m, struct buf *out)
{
    cJSON *figure = unwrap(m);
    const cJSON *title = json_get(json_get(figure, "layout"), "title");

    (void)s;
    buf_add_str(out, "[plot");
    if (cJSON_IsObject(title))
        title = json_get(title, "text");
    if (cJSON_IsString(title)) {
        buf_add_char(out, ' ');
        add_text(out, title->valuestring);
    }
    buf_add_str(out, "]\n");
    cJSON_Delete(figure);
}

static void reply_gui(struct show *s, const cJSON *m, struct buf *out)
{
    (void)s;
    (void)m;
    buf_add_str(out, "[form: open the console in a browser to see it]\n");
}

static void reply_table(struct show *s, const cJSON *m, struct buf *out)
{
    cJSON *frame = unwrap(m);

    (void)s;
    show_table(frame, out);
    cJSON_Delete(frame);
}

static void forget_options(struct show *s)
{
    size_t i;

    for (i = 0; i < s->options_len; i++)
        mem_free(s->options[i]);
    mem_free(s->options);
    s->options = NULL;
    s->options_len = 0;
}

static void reply_options(struct show *s, const cJSON *m, struct buf *out)
{
    cJSON *options = unwrap(m);
    const cJSON *o;

    forget_options(s);
    s->options = mem_zalloc(SHOW_OPTIONS_MAX, sizeof(*s->options));
    cJSON_ArrayForEach(o, options)
    {
        char *text;

        if (!s->options || s->options_len == SHOW_OPTIONS_MAX || !cJSON_IsString(o))
            break;
        text = mem_strdup(o->valuestring);
        if (!text)
            break;
        s->options[s->options_len++] = text;
        buf_add_fmt(out, "  %zu) ", s->options_len);
        cli_add_plain(out, text, strlen(text), false);
        buf_add_char(out, '\n');
    }
    cJSON_Delete(options);
}

static void reply_rag(struct show *s, const cJSON *m, struct buf *out)
{
    const cJSON *doc;

    add_value(out, json_get(m, "answer"));
    buf_add_char(out, '\n');
    cJSON_ArrayForEach(doc, json_get(m, "docs"))
    {
        const char *source = text_of(json_get(doc, "metadata"), "source");

        dimmed(s, out, "  source: ", *source ? source : "(unnamed)");
    }
}

static void step_reasoning(struct show *s, const cJSON *m, struct buf *out)
{
    dimmed(s, out, "* ", text_of(m, "summary"));
}

static void step_tasks(struct show *s, const cJSON *m, struct buf *out)
{
    static const struct {
        const char *status, *mark;
    } marks[] = { { "completed", "  [x] " }, { "in_progress", "  [>] " }, { "skipped", "  [-] " } };
    cJSON *tasks = unwrap(m);
    const cJSON *task;
    size_t i;

    cJSON_ArrayForEach(task, tasks)
    {
        const char *mark = "  [ ] ";

        for (i = 0; i < ARRAY_LEN(marks); i++)
            if (strcmp(marks[i].status, text_of(task, "status")) == 0)
                mark = marks[i].mark;
        dimmed(s, out, mark, text_of(task, "description"));
    }
    cJSON_Delete(tasks);
}

static const struct action {
    const char *name;
    enum show_kind kind;
    void (*show)(struct show *s, const cJSON *message, struct buf *out);
} actions[] = {
    { "agent_reply_str", SHOW_REPLY, reply_text },
    { "agent_reply_markdown", SHOW_REPLY, reply_text },
    { "agent_reply_html", SHOW_REPLY, reply_html },
    { "agent_reply_options", SHOW_REPLY, reply_options },
    { "agent_reply_file", SHOW_REPLY, reply_file },
    { "agent_reply_image", SHOW_REPLY, reply_image },
    { "agent_reply_audio", SHOW_REPLY, reply_audio },
    { "agent_reply_location", SHOW_REPLY, reply_location },
    { "agent_reply_dataframe", SHOW_REPLY, reply_table },
    { "agent_reply_plotly", SHOW_REPLY, reply_plot },
    { "agent_reply_rag", SHOW_REPLY, reply_rag },
    { "agent_reply_gui", SHOW_REPLY, reply_gui },
    { "agent_reply_gui_update", SHOW_REPLY, reply_gui },
    { "agent_reply_reasoning_step", SHOW_NOISE, step_reasoning },
    { "agent_reply_task_list_update", SHOW_NOISE, step_tasks },
};

static enum show_kind show_action(struct show *s, const cJSON *frame, const char *name, struct buf *out)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i].name, name) != 0)
            continue;
        if (actions[i].kind == SHOW_REPLY && actions[i].show != reply_options)
            forget_options(s);
        actions[i].show(s, json_get(frame, "message"), out);
        return actions[i].kind;
    }
    return SHOW_UNKNOWN;
}

/* What a user should see of the output in any case: errors that the framework logs, and the last line of a traceback.
 * NULL: this line is none of those. */
static const char *error_in(struct show *s, const char *line)
{
    static const char mark[] = " - ERROR - ";
    const char *logged = strstr(line, mark);

    if (logged)
        return logged + strlen(mark);
    if (str_starts(line, "Traceback (most recent call last)")) {
        s->traceback = true;
        return NULL;
    }
    if (!s->traceback || !*line || *line == ' ')
        return NULL;
    s->traceback = false;
    return line;
}

static void own_output(struct show *s, const cJSON *f, struct buf *out)
{
    const char *line = text_of(f, "line"), *error;

    if (s->output) {
        dimmed(s, out, "| ", line);
        return;
    }
    error = error_in(s, line);
    if (!error)
        return;
    add_line_start(s, out, "31");
    buf_add_str(out, "! ");
    add_text(out, error);
    if (!s->hinted)
        buf_add_str(out, "   (all of it: --output, /output)");
    s->hinted = true;
    add_line_end(s, out);
}

static void own_state(struct show *s, const cJSON *f, struct buf *out)
{
    if (s->trace)
        dimmed(s, out, "-> ", text_of(f, "state"));
}

static void own_gap(struct show *s, const cJSON *f, struct buf *out)
{
    const cJSON *lost = json_get(f, "lost");

    add_line_start(s, out, "31");
    buf_add_fmt(out, "(%g frames were lost while the connection was down)",
                cJSON_IsNumber(lost) ? lost->valuedouble : 0);
    add_line_end(s, out);
}

static void own_error(struct show *s, const cJSON *f, struct buf *out)
{
    add_line_start(s, out, "31");
    buf_add_str(out, "error: ");
    add_text(out, text_of(f, "message"));
    add_line_end(s, out);
}

static void own_exit(struct show *s, const cJSON *f, struct buf *out)
{
    const cJSON *code = json_get(f, "code");

    add_line_start(s, out, "2");
    buf_add_str(out, "(the session is over: ");
    add_text(out, text_of(f, "reason"));
    if (cJSON_IsNumber(code))
        buf_add_fmt(out, ", code %g", code->valuedouble);
    buf_add_char(out, ')');
    add_line_end(s, out);
}

static void own_nothing(struct show *s, const cJSON *f, struct buf *out)
{
    (void)s;
    (void)f;
    (void)out;
}

static const struct {
    const char *type;
    enum show_kind kind;
    void (*show)(struct show *s, const cJSON *frame, struct buf *out);
} types[] = {
    { "stdout", SHOW_NOISE, own_output },     { "state_change", SHOW_NOISE, own_state },
    { "auth_ok", SHOW_AUTH_OK, own_nothing }, { "replay_gap", SHOW_UNKNOWN, own_gap },
    { "error", SHOW_ERROR, own_error },       { "exit", SHOW_EXIT, own_exit },
};

static enum show_kind show_own(struct show *s, const cJSON *frame, const char *type, struct buf *out)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(types[i].type, type) != 0)
            continue;
        types[i].show(s, frame, out);
        return types[i].kind;
    }
    return SHOW_UNKNOWN;
}

void show_release(struct show *s)
{
    if (s)
        forget_options(s);
}

enum show_kind show_frame(struct show *s, const char *text, size_t len, struct buf *out)
{
    struct json_error fault;
    cJSON *frame = json_parse(text, len, &fault);
    const char *action = text_of(frame, "action"), *type = text_of(frame, "type");
    enum show_kind kind = SHOW_UNKNOWN;

    if (*action)
        kind = show_action(s, frame, action, out);
    else if (*type)
        kind = show_own(s, frame, type, out);
    else if (!frame) /* a number that JSON does not have, mostly: still a reply */
        dimmed(s, out, "[unreadable frame] ", "");
    cJSON_Delete(frame);
    return kind;
}

const char *show_choice(const struct show *s, const char *line)
{
    int64_t n;

    if (!s->options_len || str_to_int(line, 1, (int64_t)s->options_len, &n) < 0)
        return line;
    return s->options[n - 1];
}
