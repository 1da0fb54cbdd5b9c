#include "supervisor/sandbox/bwrap_argv.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"

/* What never changes. No nested user namespaces: they would reopen the kernel's root-only surface.
 */
static const char *const always[] = {
    "--unshare-user",       "--unshare-pid",    "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try", "--disable-userns", "--as-pid-1",    "--die-with-parent",
    "--new-session",        "--hostname",       "agent",         "--clearenv",
};

/* How each kind of mount is said; the placeholders are filled in this order: size, source, target.
 */
static const struct {
    const char *option;
    bool size, source, data;
} words[MOUNT__MAX] = {
    [MOUNT_RO] = { "--ro-bind", false, true, false },  [MOUNT_RO_TRY] = { "--ro-bind-try", false, true, false },
    [MOUNT_RW] = { "--bind", false, true, false },     [MOUNT_LINK] = { "--symlink", false, true, false },
    [MOUNT_TMPFS] = { "--tmpfs", true, false, false }, [MOUNT_PROC] = { "--proc", false, false, false },
    [MOUNT_DEV] = { "--dev", false, false, false },    [MOUNT_FILE] = { "--file", false, false, true },
    [MOUNT_DIR] = { "--dir", false, false, false },    [MOUNT_SEAL] = { "--remount-ro", false, false, false },
};

static void put(struct buf *out, const char *text)
{
    buf_add(out, text, strlen(text) + 1);
}

static void put_number(struct buf *out, size_t number)
{
    buf_add_fmt(out, "%zu", number);
    buf_add_char(out, '\0');
}

static void put_mount(struct buf *out, const struct sandbox_mount *m, int *data_fd)
{
    if (words[m->kind].size) {
        put(out, "--size");
        put_number(out, m->size);
    }
    if (words[m->kind].data) {
        put(out, "--perms");
        put(out, "0444");
    }
    put(out, words[m->kind].option);
    if (words[m->kind].source)
        put(out, m->source);
    if (words[m->kind].data)
        put_number(out, (size_t)(*data_fd)++);
    put(out, m->target);
}

static void put_env(struct buf *out, const struct strv *env)
{
    size_t i;

    for (i = 0; i < env->n; i++) {
        const char *eq = strchr(env->v[i], '=');

        if (!eq)
            continue;
        put(out, "--setenv");
        buf_add(out, env->v[i], (size_t)(eq - env->v[i]));
        buf_add_char(out, '\0');
        put(out, eq + 1);
    }
}

void bwrap_argv_options(struct buf *out, const struct sandbox_plan *plan)
{
    int data_fd = BWRAP_FD_DATA;
    size_t i;

    for (i = 0; i < ARRAY_LEN(always); i++)
        put(out, always[i]);
    if (plan->private_network)
        put(out, "--unshare-net");
    put_env(out, &plan->env);
    for (i = 0; i < plan->n_mounts; i++)
        put_mount(out, &plan->mounts[i], &data_fd);
    put(out, "--chdir");
    put(out, plan->work_inside);
    put(out, "--info-fd");
    put_number(out, BWRAP_FD_INFO);
    if (plan->seccomp.len) {
        put(out, "--seccomp");
        put_number(out, BWRAP_FD_SECCOMP);
    }
}

void bwrap_argv_command(struct strv *out, const struct sandbox_plan *plan, const char *bwrap)
{
    size_t i;

    if (plan->sandboxed) {
        strv_add_many(out, bwrap, "--args", NULL);
        strv_add_fmt(out, "%d", BWRAP_FD_ARGS);
        strv_add(out, "--");
    }
    strv_add(out, plan->pid1);
    strv_add_fmt(out, "%d", BWRAP_FD_REPORT);
    strv_add_fmt(out, "%u", plan->proxy_port);
    strv_add_fmt(out, "%d", plan->waits ? BWRAP_FD_WAIT : 0);
    for (i = 0; i < plan->argv.n; i++)
        strv_add(out, plan->argv.v[i]);
}
