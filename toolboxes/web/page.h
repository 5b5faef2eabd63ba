/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "html_tree.h"
#include "text.h"

/*
 * From the bytes of a response to the part of its text that an answer has.
 *
 *   bytes ─▶ text? (else refused) ─▶ UTF-8 ─▶ HTML? its main part ─▶ a part of at most N characters
 */

/* A response. */
struct page {
	const char *url;
	const char *type; /* Content-Type, or NULL */
	const char *bytes;
	size_t size;
	bool (*is_late)(void *data);
	void *data;
};

/* Append the type that @type (NULL: none) begins with, as text/html, for a message to a model; else
 * `unknown`: a server writes there what it likes. */
void page_put_type(const char *type, struct text *out);

/* What became of it. */
struct page_text {
	struct text text;
	bool is_simplified; /* the text is the main part of an HTML page */
	bool is_empty;      /* an HTML page without any text */
	bool is_cut;        /* an HTML page with too many elements, or that took too long */
};

/* Make the text of @page; @is_raw: of HTML as well, as it is. Return false with @why when it is no
 * text. The caller frees ret->text in any case. */
bool page_read(const struct page *page, bool is_raw, struct page_text *ret, struct text *why);

/* Find the part of @text from the character @start on, with at most @max characters, and at most
 * @json_max characters as a JSON string. Return its size, with its place in *ret_begin and the
 * number of its characters in *ret_n; a start after the end has no part. */
size_t page_part(const struct text *text, uint64_t start, uint64_t max, size_t json_max,
	size_t *ret_begin, uint64_t *ret_n);

#endif
