#include "shared/base/time.h"

#include <stdio.h>
#include <time.h>

static int64_t clock_ms(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t time_mono_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t time_mono_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t time_boot_ms(void)
{
    return clock_ms(CLOCK_BOOTTIME);
}

int64_t time_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

void time_format_utc(int64_t wall_ms, char out[TIME_TEXT_LEN + 1])
{
    time_t sec = (time_t)(wall_ms / 1000);
    char day[32];
    struct tm tm;

    gmtime_r(&sec, &tm);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, TIME_TEXT_LEN + 1, "%.19s.%03uZ", day, (unsigned)(wall_ms % 1000) % 1000u);
}
