#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/base/time.h"
#include "shared/cli/chat_session.h"
#include "shared/cli/cli.h"
#include "shared/cli/show.h"
#include "shared/cli/ws_client.h"

/* One loop over three descriptors: the user's lines, the conversation, signals. Lines that come from a pipe wait for
 * their turn: the agent has to be up and to have answered the one before, or `echo hi | agentsim chat` would end the
 * session before it began. */

#define TICK_MS 100
#define PROMPT_MS 200
#define START_MS 100000   /* the service itself gives up after 75 s */
#define SETTLE_MS 400     /* quiet after an answer, before the next line */
#define NO_ANSWER_MS 3000 /* some messages have none */
#define END_MS 1200       /* quiet before the end of a piped conversation */
#define RECONNECTS 10
#define RECONNECT_MS 1000
#define LINE_MAX_BYTES ((size_t)1 << 20)

struct chat {
    struct chat_session session;
    struct show show;
    struct ws_client *ws;
    struct buf out, in; /* for the terminal; lines of the user not sent yet */
    int64_t wait_ms;    /* for a last answer, at the end of piped input */
    int64_t since_ms;   /* last sent line, or when the agent came up */
    int64_t heard_ms;   /* last frame */
    long long received; /* frames since the first auth_ok; -1 before */
    int signals;        /* signalfd */
    int status;
    bool interactive, alive, answered, prompted;
    bool eof, done, over; /* no more input; leave the loop; the session has ended by itself */
};

enum { URL, SIGN_IN, TRACE, OUTPUT, WAIT, CREDENTIALS, KEEP };

static const struct cli_option options[] = {
    [URL] = { "url", 'u', "URL", "address of the service (http://127.0.0.1:8080)" },
    [SIGN_IN] = { "github-session", 0, "ID", "sign-in, where the service asks for one (AGENTSIM_GITHUB_SESSION)" },
    [TRACE] = { "trace", 't', NULL, "show the states the agent enters" },
    [OUTPUT] = { "output", 'o', NULL, "show what the agent prints" },
    [WAIT] = { "wait", 'w', "SECONDS", "piped input: how long to wait for the last answer (15)" },
    [CREDENTIALS] = { "credentials", 0, NULL, "hand the API keys of this environment to the session" },
    [KEEP] = { "keep", 'k', NULL, "do not end the session when leaving" },
    { 0 },
};

static void flush_out(struct chat *c)
{
    if (!c->out.len)
        return;
    if (c->prompted)
        (void)io_write_all(STDOUT_FILENO, "\r\x1b[K", 4);
    c->prompted = false;
    (void)io_write_all(STDOUT_FILENO, c->out.data, c->out.len);
    buf_clear(&c->out);
}

static void say(struct chat *c, const char *text)
{
    flush_out(c);
    buf_add_str(&c->out, text);
    buf_add_char(&c->out, '\n');
    flush_out(c);
}

static void on_frame(void *user, const char *text, size_t len)
{
    struct chat *c = user;
    enum show_kind kind = show_frame(&c->show, text, len, &c->out);
    int64_t now = time_mono_ms();

    if (c->out.failed)
        buf_clear(&c->out);
    flush_out(c);
    c->heard_ms = now;
    if (kind == SHOW_AUTH_OK) {
        if (c->received < 0)
            c->received = 0;
        return;
    }
    if (c->received >= 0)
        c->received++;
    if (!c->alive && kind != SHOW_ERROR) {
        c->alive = true;
        c->since_ms = now;
    }
    c->answered = c->answered || kind == SHOW_REPLY;
    if (kind == SHOW_ERROR)
        c->status = CLI_NO;
    if (kind == SHOW_EXIT)
        c->over = c->done = true;
}

static int connect_socket(struct chat *c, struct err *err)
{
    auto_free char *auth = chat_auth_frame(&c->session, c->received);
    auto_buf struct buf url;
    size_t len = strlen(c->session.base);

    while (len && c->session.base[len - 1] == '/')
        len--;
    buf_init(&url, 4096);
    if (!auth || buf_add_fmt(&url, "%.*s/besser_api/simulation/%s/ws", (int)len, c->session.base, c->session.id) < 0)
        return err_nomem(err);
    if (ws_client_open(url.data, &c->ws, err) < 0)
        return -1;
    return ws_client_send(c->ws, auth, strlen(auth), err);
}

static bool worth_another_try(unsigned code)
{
    return code == 1001 || code == 1005 || code == 1006 || code == 1011 || code == 1012;
}

