#include "shared/ipc/launch.h"

#include <stdio.h>

#include "shared/base/mem.h"

struct word {
    uint32_t bit;
    const char *text;
};

static const struct word parts[] = {
    { LAUNCH_LIMITS_MEMORY, "memory" }, { LAUNCH_LIMITS_SWAP, "swap" }, { LAUNCH_LIMITS_PIDS, "pids" },
    { LAUNCH_LIMITS_CPU, "cpu" },       { LAUNCH_LIMITS_KILL, "kill" }, { LAUNCH_LIMITS_DISK, "disk" },
};

static const struct word reasons[] = {
    { LAUNCH_LIMITS_NOT_MOUNTED, "no control groups are mounted" },
    { LAUNCH_LIMITS_READ_ONLY, "control groups are mounted read-only" },
    { LAUNCH_LIMITS_DENIED, "control groups may not be changed here" },
    { LAUNCH_LIMITS_BUSY, "other processes are in our control group" },
    { LAUNCH_LIMITS_BROKEN, "control groups do not work, see the log" },
};

/* Words of the bits that are set; returns the new length. */
static size_t put_words(char *out, size_t n, const struct word *words, size_t n_words, uint32_t bits)
{
    size_t i;

    for (i = 0; i < n_words && n < LAUNCH_LIMITS_TEXT_MAX; i++)
        if (bits & words[i].bit)
            n += (size_t)snprintf(out + n, LAUNCH_LIMITS_TEXT_MAX - n, " %s", words[i].text);
    return n;
}

uint32_t launch_limits_wanted(bool memory, bool cpu, bool disk)
{
    return (memory ? LAUNCH_LIMITS_MEMORY : 0) | (cpu ? LAUNCH_LIMITS_CPU : 0) | (disk ? LAUNCH_LIMITS_DISK : 0);
}

static const char *version(uint32_t limits)
{
    static const char *const names[] = { "none:", "v1:", "v2:", "v1 and v2:" };

    return names[limits & (LAUNCH_LIMITS_V1 | LAUNCH_LIMITS_V2)];
}

void launch_limits_text(uint32_t limits, uint32_t wanted, char out[LAUNCH_LIMITS_TEXT_MAX])
{
    uint32_t missing = wanted & ~limits;
    size_t n;

    if (!limits) {
        (void)snprintf(out, LAUNCH_LIMITS_TEXT_MAX, "none: the launcher has not answered yet");
        return;
    }
    n = (size_t)snprintf(out, LAUNCH_LIMITS_TEXT_MAX, "%s", version(limits));
    if (limits & (LAUNCH_LIMITS_V1 | LAUNCH_LIMITS_V2))
        n = put_words(out, n, parts, ARRAY_LEN(parts) - 1, limits);
    else
        n = put_words(out, n, reasons, ARRAY_LEN(reasons), limits);
    if ((limits & LAUNCH_LIMITS_DISK) && n < LAUNCH_LIMITS_TEXT_MAX)
        n += (size_t)snprintf(out + n, LAUNCH_LIMITS_TEXT_MAX - n, "; disk: tmpfs");
    if (missing && n < LAUNCH_LIMITS_TEXT_MAX) {
        n += (size_t)snprintf(out + n, LAUNCH_LIMITS_TEXT_MAX - n, "; set but not enforced:");
        (void)put_words(out, n, parts, ARRAY_LEN(parts), missing);
    }
}

uint32_t launch_version(uint16_t version, uint16_t oldest)
{
    return (uint32_t)oldest << 16 | version;
}

void launch_version_split(uint32_t word, uint32_t *ret_version, uint32_t *ret_oldest)
{
    *ret_version = word & 0xffff;
    *ret_oldest = word >> 16;
}
