#include "shared/cli/http.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define CONNECT_MS 5000L
#define ANSWER_MS 120000L /* a start waits for its sandbox */

struct http_link {
    CURL *curl;
    curl_socket_t fd;
};

static size_t take_body(char *data, size_t size, size_t n, void *user)
{
    return buf_add(user, data, size * n) < 0 ? 0 : size * n;
}

static CURL *new_handle(const char *url)
{
    CURL *curl = curl_easy_init();

    if (!curl)
        return NULL;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "agentsim/" AGENTSIM_VERSION);
    return curl;
}

static int refused(const char *url, CURLcode code, const char *detail, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, 0, "%s: %s", url, *detail ? detail : curl_easy_strerror(code));
}

static struct curl_slist *headers_for(const struct http_request *r)
{
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json"), *more;
    auto_buf struct buf line;

    buf_init(&line, 4096);
    if (!list || !r->session || !*r->session)
        return list;
    buf_add_fmt(&line, "X-GitHub-Session: %s", r->session);
    more = buf_failed(&line) ? NULL : curl_slist_append(list, line.data);
    if (!more)
        curl_slist_free_all(list);
    return more;
}

int http_ask(const struct http_request *r, long *ret_status, struct buf *answer, struct err *err)
{
    struct curl_slist *headers = headers_for(r);
    char detail[CURL_ERROR_SIZE] = "";
    CURL *curl = headers ? new_handle(r->url) : NULL;
    CURLcode code;

    if (!curl) {
        curl_slist_free_all(headers);
        return err_nomem(err);
    }
    buf_clear(answer);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ANSWER_MS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (r->body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(r->body));
    }
    code = curl_easy_perform(curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return code == CURLE_OK ? 0 : refused(r->url, code, detail, err);
}

void http_error_text(long status, const struct buf *answer, char *out, size_t size)
{
    cJSON *body = answer->len ? cJSON_ParseWithLength(answer->data, answer->len) : NULL;
    const cJSON *detail = cJSON_GetObjectItemCaseSensitive(body, "detail");
    char *list = cJSON_IsArray(detail) ? cJSON_PrintUnformatted(detail) : NULL;

    if (cJSON_IsString(detail))
        (void)snprintf(out, size, "%s (HTTP %ld)", detail->valuestring, status);
    else if (list)
        (void)snprintf(out, size, "%s (HTTP %ld)", list, status);
    else
        (void)snprintf(out, size, "HTTP %ld %.200s", status, answer->data ? answer->data : "");
    out[utf8_floor(out, strlen(out))] = '\0';
    cJSON_free(list);
    cJSON_Delete(body);
}

int http_connect(const char *url, struct http_link **ret, struct err *err)
{
    struct http_link *l = mem_zalloc(1, sizeof(*l));
    char detail[CURL_ERROR_SIZE] = "";
    CURLcode code;

    if (!l)
        return err_nomem(err);
    l->curl = new_handle(url);
    if (!l->curl) {
        mem_free(l);
        return err_nomem(err);
    }
    curl_easy_setopt(l->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(l->curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(l->curl, CURLOPT_ERRORBUFFER, detail);
    code = curl_easy_perform(l->curl);
    if (code == CURLE_OK)
        code = curl_easy_getinfo(l->curl, CURLINFO_ACTIVESOCKET, &l->fd);
    if (code != CURLE_OK) {
        (void)refused(url, code, detail, err);
        http_link_free(l);
        return -1;
    }
    curl_easy_setopt(l->curl, CURLOPT_ERRORBUFFER, NULL);
    *ret = l;
    return 0;
}

void http_link_free(struct http_link *l)
{
    if (!l)
        return;
    curl_easy_cleanup(l->curl);
    mem_free(l);
}

int http_link_fd(const struct http_link *l)
{
    return l->fd;
}

static ssize_t moved(CURLcode code, size_t n)
{
    if (code == CURLE_OK)
        return (ssize_t)n;
    errno = code == CURLE_AGAIN ? EAGAIN : EIO;
    return -1;
}

ssize_t http_receive(struct http_link *l, void *data, size_t len)
{
    size_t n = 0;
    CURLcode code = curl_easy_recv(l->curl, data, len, &n);

    return moved(code, n);
}

ssize_t http_send(struct http_link *l, const void *data, size_t len)
{
    size_t n = 0;
    CURLcode code = curl_easy_send(l->curl, data, len, &n);

    return moved(code, n);
}