/* The service may have been restarted; the session lives on and nothing said meanwhile is lost. */
static void lost(struct chat *c, unsigned code)
{
    struct err err = { 0 };
    char text[200];
    int i;

    ws_client_free(c->ws);
    c->ws = NULL;
    for (i = 0; c->status == CLI_OK && c->received >= 0 && worth_another_try(code) && i < RECONNECTS; i++) {
        struct pollfd p = { c->signals, POLLIN, 0 };

        if (poll(&p, 1, RECONNECT_MS) > 0)
            break;
        if (connect_socket(c, &err) == 0) {
            c->heard_ms = time_mono_ms(); /* what was missed is still to come */
            return;
        }
        ws_client_free(c->ws);
        c->ws = NULL;
    }
    c->done = true;
    if (code == 4404)
        c->over = true;
    if (code != 1000 && c->status == CLI_OK) {
        (void)snprintf(text, sizeof(text), "(the connection was closed, code %u)", code);
        say(c, text);
        c->status = CLI_NO;
    }
}

static void run_socket(struct chat *c)
{
    struct err err = { 0 };
    unsigned code = 1006;
    int r = ws_client_run(c->ws, on_frame, c, &code, &err);

    if (r > 0)
        return;
    if (r < 0)
        say(c, err.msg);
    if (!c->done)
        lost(c, code);
}

static void print_help(struct chat *c)
{
    say(c, "/quit              leave and end the session\n"
           "/trace, /output    show or hide states, what the agent prints\n"
           "/var NAME=VALUE    set a session variable\n"
           "/file PATH         send a file\n"
           "//text             a message that begins with a slash");
}

static void send_line(struct chat *c, const char *line)
{
    struct err err = { 0 };
    auto_free char *frame = NULL;

    if (strcmp(line, "/quit") == 0 || strcmp(line, "/exit") == 0) {
        c->done = true;
    } else if (strcmp(line, "/help") == 0) {
        print_help(c);
    } else if (strcmp(line, "/trace") == 0) {
        c->show.trace = !c->show.trace;
    } else if (strcmp(line, "/output") == 0) {
        c->show.output = !c->show.output;
    } else if (chat_user_frame(show_choice(&c->show, line), &frame, &err) < 0 ||
               ws_client_send(c->ws, frame, strlen(frame), &err) < 0) {
        say(c, err.msg);
    } else {
        c->since_ms = time_mono_ms();
        c->answered = false;
        run_socket(c);
    }
}

/* The next whole line of the input, without its end; the caller frees. NULL: none. */
static char *next_line(struct chat *c)
{
    char *end = c->in.len ? memchr(c->in.data, '\n', c->in.len) : NULL, *line;
    size_t len = end ? (size_t)(end - c->in.data) : c->in.len, used = len + (end ? 1 : 0);

    if (!c->in.len || (!end && !c->eof))
        return NULL;
    if (len && c->in.data[len - 1] == '\r')
        len--;
    line = mem_dup(c->in.data, len);
    buf_consume(&c->in, used);
    return line;
}

static bool quiet_for(const struct chat *c, int64_t ms)
{
    int64_t now = time_mono_ms();

    return now - c->heard_ms >= ms && now - c->since_ms >= ms;
}

/* May the next line go out? */
static bool has_turn(const struct chat *c)
{
    if (c->interactive)
        return c->received >= 0;
    if (!c->alive)
        return false;
    return (c->answered && quiet_for(c, SETTLE_MS)) || quiet_for(c, NO_ANSWER_MS);
}

static void send_lines(struct chat *c)
{
    while (!c->done && c->ws && has_turn(c)) {
        auto_free char *line = next_line(c);

        if (!line)
            return;
        if (*line)
            send_line(c, line);
    }
}

static void check_end(struct chat *c)
{
    int64_t now = time_mono_ms();

    if (!c->alive && now - c->since_ms > START_MS) {
        say(c, "(the agent did not come up)");
        c->status = CLI_NO;
        c->done = true;
    }
    if (!c->eof || c->in.len || !c->alive)
        return;
    if (c->answered ? quiet_for(c, END_MS) : now - c->since_ms >= c->wait_ms)
        c->done = true;
}

static void read_input(struct chat *c)
{
    ssize_t n;

    if (buf_reserve(&c->in, 4096) < 0) {
        say(c, "(a line is too long)");
        buf_clear(&c->in);
        return;
    }
    n = read(STDIN_FILENO, c->in.data + c->in.len, 4096);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        c->eof = true;
        c->done = c->done || c->interactive;
        return;
    }
    c->in.len += (size_t)n;
    c->in.data[c->in.len] = '\0';
    c->prompted = false; /* the terminal itself went to a new line */
}

