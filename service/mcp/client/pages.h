/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * A list of tools in pages. A server may page for ever, so the list ends at a bound, or at a
 * repeated cursor; the tools up to there are kept.
 */
#define MCP_PAGES_MAX      1000
#define MCP_LIST_BYTES_MAX ((size_t)64 << 20)

/* Zero it before use; free it with mcp_pages_deinit(). */
struct mcp_pages {
	struct buffer tools; /* the array as JSON, open; nothing while it has no element */
	size_t bytes;        /* the size of all pages */
	unsigned int n_pages;
	uint64_t ttl_ms;    /* the time for which the last page may be kept; 0: unknown */
	const char *reason; /* the bound at the end of the list; NULL: none */
	uint64_t cursors[MCP_PAGES_MAX]; /* hashes of the cursors */
};

enum mcp_page_status {
	MCP_PAGE_LAST,
	MCP_PAGE_MORE,  /* there is one with *ret_cursor */
	MCP_PAGE_WRONG, /* it is no result of tools/list */
};

/*
 * Add the page in the object @result (JSON_NONE: not an object) of @tape, of @size bytes in all.
 * *ret_cursor: of the next page, as JSON in the tape's text.
 */
enum mcp_page_status mcp_pages_add(struct mcp_pages *pages, const struct json_tape *tape,
	uint32_t result, size_t size, struct text_view *ret_cursor);

/* Close the array after the last page and return it (see buffer_status() of the tools). */
struct text_view mcp_pages_end(struct mcp_pages *pages);

/* Forget the pages. A long list does not keep its memory. */
void mcp_pages_reset(struct mcp_pages *pages);

void mcp_pages_deinit(struct mcp_pages *pages);
