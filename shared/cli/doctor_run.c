#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/time.h"
#include "shared/cli/doctor.h"

#define OUTPUT_MAX 8192

/* Only async-signal-safe calls; 126 tells "not allowed to become that user", 127 "no such program". */
static void child(char *const argv[], char *const env[], unsigned uid, int output)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    setpgid(0, 0);
    if (chdir("/") < 0)
        _exit(126);
    if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        _exit(126);
    execve(argv[0], argv, env);
    _exit(127);
}

/* Reads to the end of output, what does not fit is dropped: false when time is up. */
static bool drain(int fd, int64_t deadline, struct buf *out)
{
    char chunk[1024];

    for (;;) {
        struct pollfd p = { fd, POLLIN, 0 };
        int64_t left = deadline - time_mono_ms();
        ssize_t n;

        if (left <= 0)
            return false;
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        n = read(fd, chunk, sizeof(chunk));
        if (n <= 0)
            return true;
        if (out->len + (size_t)n <= OUTPUT_MAX)
            buf_add(out, chunk, (size_t)n);
    }
}

static int run_in(char *const argv[], char *const env[], unsigned uid, int timeout_ms, struct buf *out)
{
    int64_t deadline = time_mono_ms() + timeout_ms;
    int fds[2], status = 0;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        child(argv, env, uid, fds[1]);
    close(fds[1]);
    if (pid > 0 && !drain(fds[0], deadline, out))
        kill(-pid, SIGKILL);
    close(fds[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int doctor_run(const struct config *c, char *const argv[], unsigned uid, int timeout_ms, struct buf *out)
{
    char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LC_ALL=C.UTF-8";
    char **settings = NULL, **env;
    size_t n = 0, i;
    int r = -1;

    if (c && config_public_env(c, &settings, NULL) < 0)
        return -1;
    while (settings && settings[n])
        n++;
    env = mem_zalloc(n + 3, sizeof(*env));
    if (env) {
        env[0] = path;
        env[1] = lang;
        for (i = 0; i < n; i++)
            env[i + 2] = settings[i];
        r = run_in(argv, env, uid, timeout_ms, out);
    }
    mem_free(env);
    config_env_free(settings);
    return r;
}