static void show_prompt(struct chat *c)
{
    if (!c->interactive || c->prompted || c->received < 0 || !quiet_for(c, PROMPT_MS))
        return;
    (void)io_write_all(STDOUT_FILENO, "> ", 2);
    c->prompted = true;
}

static void loop(struct chat *c)
{
    while (!c->done) {
        struct pollfd fds[] = {
            { c->signals, POLLIN, 0 },
            { ws_client_fd(c->ws), (short)(POLLIN | (ws_client_pending(c->ws) ? POLLOUT : 0)), 0 },
            { c->eof || c->in.len > LINE_MAX_BYTES / 2 ? -1 : STDIN_FILENO, POLLIN, 0 },
        };

        (void)poll(fds, ARRAY_LEN(fds), TICK_MS);
        if (fds[0].revents) {
            c->status = 130;
            c->done = true;
        }
        if (!c->done && fds[1].revents)
            run_socket(c);
        if (!c->done && fds[2].revents)
            read_input(c);
        send_lines(c);
        check_end(c);
        if (!c->done)
            show_prompt(c);
    }
    if (c->prompted)
        say(c, "");
}

static int catch_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void converse(struct chat *c)
{
    struct err err = { 0 };

    if (connect_socket(c, &err) < 0)
        c->status = cli_fail(CLI_NO, "%s", err.msg);
    else
        loop(c);
    if (c->ws && !c->over)
        ws_client_close(c->ws, 1000);
    ws_client_free(c->ws);
}

static int start_and_converse(struct chat *c, const struct cli_input *in, cJSON *request)
{
    struct err err = { 0 };

    if (in->values[CREDENTIALS] && chat_add_credentials(request, &err) < 0)
        return cli_fail(CLI_FAILED, "%s", err.msg);
    if (chat_session_start(&c->session, request, &err) < 0)
        return cli_fail(CLI_NO, "%s", err.msg);
    c->since_ms = c->heard_ms = time_mono_ms();
    converse(c);
    if (in->values[KEEP] && !c->over)
        printf("session %s\n", c->session.id);
    else if (!c->over && chat_session_end(&c->session, &err) < 0 && c->status == CLI_OK)
        return cli_fail(CLI_NO, "the session could not be ended: %s", err.msg);
    return c->status;
}

static int run(const struct cli_input *in)
{
    struct chat c = {
        .session = { .base = in->values[URL] ? in->values[URL] : "http://127.0.0.1:8080",
                     .sign_in = chat_sign_in(in->values[SIGN_IN]) },
        .show = { .trace = in->values[TRACE], .output = in->values[OUTPUT] },
        .received = -1,
        .wait_ms = 15000,
    };
    int64_t seconds;
    cJSON *request;
    int status;

    if (in->values[WAIT]) {
        if (str_to_int(in->values[WAIT], 0, 3600, &seconds) < 0)
            return cli_fail(CLI_USAGE, "chat: %s is no number of seconds (0 to 3600)", in->values[WAIT]);
        c.wait_ms = seconds * 1000;
    }
    if (strcmp(in->args[0], "-") == 0)
        return cli_fail(CLI_USAGE, "chat: standard input is where you talk; name a file");
    request = cli_read_request(in->args[0], true, &status);
    if (!request)
        return status;
    c.interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    c.show.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    c.signals = catch_signals();
    buf_init(&c.out, 64u << 20);
    buf_init(&c.in, LINE_MAX_BYTES);
    status = c.signals < 0 ? cli_fail(CLI_FAILED, "signals: %s", strerror(errno)) : start_and_converse(&c, in, request);
    cJSON_Delete(request);
    buf_release(&c.out);
    buf_release(&c.in);
    show_release(&c.show);
    if (c.signals >= 0)
        close(c.signals);
    return status;
}

const struct cli_command cli_chat = {
    .name = "chat",
    .arguments = "DIAGRAM.json",
    .summary = "Talk to a diagram's agent in the terminal, through the running service",
    .details =
        "\nType a line to say it; a number picks one of the options the agent offered. /help lists the commands,\n"
        "/quit or the end of input leaves. Piped input is said line by line, each after the answer to the one\n"
        "before: echo hi | agentsim chat DIAGRAM.json",
    .options = options,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
