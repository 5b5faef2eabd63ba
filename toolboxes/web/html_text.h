/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTML_TEXT_H
#define WEB_HTML_TEXT_H

#include "html_tree.h"
#include "text.h"

/* The most bytes of the text of a page. */
#define HTML_TEXT_MAX 8000000

/* Append the main part of @page as text with the marks of Markdown: headings, lists, links, tables,
 * quotes and code. Characters that a reader does not see (controls, marks of direction, tags) are
 * left out. Return whether there is any text. *ret_is_cut: some of it is missing. */
bool html_text_write(const struct html_page *page, struct text *out, bool *ret_is_cut);

#endif
