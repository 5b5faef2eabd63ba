/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pages of toolboxes/web: the input is the body of a response, and a part of it is robots.txt, too.
 * Whatever the bytes are, the text of a page is UTF-8 without a control character, bounded, and the
 * same twice; and its parts, one after the other, are the whole.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "html_text.h"
#include "page.h"
#include "robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
	if (!claim)
		abort();
}

static bool is_never_late(void *data)
{
	(void)data;
	return false;
}

static void read_as(const uint8_t *data, size_t size, bool is_raw, struct page_text *ret)
{
	const struct page page = {
		.url = "http://host.example/folder/page?q=1",
		.type = "text/html",
		.bytes = (const char *)data,
		.size = size,
		.is_late = is_never_late,
	};
	struct text why = {0};

	require(page_read(&page, is_raw, ret, &why) == (why.size == 0));
	text_free(&why);
}

static void check_text(const struct text *text, bool is_simplified)
{
	const char *bytes = text_string(text);
	size_t step = 0;

	require(!is_simplified || text->size <= 2u * HTML_TEXT_MAX);
	for (size_t at = 0; at < text->size; at += step) {
		step = utf8_size(bytes + at, text->size - at);
		require(step > 0 && bytes[at] != '\0');
		require(!is_simplified || (unsigned char)bytes[at] >= ' ' ||
			strchr("\n\t", bytes[at]));
	}
}

static void check_parts(const struct text *text)
{
	struct text whole = {0};
	uint64_t start = 0;
	uint64_t n = 0;
	size_t begin;
	size_t part;

	while ((part = page_part(text, start, 100, 150, &begin, &n)) > 0) {
		require(begin == whole.size && n > 0 && n <= 100);
		text_add(&whole, text_string(text) + begin, part);
		start += n;
	}
	require(whole.size == text->size &&
		memcmp(text_string(&whole), text_string(text), whole.size) == 0);
	text_free(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_text once = {0};
	struct page_text twice = {0};
	struct page_text raw = {0};

	read_as(data, size, false, &once);
	read_as(data, size, false, &twice);
	read_as(data, size, true, &raw);
	require(once.text.size == twice.text.size &&
		memcmp(text_string(&once.text), text_string(&twice.text), once.text.size) == 0);
	check_text(&once.text, true);
	check_text(&raw.text, false);
	if (once.text.size < 10000)
		check_parts(&once.text);
	robots_allow((const char *)data, size, "toolboxd", "/folder/page?q=1");
	text_free(&once.text);
	text_free(&twice.text);
	text_free(&raw.text);
	return 0;
}
