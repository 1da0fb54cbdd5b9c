#include "supervisor/launcher/privileges.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shared/base/mem.h"

static const cap_value_t kept[] = { CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_CHOWN, CAP_DAC_OVERRIDE };

static int is_kept(int cap)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(kept); i++)
        if (kept[i] == cap)
            return 1;
    return 0;
}

/* In a container that was given the kept ones and no other. */
static int may_set_bits(void)
{
    cap_t caps = cap_get_proc();
    cap_flag_value_t has = CAP_CLEAR;
    int known = caps && cap_get_flag(caps, CAP_SETPCAP, CAP_EFFECTIVE, &has) == 0;

    cap_free(caps);
    return !known || has == CAP_SET;
}

/* User id 0 alone gives nothing to an executed program. The fix-up on setresuid stays on: it is
 * what takes the five from the children. */
static int set_securebits(struct err *err)
{
    const unsigned long bits =
        SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

    if (!may_set_bits())
        return 0; /* nothing but the kept ones can come back then: drop_bounding() sees to it */
    if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
        return err_set(err, ERR_INTERNAL, errno, "set securebits");
    return 0;
}

static int drop_bounding(struct err *err)
{
    int cap, there;

    for (cap = 0; (there = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0; cap++)
        if (there && !is_kept(cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            return err_set(err, ERR_INTERNAL, errno, "drop capability %d", cap);
    return 0;
}

static int drop_sets(struct err *err)
{
    cap_t caps = cap_init();
    int r = -1;

    if (!caps)
        return err_nomem(err);
    if (cap_set_flag(caps, CAP_PERMITTED, (int)ARRAY_LEN(kept), kept, CAP_SET) < 0 ||
        cap_set_flag(caps, CAP_EFFECTIVE, (int)ARRAY_LEN(kept), kept, CAP_SET) < 0 || cap_set_proc(caps) < 0)
        err_set(err, ERR_INTERNAL, errno, "set capabilities");
    else
        r = 0;
    cap_free(caps);
    return r;
}

int privileges_drop(struct err *err)
{
    if (set_securebits(err) < 0 || drop_bounding(err) < 0 || drop_sets(err) < 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(err, ERR_INTERNAL, errno, "no new privileges");
    return 0;
}
