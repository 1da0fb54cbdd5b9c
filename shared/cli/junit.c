#include "shared/cli/junit.h"

#include <string.h>

#include "shared/base/str.h"

#define REPORT_MAX ((size_t)60 << 20)

/* XML has no way to say most control characters. */
static bool is_sayable(int32_t cp)
{
    return cp >= 0x20 ? cp != 0xfffe && cp != 0xffff && cp != 0x7f : cp == '\t' || cp == '\n';
}

static void add_char(struct buf *out, const char *s, size_t width, int32_t cp)
{
    switch (cp) {
    case '&':
        buf_add_str(out, "&amp;");
        break;
    case '<':
        buf_add_str(out, "&lt;");
        break;
    case '>':
        buf_add_str(out, "&gt;");
        break;
    case '"':
        buf_add_str(out, "&quot;");
        break;
    default:
        if (is_sayable(cp))
            buf_add(out, s, width);
        else
            buf_add_str(out, UTF8_REPLACEMENT);
    }
}

static void add_text(struct buf *out, const char *s)
{
    size_t left = strlen(s), width;

    while (left && !buf_failed(out)) {
        int32_t cp = utf8_decode(s, left, &width);

        add_char(out, s, width, cp);
        s += width;
        left -= width;
    }
}

void junit_init(struct junit *j)
{
    *j = (struct junit){ .total = 0 };
    buf_init(&j->cases, REPORT_MAX);
}

void junit_release(struct junit *j)
{
    buf_release(&j->cases);
}

void junit_add(struct junit *j, const char *name, double seconds, const char *failure)
{
    struct buf *b = &j->cases;

    j->total++;
    j->seconds += seconds;
    buf_add_str(b, "  <testcase classname=\"scenario\" name=\"");
    add_text(b, name);
    buf_add_fmt(b, "\" time=\"%.3f\"", seconds);
    if (!failure) {
        buf_add_str(b, "/>\n");
        return;
    }
    j->failed++;
    buf_add_str(b, ">\n    <failure message=\"");
    add_text(b, name);
    buf_add_str(b, " did not go as written\">");
    add_text(b, failure);
    buf_add_str(b, "</failure>\n  </testcase>\n");
}

void junit_write(const struct junit *j, const char *suite, struct buf *out)
{
    buf_add_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"");
    add_text(out, suite);
    buf_add_fmt(out, "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\" time=\"%.3f\">\n", j->total, j->failed,
                j->seconds);
    buf_add(out, j->cases.data ? j->cases.data : "", j->cases.len);
    buf_add_str(out, "</testsuite>\n</testsuites>\n");
    if (buf_failed(&j->cases))
        out->failed = true;
}
