/* A machine whose wall clock is set while programs run: loaded into every program of a service under test, it adds to
 * the wall clock what stands in the file beside it (nanoseconds, 8 bytes, changed by the test at will). The monotonic
 * clocks are left alone, as the kernel leaves them alone. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static int (*real_clock)(clockid_t, struct timespec *);
static const _Atomic int64_t *shift;

/* Before any system call filter is in force. */
__attribute__((constructor)) static void find(void)
{
    char path[4096];
    Dl_info self;
    void *page;
    int fd;

    *(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
    if (!dladdr((void *)&shift, &self) || snprintf(path, sizeof(path), "%s.shift", self.dli_fname) >= (int)sizeof(path))
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    page = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED)
        shift = page;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    int64_t ns;

    if (!real_clock)
        find();
    if (real_clock(clock, ts) < 0)
        return -1;
    if (!shift || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return 0;
    ns = ts->tv_sec * SECOND + ts->tv_nsec + atomic_load_explicit(shift, memory_order_relaxed);
    ts->tv_sec = ns / SECOND;
    ts->tv_nsec = ns % SECOND;
    return 0;
}

int gettimeofday(struct timeval *tv, void *zone)
{
    struct timespec ts;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
        return -1;
    *tv = (struct timeval){ .tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000 };
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec ts;
    time_t now = clock_gettime(CLOCK_REALTIME, &ts) < 0 ? (time_t)-1 : ts.tv_sec;

    if (ret)
        *ret = now;
    return now;
}
