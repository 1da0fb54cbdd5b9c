#include "shared/cli/show_html.h"

#include <libxml/HTMLparser.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/str.h"
#include "shared/cli/cli.h"

#define INDENT_MAX 8 /* lists in lists */
#define TEXT_MAX (2 * SHOW_HTML_MAX)

enum kind {
    INLINE, /* also everything unknown */
    BLOCK,  /* on lines of its own */
    ITEM,
    LIST,
    CELL,
    BREAK,
    RULE,
    LINK,
    PICTURE,
    FIELD,
    HIDDEN, /* no words of it are for readers */
};

struct page {
    struct buf *out;
    struct buf line; /* what is not yet ended */
    unsigned lists, preformatted;
    bool blank;  /* one is due before the next word */
    bool marked; /* the line ends with a mark, which needs no blank behind it */
};

static enum kind kind_of(const xmlNode *node)
{
    static const struct {
        const char *name;
        enum kind kind;
    } rows[] = {
        { "p", BLOCK },          { "div", BLOCK },        { "h1", BLOCK },      { "h2", BLOCK },
        { "h3", BLOCK },         { "h4", BLOCK },         { "h5", BLOCK },      { "h6", BLOCK },
        { "pre", BLOCK },        { "blockquote", BLOCK }, { "table", BLOCK },   { "tr", BLOCK },
        { "caption", BLOCK },    { "section", BLOCK },    { "article", BLOCK }, { "header", BLOCK },
        { "footer", BLOCK },     { "main", BLOCK },       { "nav", BLOCK },     { "aside", BLOCK },
        { "form", BLOCK },       { "fieldset", BLOCK },   { "legend", BLOCK },  { "details", BLOCK },
        { "summary", BLOCK },    { "figure", BLOCK },     { "dt", BLOCK },      { "address", BLOCK },
        { "figcaption", BLOCK }, { "dl", BLOCK },         { "dd", ITEM },       { "option", ITEM },
        { "select", LIST },      { "li", ITEM },          { "ul", LIST },       { "ol", LIST },
        { "td", CELL },          { "th", CELL },          { "br", BREAK },      { "hr", RULE },
        { "a", LINK },           { "img", PICTURE },      { "input", FIELD },   { "script", HIDDEN },
        { "style", HIDDEN },     { "head", HIDDEN },      { "title", HIDDEN },  { "template", HIDDEN },
        { "iframe", HIDDEN },    { "object", HIDDEN },    { "svg", HIDDEN },    { "noscript", HIDDEN },
    };
    size_t i;

    for (i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp((const char *)node->name, rows[i].name) == 0)
            return rows[i].kind;
    return INLINE;
}

static void end_line(struct page *p)
{
    if (p->line.len) {
        buf_add(p->out, p->line.data, p->line.len);
        buf_add_char(p->out, '\n');
    }
    buf_clear(&p->line);
    p->blank = false;
    p->marked = false;
}

