#include "shared/cli/scenario.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"
#include "shared/json/json.h"

#define TIMEOUT_S 8.0
#define QUIET_S 0.6
#define SECONDS_MAX 3600.0
#define SHOWN_BYTES 300

/* ---- the file ---- */

static int wrong(const char *path, const char *what, int step, struct err *err)
{
    return step < 0 ? err_set(err, ERR_BAD_REQUEST, 0, "%s: %s", path, what)
                    : err_set(err, ERR_BAD_REQUEST, 0, "%s: step %d: %s", path, step + 1, what);
}

static bool is_seconds(const cJSON *v)
{
    return !v || (cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= SECONDS_MAX);
}

static const char *fault_of_frame(const cJSON *frame)
{
    if (cJSON_IsString(json_get(frame, "raw")))
        return NULL;
    if (!cJSON_IsString(json_get(frame, "action")))
        return "an expected frame is an object with an action";
    if (json_get(frame, "message_re") && !cJSON_IsString(json_get(frame, "message_re")))
        return "message_re is a text";
    return NULL;
}

static const char *fault_of_step(const cJSON *step)
{
    const cJSON *expect = json_get(step, "expect"), *frame;
    const char *fault = NULL;

    if (!cJSON_IsObject(step))
        return "a step is an object";
    if (json_get(step, "send_raw") && !cJSON_IsString(json_get(step, "send_raw")))
        return "send_raw is a text";
    if (!is_seconds(json_get(step, "sleep_s")) || !is_seconds(json_get(step, "timeout_s")) ||
        !is_seconds(json_get(step, "quiet_s")))
        return "sleep_s, timeout_s and quiet_s are seconds, 3600 at most";
    if (expect && !cJSON_IsArray(expect))
        return "expect is a list";
    cJSON_ArrayForEach(frame, expect) if (!fault) fault = fault_of_frame(frame);
    return fault;
}

static int check(const struct scenario *s, const char *path, struct err *err)
{
    const cJSON *step;
    int i = 0;

    if (!cJSON_IsObject(s->root) || !cJSON_IsArray(s->steps))
        return wrong(path, "a scenario is an object with a list of steps", -1, err);
    if (!is_seconds(json_get(s->root, "timeout_s")) || !is_seconds(json_get(s->root, "quiet_s")))
        return wrong(path, "timeout_s and quiet_s are seconds, 3600 at most", -1, err);
    cJSON_ArrayForEach(step, s->steps)
    {
        const char *fault = fault_of_step(step);

        if (fault)
            return wrong(path, fault, i, err);
        i++;
    }
    return 0;
}

