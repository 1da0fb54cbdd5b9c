#include "supervisor/launcher/ceiling.h"

#include <unistd.h>

#define UNKNOWN_MB 1024
#define LEAST_MEMORY_MB 256 /* the runtime by itself takes a part of it */
#define LEAST_DISK_MB 128   /* a program and its files may be 50 */
#define MOST_DISK_MB 1024

static int64_t at_least(int64_t value, int64_t least)
{
    return value < least ? least : value;
}

int64_t ceiling_memory_mb(const struct config *config, int64_t machine_mb)
{
    if (config->memory_mb)
        return config->memory_mb;
    return at_least((machine_mb ? machine_mb : UNKNOWN_MB) / 2, LEAST_MEMORY_MB);
}

int64_t ceiling_disk_mb(const struct config *config, int64_t machine_mb)
{
    int64_t mb = (machine_mb ? machine_mb : UNKNOWN_MB) / 16;

    if (config->disk_mb)
        return config->disk_mb;
    return at_least(mb > MOST_DISK_MB ? MOST_DISK_MB : mb, LEAST_DISK_MB);
}

int64_t ceiling_machine_mb(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (int64_t)pages * size >> 20 : 0;
}
