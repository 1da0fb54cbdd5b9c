#include "supervisor/holder/client_frame.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/json/json.h"

#define LOOK 64 /* bytes in which a frame of any length begins with something */

static bool is_known(const char *action)
{
    static const char *const known[] = { "user_message",   "user_voice", "user_file",          "user_set_variable",
                                         "user_gui_event", "reset",      "fetch_user_messages" };
    size_t i;

    for (i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(action, known[i]) == 0)
            return true;
    return str_starts(action, "agent_reply_");
}

static bool is_bad(const cJSON *frame)
{
    const char *action = cJSON_GetStringValue(json_get(frame, "action"));
    const cJSON *message = json_get(frame, "message");

    if (!cJSON_IsObject(frame) || !action || !message || !is_known(action))
        return true;
    return strcmp(action, "user_file") == 0 && !cJSON_IsString(message);
}

/* memmem() takes as long for a long text as everything else that happens to it. */
static bool has(const char *text, size_t len, const char *word)
{
    const char *p = text, *end = text + len;
    size_t n = strlen(word);

    while ((size_t)(end - p) >= n && (p = memchr(p, word[0], (size_t)(end - p) - n + 1))) {
        if (memcmp(p, word, n) == 0)
            return true;
        p++;
    }
    return false;
}

static bool is_no_object(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && i < LOOK && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r'))
        i++;
    return i < len && i < LOOK && text[i] != '{';
}

/* The parser refuses more than Python's does: what it cannot read may still be fine, unless it is no JSON at all. */
bool client_frame_is_bad(const char *text, size_t len)
{
    struct json_error fault;
    cJSON *frame;
    bool bad;

    if (is_no_object(text, len))
        return true;
    if (len > CLIENT_FRAME_JUDGED)
        return false;
    frame = json_parse(text, len, &fault);
    if (!frame)
        return fault.fault == JSON_EMPTY ||
               (fault.fault == JSON_INVALID && !has(text, len, "NaN") && !has(text, len, "Infinity"));
    bad = is_bad(frame);
    cJSON_Delete(frame);
    return bad;
}
