#include "shared/seal/seal.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"

#define RULES_MAX 400
#define ALL_BITS 0xffffffffU
#define LISTED (SEAL_SUPERVISOR | SEAL_WORKER)

/* For those above an agent, besides the rows that are wide: bubblewrap brings the loopback up over netlink, the name
 * servers' library asks it for addresses. */
static const struct seccomp_rule sockets[] = {
    { .call = "socket",
      .errnum = EAFNOSUPPORT,
      .reason = "UNIX and IP sockets, and routing's netlink",
      .tests = { { .kind = SECCOMP_NOT_IN,
                   .arg = 0,
                   .mask = ALL_BITS,
                   .values = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK },
                   .n_values = 4 } } },
    { .call = "socket",
      .errnum = EPROTONOSUPPORT,
      .reason = "no netlink but routing's",
      .tests = { { .kind = SECCOMP_IS, .arg = 0, .mask = ALL_BITS, .values = { AF_NETLINK }, .n_values = 1 },
                 { .kind = SECCOMP_NOT_IN, .arg = 2, .mask = ALL_BITS, .values = { 0 }, .n_values = 1 } } },
};

/* The leak checker stops its own process and looks into it. */
static bool is_sanitizers(const struct seccomp_rule *r)
{
    return SEAL_SANITIZED && (str_eq(r->call, "ptrace") || str_eq(r->call, "process_vm_readv"));
}

static size_t gather_refused(struct seccomp_rule *ret)
{
    size_t n, i, found = 0;
    const struct seccomp_rule *all = seccomp_rules(&n);

    for (i = 0; i < n; i++)
        if (all[i].wide && !is_sanitizers(&all[i]))
            ret[found++] = all[i];
    for (i = 0; i < ARRAY_LEN(sockets); i++)
        ret[found++] = sockets[i];
    return found;
}

static size_t gather_allowed(struct seccomp_rule *ret, enum seal_program program)
{
    size_t n, i, found = 0;
    const struct seal_row *all = seal_rows(&n);

    for (i = 0; i < n && found < RULES_MAX; i++)
        if (all[i].programs & program)
            ret[found++] = all[i].rule;
    return found;
}

int seal_make(struct buf *ret, enum seal_program program, struct err *err)
{
    struct seccomp_rule rules[RULES_MAX];
    bool listed = program & LISTED;
    size_t n = listed ? gather_allowed(rules, program) : gather_refused(rules);

    return seccomp_make(ret, rules, n, listed ? SECCOMP_REST_REFUSED : SECCOMP_REST_ALLOWED, err);
}

int seal_self(enum seal_program program, struct err *err)
{
    auto_buf struct buf b;
    struct sock_fprog filter;

    buf_init(&b, (size_t)BPF_MAXINSNS * sizeof(struct sock_filter));
    if (seal_make(&b, program, err) < 0)
        return -1;
    filter = (struct sock_fprog){ .len = (unsigned short)(b.len / sizeof(struct sock_filter)),
                                  .filter = (struct sock_filter *)(void *)b.data };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return err_set(err, ERR_INTERNAL, errno, "install the system call filter");
    return 0;
}
