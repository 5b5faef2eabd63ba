/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `format`, where it is asserted, and the two content keywords of draft-07: checks of the text of a
 * string by the outside rule of the format.
 */
enum format_kind {
	FORMAT_TEXT,     /* `format` */
	FORMAT_ENCODING, /* `contentEncoding` */
	FORMAT_MEDIA,    /* `contentMediaType` */
};

struct format {
	enum format_kind kind;
	const char *name;
	const char *example; /* for a message */
	bool (*is_valid)(const char *text, size_t size);
	uint32_t bytes_max; /* a longer text is not looked at; 0: every text is */
	uint32_t price;     /* steps for each FORMAT_BYTES_PER_PRICE bytes of text; 0: one */
};

/* Bytes of text read by the checks of most formats in the time of one step. */
#define FORMAT_BYTES_PER_PRICE 4

/* The longest text checked as a regular expression. PCRE2 compares each name in it with all names
 * before it: 16 KiB take 4 ms, 64 KiB 40 ms. */
#define FORMAT_REGEX_BYTES_MAX 16384
#define FORMAT_REGEX_PRICE     16

/* The format called @name, or NULL for an unknown format, which asserts nothing. */
const struct format *format_find(enum format_kind kind, const char *name);

/* Return whether @text is in @encoding (NULL: none), and its content is of the type @media (NULL:
 * any). */
bool format_content_is_valid(
	const struct format *encoding, const struct format *media, const char *text, size_t size);
