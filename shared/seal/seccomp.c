/* From rules to a filter program. libseccomp orders the calls in a tree and knows their numbers; three instructions of
 * our own in front refuse everything that is newer than its table, which it cannot say.
 *
 * libseccomp compares whole values only, one test per argument and rule. So "one of these bits" becomes a rule per bit,
 * and "none of these values" becomes the fewest (mask, value) pairs that cover all other values, as one covers a range
 * of addresses with network prefixes. */
#include "shared/seal/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"

#define PROGRAM_MAX ((size_t)BPF_MAXINSNS * sizeof(struct sock_filter))
#define CHOICES_MAX 160 /* pairs of one test: at most 32 per value, and one bit each */

/* (argument & mask) == value */
struct choice {
    uint32_t mask, value;
};

struct choices {
    struct choice v[CHOICES_MAX];
    size_t n;
};

static void add_choice(struct choices *c, uint32_t mask, uint32_t value)
{
    if (c->n < CHOICES_MAX)
        c->v[c->n++] = (struct choice){ mask, value };
}

static bool holds_any(const struct seccomp_test *t, uint32_t prefix_mask, uint32_t prefix)
{
    size_t i;

    for (i = 0; i < t->n_values; i++)
        if ((t->values[i] & prefix_mask) == prefix)
            return true;
    return false;
}

/* Walks the tree of prefixes along each value and takes the branch that leads away from it, from the highest bit to
 * the lowest, when no other value lies there and it was not taken before. */
static void cover_others(struct choices *c, const struct seccomp_test *t)
{
    size_t i, j;
    int bit;

    for (i = 0; i < t->n_values; i++) {
        uint32_t seen = 0;

        for (bit = 31; bit >= 0; bit--) {
            uint32_t one = (uint32_t)1 << bit, away;
            bool taken = false;

            if (!(t->mask & one))
                continue;
            away = (t->values[i] & seen) | (~t->values[i] & one);
            seen |= one;
            for (j = 0; j < c->n; j++)
                taken = taken || (c->v[j].mask == seen && c->v[j].value == away);
            if (!taken && !holds_any(t, seen, away))
                add_choice(c, seen, away);
        }
    }
}

static void choices_of(struct choices *ret, const struct seccomp_test *t)
{
    int bit;

    ret->n = 0;
    switch (t->kind) {
    case SECCOMP_IS:
        add_choice(ret, t->mask, t->values[0] & t->mask);
        break;
    case SECCOMP_ANY_BIT:
        for (bit = 0; bit < 32; bit++)
            if (t->mask & ((uint32_t)1 << bit))
                add_choice(ret, (uint32_t)1 << bit, (uint32_t)1 << bit);
        break;
    case SECCOMP_NOT_IN:
        cover_others(ret, t);
        break;
    default:
        add_choice(ret, 0, 0); /* holds for all */
        break;
    }
}

static int add_one(scmp_filter_ctx ctx, const struct seccomp_rule *r, int number, const struct scmp_arg_cmp *cmp,
                   unsigned n)
{
    uint32_t refused = SCMP_ACT_ERRNO(r->errnum == SECCOMP_SKIP ? 0U : (unsigned)r->errnum);
    uint32_t action = r->errnum ? refused : SCMP_ACT_ALLOW;
    int e = seccomp_rule_add_array(ctx, action, number, n, cmp);

    return e == -EEXIST ? 0 : e;
}

/* Every combination of the tests' choices, depth first. */
static int add_combinations(scmp_filter_ctx ctx, const struct seccomp_rule *r, int number, struct scmp_arg_cmp *cmp,
                            unsigned depth)
{
    const struct seccomp_test *t = depth < SECCOMP_TESTS_MAX ? &r->tests[depth] : NULL;
    struct choices c;
    size_t i;
    int e;

    if (!t || t->kind == SECCOMP_ALWAYS)
        return add_one(ctx, r, number, cmp, depth);
    choices_of(&c, t);
    for (i = 0; i < c.n; i++) {
        cmp[depth] = SCMP_CMP(t->arg, SCMP_CMP_MASKED_EQ, c.v[i].mask, c.v[i].value);
        if ((e = add_combinations(ctx, r, number, cmp, depth + 1)) < 0)
            return e;
    }
    return 0;
}

int seccomp_number(const char *call)
{
    int number = seccomp_syscall_resolve_name(call);

    return number < 0 ? -1 : number; /* libseccomp has negative numbers for calls of other machines */
}

static int add_rules(scmp_filter_ctx ctx, const struct seccomp_rule *rules, size_t n, struct err *err)
{
    struct scmp_arg_cmp cmp[SECCOMP_TESTS_MAX];
    size_t i;
    int e;

    for (i = 0; i < n; i++) {
        int number = seccomp_number(rules[i].call);

        if (number < 0)
            continue;
        if ((e = add_combinations(ctx, &rules[i], number, cmp, 0)) < 0)
            return err_set(err, ERR_INTERNAL, -e, "system call filter: %s", rules[i].call);
    }
    return 0;
}

/* The library only writes to descriptors. */
static int export_program(scmp_filter_ctx ctx, struct buf *out, struct err *err)
{
    auto_fd int fd = memfd_create("seccomp", MFD_CLOEXEC);
    int e;

    if (fd < 0)
        return err_set(err, ERR_INTERNAL, errno, "system call filter");
    if ((e = seccomp_export_bpf(ctx, fd)) < 0)
        return err_set(err, ERR_INTERNAL, -e, "system call filter");
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_set(err, ERR_INTERNAL, errno, "system call filter");
    return io_read_rest(fd, out, err);
}

static void cleanup_ctx(scmp_filter_ctx *ctx)
{
    if (*ctx)
        seccomp_release(*ctx);
}

static int from_library(struct buf *out, const struct seccomp_rule *rules, size_t n, enum seccomp_rest rest,
                        struct err *err)
{
    scmp_filter_ctx ctx __attribute__((cleanup(cleanup_ctx))) =
        seccomp_init(rest == SECCOMP_REST_ALLOWED ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
    int e;

    if (!ctx)
        return err_nomem(err);
    /* another ABI of this machine has other numbers: none of its calls is let through */
    e = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    if (e == 0)
        e = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree, not a list */
    if (e < 0)
        return err_set(err, ERR_INTERNAL, -e, "system call filter");
    return add_rules(ctx, rules, n, err) < 0 ? -1 : export_program(ctx, out, err);
}

int seccomp_make(struct buf *ret, const struct seccomp_rule *rules, size_t n, enum seccomp_rest rest, struct err *err)
{
    const struct sock_filter newer[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SECCOMP_NEWEST_CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    auto_buf struct buf program;

    buf_init(&program, PROGRAM_MAX);
    buf_add(&program, newer, sizeof(newer));
    if (from_library(&program, rules, n, rest, err) < 0)
        return -1;
    if (program.len % sizeof(struct sock_filter) || buf_failed(&program))
        return err_set(err, ERR_INTERNAL, 0, "system call filter: too large");
    return buf_add(ret, program.data, program.len) < 0 ? err_nomem(err) : 0;
}