/* Beside the scenario, or in the folder of diagrams beside its own. */
static char *find_diagram(const char *path, const char *name)
{
    static const struct {
        const char *before, *after;
    } forms[] = { { "../diagrams/", ".json" }, { "", "" }, { "", ".json" } };
    const char *slash = name[0] == '/' ? NULL : strrchr(path, '/');
    auto_buf struct buf b;
    size_t i;

    buf_init(&b, 8192);
    for (i = 0; i < ARRAY_LEN(forms); i++) {
        buf_clear(&b);
        buf_add(&b, path, slash ? (size_t)(slash - path) + 1 : 0);
        buf_add_fmt(&b, "%s%s%s", forms[i].before, name, forms[i].after);
        if (!buf_failed(&b) && strcmp(b.data, path) != 0 && access(b.data, R_OK) == 0)
            return buf_steal(&b, NULL);
    }
    return NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int scenario_read(const char *path, struct scenario *ret, struct err *err)
{
    struct scenario s = { 0 };
    struct json_error fault;
    auto_buf struct buf text;
    const char *diagram;

    buf_init(&text, SCENARIO_MAX);
    if (io_read_file(path, &text, err) < 0)
        return -1;
    s.root = json_parse(text.data ? text.data : "", text.len, &fault);
    if (!s.root) {
        char place[CLI_PLACE_MAX];

        cli_place(&text, fault.offset, place);
        return err_set(err, ERR_BAD_REQUEST, 0, "%s: %s: %s", path, place, fault.message);
    }
    s.steps = json_get(s.root, "steps");
    if (check(&s, path, err) < 0) {
        scenario_release(&s);
        return -1;
    }
    s.name = cJSON_GetStringValue(json_get(s.root, "name"));
    if (!s.name || !*s.name)
        s.name = last_part(path);
    s.timeout_s = scenario_seconds(s.root, "timeout_s", TIMEOUT_S);
    s.quiet_s = scenario_seconds(s.root, "quiet_s", QUIET_S);
    diagram = cJSON_GetStringValue(json_get(s.root, "diagram"));
    s.diagram = diagram && *diagram ? find_diagram(path, diagram) : NULL;
    *ret = s;
    return 0;
}

void scenario_release(struct scenario *s)
{
    cJSON_Delete(s->root);
    mem_free(s->diagram);
    *s = (struct scenario){ 0 };
}

double scenario_seconds(const cJSON *step, const char *key, double otherwise)
{
    const cJSON *v = json_get(step, key);

    return v ? v->valuedouble : otherwise;
}

int scenario_frame(const cJSON *step, char **ret)
{
    const char *raw = cJSON_GetStringValue(json_get(step, "send_raw"));
    const cJSON *send = json_get(step, "send");
    char *printed;

    *ret = NULL;
    if (raw) {
        *ret = mem_strdup(raw);
    } else if (send) {
        printed = cJSON_PrintUnformatted(send);
        *ret = mem_strdup(printed);
        cJSON_free(printed);
    }
    return *ret || (!raw && !send) ? 0 : -1;
}

/* ---- comparing ---- */

/* Texts are equal when they look the same: canonical equivalence. */
static bool same_text(const char *a, const char *b)
{
    utf8proc_uint8_t *left, *right;
    bool equal = strcmp(a, b) == 0;

    if (equal)
        return true;
    left = utf8proc_NFC((const utf8proc_uint8_t *)a);
    right = utf8proc_NFC((const utf8proc_uint8_t *)b);
    equal = left && right && strcmp((const char *)left, (const char *)right) == 0;
    free(left);
    free(right);
    return equal;
}

static bool same(const cJSON *whole, const cJSON *part, bool subset);

static bool same_members(const cJSON *whole, const cJSON *part, bool subset)
{
    const cJSON *member;

    if (!subset && cJSON_GetArraySize(whole) != cJSON_GetArraySize(part))
        return false;
    cJSON_ArrayForEach(member, part)
    {
        const cJSON *other = json_get(whole, member->string);

        if (!other || !same(other, member, subset))
            return false;
    }
    return true;
}

static bool same_items(const cJSON *whole, const cJSON *part, bool subset)
{
    const cJSON *a = whole->child, *b = part->child;

    for (; a && b; a = a->next, b = b->next)
        if (!same(a, b, subset))
            return false;
    return !a && !b;
}

static bool same(const cJSON *whole, const cJSON *part, bool subset)
{
    if (!whole || (whole->type & 0xff) != (part->type & 0xff))
        return false;
    if (cJSON_IsString(part))
        return same_text(whole->valuestring, part->valuestring);
    if (cJSON_IsNumber(part))
        return !(whole->valuedouble < part->valuedouble) && !(whole->valuedouble > part->valuedouble);
    if (cJSON_IsArray(part))
        return same_items(whole, part, subset);
    return !cJSON_IsObject(part) || same_members(whole, part, subset);
}

/* The same, where a message that is the text of a JSON value counts as that value. */
static bool same_decoded(const cJSON *message, const cJSON *expected, bool subset)
{
    struct json_error fault;
    cJSON *decoded =
        cJSON_IsString(message) ? json_parse(message->valuestring, strlen(message->valuestring), &fault) : NULL;
    bool r = same(decoded ? decoded : message, expected, subset);

    cJSON_Delete(decoded);
    return r;
}

static bool matches(const cJSON *message, const char *pattern)
{
    const char *text = cJSON_GetStringValue(message);
    regmatch_t at;
    regex_t re;
    bool r;

    if (!text || regcomp(&re, pattern, REG_EXTENDED) != 0)
        return false;
    r = regexec(&re, text, 1, &at, 0) == 0 && at.rm_so == 0 && (size_t)at.rm_eo == strlen(text);
    regfree(&re);
    return r;
}

static const char *mismatch(const cJSON *expected, const cJSON *frame)
{
    const cJSON *message = json_get(frame, "message"), *want;

    if (!same(json_get(frame, "action"), json_get(expected, "action"), false))
        return "action";
    if ((want = json_get(expected, "message_id")) && !same(json_get(frame, "message_id"), want, false))
        return "message_id";
    if ((want = json_get(expected, "message")) && !same(message, want, false))
        return "message";
    if ((want = json_get(expected, "message_json")) && !same_decoded(message, want, false))
        return "message";
    if ((want = json_get(expected, "message_has")) && !same_decoded(message, want, true))
        return "message";
    if ((want = json_get(expected, "message_re")) && !matches(message, want->valuestring))
        return "message";
    return NULL;
}

const char *scenario_mismatch(const cJSON *expected, const char *text, size_t len)
{
    const char *raw = cJSON_GetStringValue(json_get(expected, "raw")), *what;
    struct json_error fault;
    cJSON *frame;

    if (raw)
        return len == strlen(raw) && memcmp(text, raw, len) == 0 ? NULL : "text";
    frame = json_parse(text, len, &fault);
    what = cJSON_IsObject(frame) ? mismatch(expected, frame) : "shape (it is no JSON object)";
    cJSON_Delete(frame);
    return what;
}

/* ---- showing ---- */

static void add_cut(struct buf *out, const char *text, size_t len)
{
    size_t shown = len > SHOWN_BYTES ? utf8_floor(text, SHOWN_BYTES) : len;

    cli_add_plain(out, text, shown, false);
    if (shown < len)
        buf_add_str(out, "...");
}

void scenario_show(const cJSON *frame, struct buf *out)
{
    static const char *const keys[] = { "raw",         "action",     "message",   "message_json",
                                        "message_has", "message_re", "message_id" };
    auto_buf struct buf text;
    const char *before = "";
    size_t i;

    buf_init(&text, SCENARIO_MAX);
    for (i = 0; i < ARRAY_LEN(keys); i++) {
        const cJSON *v = json_get(frame, keys[i]);
        char *printed = v && !cJSON_IsNull(v) ? cJSON_PrintUnformatted(v) : NULL;

        if (printed)
            buf_add_fmt(&text, "%s%s %s", before, keys[i], printed);
        before = printed ? ", " : before;
        cJSON_free(printed);
    }
    add_cut(out, text.data ? text.data : "", text.len);
}

void scenario_show_text(const char *text, size_t len, struct buf *out)
{
    struct json_error fault;
    cJSON *frame = json_parse(text, len, &fault);

    if (json_get(frame, "action"))
        scenario_show(frame, out);
    else
        add_cut(out, text, len);
    cJSON_Delete(frame);
}
