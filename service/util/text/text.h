/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Return the distance of two names: the least number of inserted, removed, replaced or swapped
 * neighbouring bytes (restricted Damerau–Levenshtein), ignoring case; at most @most + 1. Names of
 * more than TEXT_NAME_BYTES count as far apart.
 */
#define TEXT_NAME_BYTES 128
unsigned int text_distance(
	const char *a, size_t a_size, const char *b, size_t b_size, unsigned int most);

/* Return whether @candidate is near enough to @name to be suggested instead of it. A third of the
 * longer name may differ; a name with the other one inside (at least 3 bytes) is near, too.
 * @ret_distance is the distance, for sorting (0 is nearest), and is written only if it is near. */
bool text_is_near(const char *name, size_t name_size, const char *candidate, size_t candidate_size,
	unsigned int *ret_distance);

/* As text_is_near(), but return true only if @candidate is nearer than the distance @than. The
 * smaller @than, the cheaper the comparison: its work, about the nanoseconds, is added to *work. */
bool text_is_nearer(const char *name, size_t name_size, const char *candidate,
	size_t candidate_size, unsigned int than, unsigned int *ret_distance, size_t *work);

/* Compare two elements of an array, for qsort() and bsearch(): texts, or structures whose first
 * member is a text. */
int text_compare(const void *a, const void *b);

/* Cut the white space off both ends of @text. Return its new start. */
char *text_trim(char *text);

/* Write @url, or a part of one from its path on, for people: with `***` in place of the name and
 * the password before the host, and of each value in the query. */
#define TEXT_MASKED_BYTES(size) (3 * (size) + 8) /* at most, with the NUL, of @size bytes */
void text_mask_url(const char *url, char *ret_masked);

/* As text_mask_url(), but return the text, which the caller frees. NULL when memory is short. */
char *text_mask_url_dup(const char *url);

/* The text in place of a secret. */
#define TEXT_MASK "***"

/* Return the next value in the query of a URL from @at on, and its size, or NULL. */
const char *text_next_value(const char *at, size_t *ret_size);

/* Return whether the line of @size bytes is a frame of a stack trace as Node, Java and Rust print
 * it: blanks, then "at ". The reason of a failure is before the frames. */
bool text_is_stack_frame(const char *line, size_t size);

/* The letters and digits of ASCII, for strspn(). */
#define TEXT_ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Return how many bytes at the beginning of @text a name may have: letters and digits of ASCII, '_'
 * and '-'. For so many characters strspn() makes a table, at each call. */
size_t text_span_name(const char *text);

/* Return whether @c is a digit of ASCII. */
static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return whether @c is a letter of ASCII, or a digit, too. */
static inline bool text_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool text_is_alphanumeric(char c)
{
	return text_is_letter(c) || text_is_digit(c);
}

/* Return the value of the hexadecimal digit @c, or -1. */
static inline int text_hex_value(char c)
{
	if (text_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Read the @size bytes whose hexadecimal digits are the @text_size bytes at @text. Return false for
 * other text. */
static inline bool text_read_hex(
	const char *text, size_t text_size, unsigned char *ret_bytes, size_t size)
{
	if (text_size != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		int high = text_hex_value(text[2 * i]);
		int low = text_hex_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret_bytes[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

/* Write the 2 * @size lower-case hexadecimal digits of @bytes, and a NUL, to @ret. */
static inline void text_write_hex(const unsigned char *bytes, size_t size, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 0xF];
	}
	ret[2 * size] = '\0';
}
