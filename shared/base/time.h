/* shared/base/time.h -- clocks. Deadlines use the monotonic one, so a changed wall clock moves nothing. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdint.h>

#define TIME_TEXT_LEN 24 /* 2026-01-31T12:00:00.123Z */

int64_t time_mono_ms(void); /* milliseconds since some start, never steps back */
int64_t time_mono_us(void); /* the same in microseconds, for measuring */
int64_t time_boot_ms(void); /* as time_mono_ms(), and goes on while the machine sleeps */
int64_t time_wall_ms(void); /* milliseconds since 1970-01-01 UTC */
void time_format_utc(int64_t wall_ms, char out[TIME_TEXT_LEN + 1]); /* RFC 3339, UTC, milliseconds */

#endif
