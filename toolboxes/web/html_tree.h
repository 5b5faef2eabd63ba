/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HTML_TREE_H
#define WEB_HTML_TREE_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * An HTML page as a bounded tree, and the part of the tree with the text that a reader came for.
 *
 *   bytes ─libxml2─▶ elements, counted ─▶ tree: at most HTML_DEPTH_MAX deep, HTML_ELEMENTS_MAX
 *                                         elements, few attributes, no scripts, no comments
 */

#define HTML_ELEMENTS_MAX 200000
/* The text of deeper elements goes to the last element above. */
#define HTML_DEPTH_MAX 256

struct html_page {
	const char *bytes; /* UTF-8, not NUL-terminated */
	size_t size;
	const char *url; /* of the page, for links */
	/* Return whether the time is over; asked now and then. */
	bool (*is_late)(void *data);
	void *data;
};

/* How an element is written. */
enum html_kind {
	HTML_INLINE, /* all that have no other kind */
	HTML_BLOCK,
	HTML_PARAGRAPH,
	HTML_HEADING,
	HTML_LIST,
	HTML_ITEM,
	HTML_DETAIL, /* of a list of terms */
	HTML_PRE,
	HTML_CODE,
	HTML_LINK,
	HTML_IMAGE,
	HTML_BREAK,
	HTML_RULE,
	HTML_QUOTE,
	HTML_TABLE,
	HTML_ROW,
	HTML_CELL,
	HTML_FRAME,  /* around the main part: navigation, footers, … */
	HTML_HEADER, /* a frame, but not of an article */
	HTML_SKIPPED /* has no text for a reader */
};

/* Return the tree of @page; NULL: there is none, or no memory. *ret_is_cut: elements are missing,
 * since there are too many, or the time is over. The caller frees it by xmlFreeDoc(). */
xmlDoc *html_tree_parse(const struct html_page *page, bool *ret_is_cut);

enum html_kind html_tree_kind(const xmlNode *node);

/* Return whether @node has no place in the text: a reader does not see it or, unless @has_frames,
 * it is around the main part. */
bool html_tree_leaves_out(const xmlNode *node, bool has_frames);

/* Return the element with the main part of @document: <main>, a single <article>, or the smallest
 * element with nearly all text outside of links. NULL: @document is empty. */
const xmlNode *html_tree_main(const xmlDoc *document);

/* Return the first element named @name in @document, or NULL. */
const xmlNode *html_tree_find(const xmlDoc *document, const char *name);

/* Return the value of the attribute @name, borrowed, or NULL. */
const char *html_tree_attribute(const xmlNode *node, const char *name);

/* Return whether @node is an element named @name. */
bool html_tree_is(const xmlNode *node, const char *name);

#endif
