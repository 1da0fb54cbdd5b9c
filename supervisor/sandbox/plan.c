#include "supervisor/sandbox/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/ipc/hold.h"
#include "supervisor/sandbox/bwrap_argv.h"
#include "supervisor/sandbox/env.h"
#include "shared/seal/seccomp.h"

#define MIB ((size_t)1 << 20)

/* Memory that an agent may take besides its own: temporary files belong below the work directory.
 */
#define TMP_SIZE (64 * MIB)
#define SMALL_TMP_SIZE (8 * MIB)

#define FILTER_MAX ((size_t)64 << 10) /* the kernel's own limit is half of it */

/* Grows mounts; failed is sticky. */
struct mounts {
    struct sandbox_mount *v;
    size_t n, cap;
    bool failed;
};

static void mount_add(struct mounts *m, enum mount_kind kind, const char *source, const char *target, size_t size)
{
    struct sandbox_mount one = { .kind = kind, .size = size };

    if (m->failed || mem_grow((void **)&m->v, m->n, &m->cap, sizeof(*m->v)) < 0) {
        m->failed = true;
        return;
    }
    one.source = mem_strdup(source);
    one.target = mem_strdup(target);
    if ((source && !one.source) || !one.target)
        m->failed = true;
    m->v[m->n++] = one;
}

