#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/mem.h"
#include "shared/cli/show_html.h"
#include "tests/support/oom.h"

static void readers_get_the_words(void **state)
{
    static const struct {
        const char *html, *shown;
    } rows[] = {
        { "<b>x</b>", "x\n" },
        { "plain", "plain\n" },
        { "a < b &amp; c", "a < b & c\n" },
        { "&lt;b&gt; &eacute; &#8364; \xe2\x82\xac &nbsp;.", "<b> \xc3\xa9 \xe2\x82\xac \xe2\x82\xac \xc2\xa0.\n" },
        { "one <i>t</i>wo\n\n  three", "one two three\n" },
        { "<p>one</p><p>two <b>three</b></p>four", "one\ntwo three\nfour\n" },
        { "a<br>b<br/>c<hr>d", "a\nb\nc\n---\nd\n" },
        { "<h1>T</h1><ul><li>a<li>b <b>c</b><ul><li>d</ul></ul>", "T\n- a\n- b c\n  - d\n" },
        { "<ol><li>a</li>\n<li><p>b</p></li></ol>", "1. a\n2. b\n" },
        { "<table><tr><th>n<th>v<tr><td>a<td>1</table>", "n  v\na  1\n" },
        { "<pre>a\n  b\tc</pre>d", "a\n  b\tc\nd\n" },
        { "<a href='https://x.example/a?b=1&amp;c'>here</a>.", "here (https://x.example/a?b=1&c).\n" },
        { "<a href='https://x.example'>https://x.example</a> <a href='javascript:alert(1)'>y</a>",
          "https://x.example y\n" },
        { "<img src=x alt='a cat'><img src=y>", "[image a cat][image]\n" },
        { "Name <input placeholder=you> <input type=hidden value=k> <button>Send</button>", "Name [you] Send\n" },
        { "<style>p{}</style><script>alert('x')</script><!-- no --><svg><text>t</text></svg>x", "x\n" },
        { "<html><head><title>T</title></head><body onload=x>y</body></html>", "y\n" },
        { "<unknown-thing>x</unknown-thing>", "x\n" },
        { "<b>unclosed <i>both", "unclosed both\n" },
        { "</p></div>x<", "x<\n" },
        { "<div><div><div></div></div></div>", "[HTML, 33 bytes]\n" },
        { "<script>x</script>", "[HTML, 18 bytes]\n" },
        { "", "[HTML, 0 bytes]\n" },
        { "<p>\x1b[31mred\x07</p>", "[31mred\n" },
        { "<p>&#27;[2J\xe2\x80\xae&#x9b;m</p>", "[2J\\u202e\\x9bm\n" },
        { "<meta charset=latin1>\xc3\xa9", "\xc3\xa9\n" },
        { "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><p>a&e;b</p>", "]>\na&e;b\n" },
    };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out;

        buf_init(&out, 1u << 20);
        show_html(rows[i].html, strlen(rows[i].html), &out);
        assert_string_equal(out.data, rows[i].shown);
    }
}

static void what_is_endless_comes_to_an_end(void **state)
{
    static const char *const pieces[] = { "<div>", "<ul><li>", "<pre>\n", "<a href='http:x'>", "<table><tr><td>", "&" };
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_LEN(pieces); i++) {
        auto_buf struct buf html, out;

        buf_init(&html, 1u << 20);
        buf_init(&out, 4u << 20);
        while (html.len < 100000)
            buf_add_str(&html, pieces[i]);
        show_html(html.data, html.len, &out);
        assert_true(out.len > 0 && out.data[out.len - 1] == '\n');
    }
}

static void what_is_too_long_is_named(void **state)
{
    auto_free char *html = mem_zalloc(SHOW_HTML_MAX + 1, 1);
    auto_buf struct buf out;

    (void)state;
    buf_init(&out, 1000);
    memset(html, 'x', SHOW_HTML_MAX + 1);
    show_html(html, SHOW_HTML_MAX + 1, &out);
    assert_string_equal(out.data, "[HTML, 4194305 bytes]\n");
}

static void short_memory_breaks_nothing(void **state)
{
    static const char html[] = "<h1>T</h1><ul><li>a<li><a href='http://b'>c</a></ul><img alt=x>";

    (void)state;
    OOM_SWEEP({
        auto_buf struct buf out;

        buf_init(&out, 1000);
        show_html(html, strlen(html), &out);
        if (!oom_hit())
            assert_string_equal(out.data, "T\n- a\n- c (http://b)\n[image x]\n");
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_get_the_words),
        cmocka_unit_test(what_is_endless_comes_to_an_end),
        cmocka_unit_test(what_is_too_long_is_named),
        cmocka_unit_test(short_memory_breaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
