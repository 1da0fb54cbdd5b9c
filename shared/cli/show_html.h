/* shared/cli/show_html.h -- HTML of an agent as text for a terminal. Pure. libxml2 reads it and is used here and
 * nowhere else; nothing is loaded, no entity of a document is expanded. */
#ifndef CLI_SHOW_HTML_H
#define CLI_SHOW_HTML_H

#include <stddef.h>

#include "shared/base/buf.h"

#define SHOW_HTML_MAX (4u << 20) /* bytes; what is longer is only named */

/* Appends lines, the last one ended too: words with one blank between, blocks on lines of their own, lists with their
 * marks, cells side by side, links with their addresses. What has no words is named. Control characters are shown as
 * \xNN. */
void show_html(const char *html, size_t len, struct buf *out);

#endif
