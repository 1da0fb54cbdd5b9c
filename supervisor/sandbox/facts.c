#include "supervisor/sandbox/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

static const char *const top_paths[FACTS_TOPS] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };

/* The kernel shows these to everybody; the more dangerous ones (kcore, kmsg, slabinfo ...) it keeps to root. Those of
 * pressure take orders besides: who writes to them has the kernel watch the whole machine's load. */
static const char *const telltales[FACTS_TELLTALES] = {
    "/proc/cmdline",         "/proc/kallsyms",    "/proc/key-users",     "/proc/keys",
    "/proc/modules",         "/proc/sched_debug", "/proc/latency_stats", "/proc/pressure/cpu",
    "/proc/pressure/memory", "/proc/pressure/io", "/proc/pressure/irq",
};

/* Text of a symbolic link, NULL when path is none (or memory is short: then it counts as missing).
 */
static char *read_link(const char *path)
{
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof(text) - 1);

    return n > 0 ? mem_dup(text, (size_t)n) : NULL;
}

static void probe_tops(struct sandbox_facts *f)
{
    size_t i;

    for (i = 0; i < FACTS_TOPS; i++) {
        struct stat st;

        f->tops[i].path = top_paths[i];
        if (lstat(top_paths[i], &st) < 0)
            continue;
        f->tops[i].link = read_link(top_paths[i]);
        f->tops[i].present = f->tops[i].link || S_ISDIR(st.st_mode);
    }
}

static void probe_telltales(struct sandbox_facts *f)
{
    size_t i;

    for (i = 0; i < FACTS_TELLTALES; i++)
        if (access(telltales[i], F_OK) == 0)
            f->telltales[f->n_telltales++] = telltales[i];
}

/* True for what the plan binds anyway, and for what must never be bound whole. */
static bool is_covered(const char *dir)
{
    return !strcmp(dir, "/usr") || str_starts(dir, "/usr/");
}

static bool is_too_much(const char *dir)
{
    static const char *const never[] = {
        "/", "/etc", "/var", "/home", "/root", "/run", "/tmp", "/proc", "/sys", "/dev"
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(never); i++)
        if (!strcmp(dir, never[i]))
            return true;
    return false;
}

static int add_dir(struct sandbox_facts *f, const char *dir, struct err *err)
{
    size_t i;

    if (is_covered(dir))
        return 0;
    if (is_too_much(dir))
        return err_set(err, ERR_UNAVAILABLE, 0, "the interpreter %s would need all of %s inside the sandbox", f->python,
                       dir);
    for (i = 0; i < f->n_dirs; i++)
        if (!strcmp(f->dirs[i], dir))
            return 0;
    if (f->n_dirs == FACTS_DIRS_MAX || !(f->dirs[f->n_dirs] = mem_strdup(dir)))
        return err_nomem(err);
    f->n_dirs++;
    return 0;
}

/* /opt/x/runtime/bin/python3 -> /opt/x/runtime: cuts the last two parts. */
static int cut_prefix(char *path)
{
    int i;

    for (i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return -1;
        *slash = '\0';
    }
    if (!*path)
        memcpy(path, "/", 2);
    return 0;
}

/* A virtual environment is seen under its configured name (a link that changes at updates), under
 * the real one, and its interpreter is a link to yet another place. */
static int probe_python(struct sandbox_facts *f, const struct config *config, struct err *err)
{
    char path[PATH_MAX], real[PATH_MAX];

    if (!(f->python = mem_strdup(config->python)))
        return err_nomem(err);
    if (access(config->python, X_OK) < 0)
        return err_set(err, ERR_UNAVAILABLE, errno, "the agents' interpreter %s", config->python);
    if (*config->python != '/' || strlen(config->python) >= sizeof(path))
        return err_set(err, ERR_UNAVAILABLE, 0, "the agents' interpreter needs an absolute path");
    (void)snprintf(path, sizeof(path), "%s", config->python);
    if (cut_prefix(path) < 0 || add_dir(f, path, err) < 0)
        return -1;
    if (realpath(path, real) && add_dir(f, real, err) < 0)
        return -1;
    if (!realpath(config->python, real))
        return err_set(err, ERR_UNAVAILABLE, errno, "the agents' interpreter %s", config->python);
    if (cut_prefix(real) < 0)
        return -1;
    return strcmp(real, "/") ? add_dir(f, real, err) : 0;
}

static int probe_rest(struct sandbox_facts *f, const struct config *config, struct err *err)
{
    char path[PATH_MAX], pid1[PATH_MAX];
    struct stat st;
    auto_free char *zone = read_link("/etc/localtime");

    f->nltk_data = mem_strdup(config->nltk_data);
    f->bind_nltk = *config->nltk_data == '/' && !is_covered(config->nltk_data) && !is_too_much(config->nltk_data) &&
                   stat(config->nltk_data, &st) == 0 && S_ISDIR(st.st_mode);
    f->localtime = mem_strdup(zone && str_starts(zone, "/usr/") ? zone : "");
    (void)snprintf(path, sizeof(path), "%s/agentsim-pid1", config->program_dir);
    if (!realpath(path, pid1))
        return err_set(err, ERR_UNAVAILABLE, errno, "%s", path);
    f->pid1 = mem_strdup(pid1);
    return f->nltk_data && f->localtime && f->pid1 ? 0 : err_nomem(err);
}

int facts_probe(struct sandbox_facts *ret, const struct config *config, struct err *err)
{
    struct sandbox_facts f = { 0 };

    probe_tops(&f);
    probe_telltales(&f);
    if (probe_python(&f, config, err) < 0 || probe_rest(&f, config, err) < 0) {
        facts_release(&f);
        return -1;
    }
    *ret = f;
    return 0;
}

void facts_release(struct sandbox_facts *f)
{
    size_t i;

    if (!f)
        return;
    for (i = 0; i < FACTS_TOPS; i++)
        mem_free(f->tops[i].link);
    for (i = 0; i < f->n_dirs; i++)
        mem_free(f->dirs[i]);
    mem_free(f->python);
    mem_free(f->nltk_data);
    mem_free(f->localtime);
    mem_free(f->pid1);
    *f = (struct sandbox_facts){ 0 };
}