static void mount_file(struct mounts *m, const char *target, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void mount_file(struct mounts *m, const char *target, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    mount_add(m, MOUNT_FILE, text, target, 0);
}

static void add_system(struct mounts *m, const struct sandbox_facts *f)
{
    size_t i;

    mount_add(m, MOUNT_RO, "/usr", "/usr", 0);
    for (i = 0; i < FACTS_TOPS; i++)
        if (f->tops[i].present)
            mount_add(m, f->tops[i].link ? MOUNT_LINK : MOUNT_RO, f->tops[i].link ? f->tops[i].link : f->tops[i].path,
                      f->tops[i].path, 0);
    for (i = 0; i < f->n_dirs; i++)
        mount_add(m, MOUNT_RO, f->dirs[i], f->dirs[i], 0);
    if (f->bind_nltk)
        mount_add(m, MOUNT_RO, f->nltk_data, f->nltk_data, 0);
}

/* Only what programs cannot do without: names of users and of this host, the loader's cache,
 * certificates. */
static void add_etc(struct mounts *m, const struct sandbox_facts *f, const struct sandbox_site *site, bool network)
{
    static const char *const shared[] = { "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs",
                                          "/etc/ssl/openssl.cnf" };
    static const char *const with_network[] = { "/etc/resolv.conf", "/etc/gai.conf" };
    size_t i;

    mount_add(m, MOUNT_DIR, NULL, "/etc", 0);
    mount_file(m, "/etc/hosts", "127.0.0.1\tlocalhost agent\n::1\tlocalhost\n");
    mount_file(m, "/etc/hostname", "agent\n");
    mount_file(m, "/etc/passwd",
               "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
               "agent:x:%u:%u:agent:" SANDBOX_WORK ":/bin/sh\n"
               "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
               site->uid, site->uid);
    mount_file(m, "/etc/group", "root:x:0:\nagent:x:%u:\nnogroup:x:65534:\n", site->uid);
    mount_file(m, "/etc/nsswitch.conf",
               "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n");
    for (i = 0; i < ARRAY_LEN(shared); i++)
        mount_add(m, MOUNT_RO_TRY, shared[i], shared[i], 0);
    for (i = 0; network && i < ARRAY_LEN(with_network); i++)
        mount_add(m, MOUNT_RO_TRY, with_network[i], with_network[i], 0);
    if (*f->localtime)
        mount_add(m, MOUNT_LINK, f->localtime, "/etc/localtime", 0);
}

/* Under a device on a mount without devices: opening it fails, whatever the file itself would allow. */
static void cover_telltales(struct mounts *m, const struct sandbox_facts *f)
{
    size_t i;

    for (i = 0; i < f->n_telltales; i++)
        mount_add(m, MOUNT_RO, "/dev/null", f->telltales[i], 0);
}

static void add_own(struct mounts *m, const struct sandbox_facts *f, const struct sandbox_site *site)
{
    mount_add(m, MOUNT_PROC, NULL, "/proc", 0);
    cover_telltales(m, f);
    mount_add(m, MOUNT_DEV, NULL, "/dev", 0);
    mount_add(m, MOUNT_TMPFS, NULL, "/dev/shm", TMP_SIZE);
    mount_add(m, MOUNT_SEAL, NULL, "/dev", 0); /* a tmpfs of the agent's own, without a size */
    mount_add(m, MOUNT_TMPFS, NULL, "/tmp", TMP_SIZE);
    mount_add(m, MOUNT_TMPFS, NULL, "/var/tmp", SMALL_TMP_SIZE);
    mount_add(m, MOUNT_TMPFS, NULL, "/run", SMALL_TMP_SIZE);
    mount_add(m, MOUNT_RO, f->pid1, SANDBOX_PID1, 0);
    mount_add(m, MOUNT_RW, site->work, SANDBOX_WORK, 0);
    mount_add(m, MOUNT_SEAL, NULL, "/", 0); /* last: nothing can be made at the top any more */
}

static void add_argv(struct sandbox_plan *p, const struct sandbox_facts *f, const char *const *program)
{
    strv_add(&p->argv, f->python);
    for (; program && *program; program++)
        strv_add(&p->argv, *program);
}

static void add_env(struct sandbox_plan *p, const struct sandbox_facts *f, const struct sandbox_site *site)
{
    const struct env_place place = {
        .work = p->work_inside,
        .nltk_data = f->nltk_data,
        .port = p->port,
        .proxy_port = p->proxy_port,
    };

    env_build(&p->env, &place, site->service, site->extra);
    if (p->waits)
        strv_add_fmt(&p->env, ENV_WAIT "=%d", BWRAP_FD_WAIT);
}

static void add_groups(struct sandbox_plan *p, const struct strv *entered)
{
    size_t i;

    for (i = 0; entered && i < entered->n; i++)
        strv_add(&p->entered, entered->v[i]);
}

static int add_filter(struct sandbox_plan *p, struct err *err)
{
    size_t n;
    const struct seccomp_rule *rules = seccomp_rules(&n);

    return seccomp_make(&p->seccomp, rules, n, SECCOMP_REST_ALLOWED, err);
}

int sandbox_plan_make(struct sandbox_plan *ret, const struct config *config, const struct sandbox_facts *facts,
                      const struct sandbox_site *site, struct err *err)
{
    struct sandbox_plan p = { .sandboxed = config->sandbox != SANDBOX_OFF, .waits = site->waits };
    struct mounts m = { 0 };
    int failed = 0;

    buf_init(&p.seccomp, FILTER_MAX);
    p.private_network = p.sandboxed && config->egress != EGRESS_HOST;
    p.proxy_port = p.private_network && config->egress != EGRESS_NONE ? SANDBOX_PROXY_PORT : 0;
    p.port = hold_agent_port(!p.private_network, config->port_pool_start, site->slot);
    p.work = mem_strdup(site->work);
    p.work_inside = mem_strdup(p.sandboxed ? SANDBOX_WORK : site->work);
    p.pid1 = mem_strdup(p.sandboxed ? SANDBOX_PID1 : facts->pid1);
    if (p.sandboxed) {
        add_system(&m, facts);
        add_etc(&m, facts, site, !p.private_network);
        add_own(&m, facts, site);
        failed = add_filter(&p, err);
    }
    p.mounts = m.v;
    p.n_mounts = m.n;
    add_argv(&p, facts, site->program);
    if (p.work_inside)
        add_env(&p, facts, site);
    rlimits_make(&p.limits, config);
    add_groups(&p, site->entered);
    if (failed == 0 &&
        (!p.work || !p.work_inside || !p.pid1 || m.failed || p.argv.failed || p.env.failed || p.entered.failed))
        failed = err_nomem(err);
    if (failed < 0) {
        sandbox_plan_release(&p);
        return -1;
    }
    *ret = p;
    return 0;
}

void sandbox_plan_release(struct sandbox_plan *p)
{
    size_t i;

    if (!p)
        return;
    for (i = 0; i < p->n_mounts; i++) {
        mem_free(p->mounts[i].source);
        mem_free(p->mounts[i].target);
    }
    mem_free(p->mounts);
    mem_free(p->work);
    mem_free(p->work_inside);
    mem_free(p->pid1);
    buf_release(&p->seccomp);
    strv_release(&p->argv);
    strv_release(&p->env);
    strv_release(&p->entered);
    *p = (struct sandbox_plan){ 0 };
}