static void add_raw(struct page *p, const char *s)
{
    if (p->blank && p->line.len && !p->marked)
        buf_add_char(&p->line, ' ');
    cli_add_plain(&p->line, s, strlen(s), false);
    p->blank = false;
    p->marked = false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void add_words(struct page *p, const char *s)
{
    while (*s) {
        size_t n = 0;

        if (is_space(*s)) {
            p->blank = true;
            s++;
            continue;
        }
        while (s[n] && !is_space(s[n]))
            n++;
        if (p->blank && p->line.len && !p->marked)
            buf_add_char(&p->line, ' ');
        cli_add_plain(&p->line, s, n, false);
        p->blank = false;
        p->marked = false;
        s += n;
    }
}

/* As it stands, line for line. */
static void add_preformatted(struct page *p, const char *s)
{
    for (;;) {
        size_t n = strcspn(s, "\n");

        cli_add_plain(&p->line, s, n, false);
        if (!s[n])
            return;
        end_line(p);
        s += n + 1;
    }
}

/* A copy for one use, "" where the element has none; xmlFree() it when it is not NULL. */
static char *attribute(xmlNode *node, const char *name)
{
    return (char *)xmlGetProp(node, (const xmlChar *)name);
}

static void add_named(struct page *p, const char *what, const char *text)
{
    add_raw(p, "[");
    if (*what)
        add_raw(p, what);
    p->blank = *what && text && *text;
    add_words(p, text ? text : "");
    p->blank = false;
    add_raw(p, "]");
}

static void enter_item(struct page *p, const xmlNode *node)
{
    const xmlNode *before;
    unsigned number = 1;

    end_line(p);
    buf_add_repeat(&p->line, ' ', 2 * (p->lists > INDENT_MAX ? INDENT_MAX : p->lists ? p->lists - 1 : 0));
    if (node->parent && strcmp((const char *)node->parent->name, "ol") == 0) {
        for (before = node->prev; before; before = before->prev)
            number += before->type == XML_ELEMENT_NODE && number < 10000;
        buf_add_fmt(&p->line, "%u. ", number);
    } else {
        buf_add_str(&p->line, "- ");
    }
    p->marked = true;
}

static void enter_field(struct page *p, xmlNode *node)
{
    char *value = attribute(node, "value"), *hint = attribute(node, "placeholder"), *type = attribute(node, "type");

    if (!type || strcmp(type, "hidden") != 0)
        add_named(p, "", value && *value ? value : hint && *hint ? hint : "   ");
    xmlFree(value);
    xmlFree(hint);
    xmlFree(type);
}

/* False: what is inside is not for readers. */
static bool enter(struct page *p, xmlNode *node)
{
    enum kind kind = kind_of(node);
    char *alt;

    if ((kind == BLOCK && !p->marked) || kind == LIST || kind == RULE || kind == BREAK)
        end_line(p);
    p->lists += kind == LIST;
    p->preformatted += strcmp((const char *)node->name, "pre") == 0;
    if (kind == ITEM) {
        enter_item(p, node);
    } else if (kind == CELL && p->line.len) {
        p->blank = false;
        buf_add_str(&p->line, "  ");
        p->marked = true;
    } else if (kind == RULE) {
        add_raw(p, "---");
        end_line(p);
    } else if (kind == FIELD) {
        enter_field(p, node);
    } else if (kind == PICTURE) {
        alt = attribute(node, "alt");
        add_named(p, "image", alt);
        xmlFree(alt);
    }
    return kind != HIDDEN;
}

/* Only addresses that a reader can use; not the text's own. */
static void leave_link(struct page *p, xmlNode *node)
{
    char *to = attribute(node, "href"), *text = (char *)xmlNodeGetContent(node);

    if (to && text && (str_starts(to, "http:") || str_starts(to, "https:") || str_starts(to, "mailto:")) &&
        strcmp(to, text) != 0) {
        p->blank = true;
        add_raw(p, "(");
        add_raw(p, to);
        add_raw(p, ")");
    }
    xmlFree(to);
    xmlFree(text);
}

static void leave(struct page *p, xmlNode *node)
{
    enum kind kind = kind_of(node);

    if (kind == LINK)
        leave_link(p, node);
    if (kind == BLOCK || kind == LIST || kind == ITEM)
        end_line(p);
    p->lists -= kind == LIST;
    p->preformatted -= strcmp((const char *)node->name, "pre") == 0;
}

/* Without recursion: a page may nest as deep as it is long. */
static void walk(struct page *p, xmlNode *root)
{
    xmlNode *node = root;

    while (node) {
        bool inside = false;

        if (node->type == XML_ELEMENT_NODE)
            inside = enter(p, node);
        else if (node->type == XML_TEXT_NODE && p->preformatted)
            add_preformatted(p, (const char *)node->content);
        else if (node->type == XML_TEXT_NODE)
            add_words(p, (const char *)node->content);
        if (inside && node->children) {
            node = node->children;
            continue;
        }
        if (node->type == XML_ELEMENT_NODE)
            leave(p, node);
        while (node != root && !node->next) {
            node = node->parent;
            leave(p, node);
        }
        node = node == root ? NULL : node->next;
    }
}

void show_html(const char *html, size_t len, struct buf *out)
{
    struct page p = { .out = out };
    size_t before = out->len;
    htmlDocPtr doc = NULL;

    buf_init(&p.line, TEXT_MAX);
    if (len <= SHOW_HTML_MAX)
        doc = htmlReadMemory(html, (int)len, NULL, "UTF-8",
                             HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    if (doc) {
        walk(&p, xmlDocGetRootElement(doc));
        end_line(&p);
    }
    xmlFreeDoc(doc);
    buf_release(&p.line);
    if (out->len == before)
        buf_add_fmt(out, "[HTML, %zu bytes]\n", len);
}
