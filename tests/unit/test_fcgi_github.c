#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fcgi/github.h"
#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "tests/support/oom.h"

/* A process that answers every connection: the first line decides which of the two texts. */
struct server {
    pid_t pid;
    char url[64];
    struct config config;
};

static void answer_one(int fd, const char *token, const char *user)
{
    const char *text;
    char request[8192], head[128];
    size_t len = 0;
    ssize_t n;

    request[0] = '\0';
    while (!strstr(request, "\r\n\r\n") && (n = read(fd, request + len, sizeof(request) - 1 - len)) > 0) {
        len += (size_t)n;
        request[len] = '\0';
    }
    text = strncmp(request, "POST ", 5) == 0 ? token : user;
    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", strlen(text));
    (void)io_write_all(fd, head, strlen(head));
    (void)io_write_all(fd, text, strlen(text));
    shutdown(fd, SHUT_WR);
    while (read(fd, request, sizeof(request)) > 0)
        ;
}

static void serve(int listener, const char *token, const char *user)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(0);
        answer_one(fd, token, user);
        close(fd);
    }
}

static void start(struct server *s, const char *token, const char *user)
{
    static char id[] = "an id", secret[] = "a secret", nowhere[] = "";
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof(a);

    assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
    snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d/", ntohs(a.sin_port));
    s->config = (struct config){ .github_url = s->url,
                                 .github_api_url = s->url,
                                 .github_client_id = id,
                                 .github_client_secret = secret,
                                 .github_redirect_uri = nowhere };
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (!s->pid)
        serve(listener, token, user);
    close(listener);
}

static void stop(struct server *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

static void a_code_becomes_a_user(void **state)
{
    char word[GITHUB_WORD_MAX + 1];
    struct github_user user;
    struct server s;
    struct err err;

    (void)state;
    start(&s, "{\"access_token\":\"gho_1\"}", "{\"login\":\"ada\",\"avatar_url\":\"https://a.example/1\"}");
    assert_int_equal(github_sign_in(&s.config, "code", &user, word, &err), 0);
    assert_string_equal(user.login, "ada");
    assert_string_equal(user.avatar, "https://a.example/1");
    stop(&s);
}

static void what_goes_wrong_has_a_word_and_a_sentence_without_secrets(void **state)
{
    static const struct {
        const char *token, *user, *word;
    } rows[] = {
        { "{\"error\":\"bad_verification_code\"}", "", "bad_verification_code" },
        { "{\"error\":null,\"access_token\":\"gho_1\"}", "", "github_api_error" },
        { "{\"access_token\":\"gho 1\"}", "", "no_access_token" },
        { "{}", "", "no_access_token" },
        { "[]", "", "github_api_error" },
        { "", "", "github_api_error" },
        { "{\"access_token\":\"gho_1\"}", "{\"login\":7}", "github_api_error" },
        { "{\"access_token\":\"gho_1\"}", "gho_1", "github_api_error" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        char word[GITHUB_WORD_MAX + 1];
        struct github_user user;
        struct server s;
        struct err err;

        start(&s, rows[i].token, rows[i].user);
        assert_int_equal(github_sign_in(&s.config, "the-code", &user, word, &err), -1);
        assert_string_equal(word, rows[i].word);
        assert_null(strstr(err.msg, "gho"));
        assert_null(strstr(err.msg, "the-code"));
        assert_null(strstr(err.msg, "a secret"));
        stop(&s);
    }
}

static void nobody_there_is_an_error_of_github(void **state)
{
    char word[GITHUB_WORD_MAX + 1];
    struct github_user user;
    struct server s;
    struct err err;

    (void)state;
    start(&s, "", "");
    stop(&s);
    assert_int_equal(github_sign_in(&s.config, "code", &user, word, &err), -1);
    assert_string_equal(word, "github_api_error");
    assert_int_equal(err.kind, ERR_UPSTREAM);
}

static void a_word_of_github_is_passed_on_only_when_it_is_one(void **state)
{
    char word[GITHUB_WORD_MAX + 1], longest[GITHUB_WORD_MAX + 2];

    (void)state;
    github_word("access_denied", word);
    assert_string_equal(word, "access_denied");
    github_word("", word);
    assert_string_equal(word, "github_api_error");
    github_word("a&b=c", word);
    assert_string_equal(word, "github_api_error");
    github_word("A\r\n", word);
    assert_string_equal(word, "github_api_error");
    memset(longest, 'a', sizeof(longest));
    longest[GITHUB_WORD_MAX + 1] = '\0';
    github_word(longest, word);
    assert_string_equal(word, "github_api_error");
    longest[GITHUB_WORD_MAX] = '\0';
    github_word(longest, word);
    assert_string_equal(word, longest);
}

static void the_address_at_github_asks_for_the_name_only(void **state)
{
    static char url[] = "https://ghe.example//", id[] = "a&b", back[] = "https://x.example/cb?y=1", none[] = "";
    struct config c = { .github_url = url, .github_client_id = id, .github_redirect_uri = back };
    auto_buf struct buf b;

    (void)state;
    buf_init(&b, 4096);
    github_authorize_url(&c, "STATE", &b);
    assert_string_equal(b.data, "https://ghe.example/login/oauth/authorize?client_id=a%26b&"
                                "redirect_uri=https%3A%2F%2Fx.example%2Fcb%3Fy%3D1&scope=read%3Auser&state=STATE");
    buf_clear(&b);
    c.github_redirect_uri = none;
    github_authorize_url(&c, "STATE", &b);
    assert_null(strstr(b.data, "redirect_uri"));
}

static void short_memory_is_an_error(void **state)
{
    struct server s;

    (void)state;
    start(&s, "{\"access_token\":\"gho_1\"}", "{\"login\":\"ada\"}");
    OOM_SWEEP({
        char word[GITHUB_WORD_MAX + 1];
        struct github_user user;
        struct err err;

        if (github_sign_in(&s.config, "code", &user, word, &err) == 0)
            assert_string_equal(user.login, "ada");
        else
            assert_true(*word);
    });
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_becomes_a_user),
        cmocka_unit_test(what_goes_wrong_has_a_word_and_a_sentence_without_secrets),
        cmocka_unit_test(nobody_there_is_an_error_of_github),
        cmocka_unit_test(a_word_of_github_is_passed_on_only_when_it_is_one),
        cmocka_unit_test(the_address_at_github_asks_for_the_name_only),
        cmocka_unit_test(short_memory_is_an_error),
    };

    setenv("no_proxy", "*", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
