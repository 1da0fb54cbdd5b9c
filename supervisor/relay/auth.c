#include "supervisor/relay/auth.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/json/json.h"

#define COUNT_MAX 0x1p53 /* numbers beyond it are not exact in JSON */

static int no(struct err *err, const char *sentence)
{
    return err_set(err, ERR_AUTH, 0, "%s", sentence);
}

static bool absent(const cJSON *node)
{
    return !node || cJSON_IsNull(node);
}

static int get_session(const cJSON *frame, struct auth *a, struct err *err)
{
    const cJSON *session = json_get(frame, "githubSession");

    if (absent(session))
        return 0;
    if (!cJSON_IsString(session))
        return no(err, "\"githubSession\" of the first frame must be a text");
    a->signed_in = session->valuestring[0] != '\0';
    a->well_formed = signin_hash_of(session->valuestring, &a->signin) == 0;
    mem_wipe(session->valuestring, strlen(session->valuestring));
    return 0;
}

static int get_received(const cJSON *frame, struct auth *a, struct err *err)
{
    const cJSON *received = json_get(frame, "received");

    if (absent(received))
        return 0;
    if (!cJSON_IsNumber(received) || received->valuedouble < 0 || received->valuedouble > COUNT_MAX ||
        (double)(uint64_t)received->valuedouble != received->valuedouble)
        return no(err, "\"received\" of the first frame must be a number of frames");
    a->resumes = true;
    a->received = (uint64_t)received->valuedouble;
    return 0;
}

/* Names of later versions are not for us. */
static int get_features(const cJSON *frame, struct auth *a, struct err *err)
{
    const cJSON *features = json_get(frame, "features"), *f;

    if (absent(features))
        return 0;
    if (!cJSON_IsArray(features))
        return no(err, "\"features\" of the first frame must be a list");
    cJSON_ArrayForEach(f, features) if (cJSON_IsString(f) && strcmp(f->valuestring, "exit") == 0) a->wants_exit = true;
    return 0;
}

static int read_frame(const cJSON *frame, struct auth *ret, struct err *err)
{
    const cJSON *type = json_get(frame, "type");
    struct auth a = { 0 };

    if (!cJSON_IsObject(frame))
        return no(err, "The first frame must be a JSON object");
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "auth") != 0)
        return no(err, "The first frame must be of type \"auth\"");
    if (get_session(frame, &a, err) < 0 || get_received(frame, &a, err) < 0 || get_features(frame, &a, err) < 0)
        return -1;
    *ret = a;
    return 0;
}

int auth_parse(const char *text, size_t len, struct auth *ret, struct err *err)
{
    struct json_error fault;
    cJSON *frame;
    int r;

    if (len > AUTH_FRAME_MAX)
        return no(err, "The first frame is too long");
    frame = json_parse(text, len, &fault);
    if (!frame)
        return no(err, "The first frame must be JSON");
    r = read_frame(frame, ret, err);
    cJSON_Delete(frame);
    return r;
}
