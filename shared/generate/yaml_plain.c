/* Plain scalars that PyYAML takes for a date or a number, and then cannot make one of: the agent would not start. */
#include <string.h>

#include "shared/base/str.h"
#include "shared/generate/yaml_tree.h"

#define DIGITS_MAX 4300      /* of a decimal number: CPython reads no longer ones */
#define SEXAGESIMALS_MAX 173 /* colons of a fraction: 60 to the power of more is no float */

/* From min to max digits at *at, which moves behind them; -1: others. */
static int take_digits(const char **at, size_t min, size_t max)
{
    size_t n = strspn(*at, "0123456789"), i;
    int value = 0;

    if (n < min || n > max)
        return -1;
    for (i = 0; i < n; i++)
        value = value * 10 + (*at)[i] - '0';
    *at += n;
    return value;
}

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool is_date(int year, int month, int day)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (leap && month == 2);
}

/* "10:00:00.5 +2:00" to the end. -1: it is not written like that; else whether there is such a time. */
static int is_time(const char *s)
{
    int hour, minute, second, off_hours = 0, off_minutes = 0;

    if ((hour = take_digits(&s, 1, 2)) < 0 || !take(&s, ':') || (minute = take_digits(&s, 2, 2)) < 0 ||
        !take(&s, ':') || (second = take_digits(&s, 2, 2)) < 0)
        return -1;
    if (take(&s, '.'))
        s += strspn(s, "0123456789");
    if (*s) {
        s += strspn(s, " ");
        if (!take(&s, 'Z')) {
            if (!take(&s, '+') && !take(&s, '-'))
                return -1;
            off_hours = take_digits(&s, 1, 2);
            if (off_hours < 0 || (take(&s, ':') && (off_minutes = take_digits(&s, 2, 2)) < 0))
                return -1;
        }
        if (*s)
            return -1;
    }
    return hour < 24 && minute < 60 && second < 60 && off_hours * 60 + off_minutes < 24 * 60;
}

static bool is_no_such_date(const char *s)
{
    const char *at = s;
    int year, month, day, time = 1;
    bool full;

    if ((year = take_digits(&at, 4, 4)) < 0 || !take(&at, '-') || (month = take_digits(&at, 1, 2)) < 0 ||
        !take(&at, '-') || (day = take_digits(&at, 1, 2)) < 0)
        return false;
    full = at - s == 10;
    if (*at == 't' || *at == 'T')
        time = is_time(at + 1);
    else if (*at == ' ') /* what holds a tab is written in quotes */
        time = is_time(at + strspn(at, " "));
    else if (*at || !full)
        return false;
    return time >= 0 && (!time || !is_date(year, month, day));
}

static bool is_no_such_number(const char *s)
{
    size_t len, i, digits = 0, colons = 0;

    s += *s == '-' || *s == '+';
    if (s[0] == '0' && (s[1] == 'b' || s[1] == 'x'))
        return s[2] && !s[2 + strspn(s + 2, "_")];
    len = strspn(s, "0123456789_");
    for (i = 0; i < len; i++)
        digits += s[i] != '_';
    for (; s[len] == ':'; colons++)
        len += 1 + strspn(s + len + 1, "0123456789");
    if (s[len] == '.')
        return colons > SEXAGESIMALS_MAX && !s[len + 1 + strspn(s + len + 1, "0123456789_")];
    return *s >= '1' && *s <= '9' && digits > DIGITS_MAX && !s[len];
}

bool ytree_plain_is_sound(const char *text, bool key)
{
    if (!key && (str_eq(text, "=") || str_eq(text, "<<")))
        return false;
    return !is_no_such_date(text) && !is_no_such_number(text);
}
