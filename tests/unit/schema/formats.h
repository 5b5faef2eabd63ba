/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tables of texts that are of a format, and of texts that are not. */

typedef bool (*format_function)(const char *text, size_t size);

/* Judge a copy of exactly the @size bytes, so that a sanitizer sees a read outside. */
static inline bool judge_format(format_function is_valid, const char *text, size_t size)
{
	char *copy = malloc(size ? size : 1);
	bool is_good;

	cr_assert_not_null(copy);
	memcpy(copy, text, size);
	is_good = is_valid(copy, size);
	free(copy);
	return is_good;
}

static inline void expect_formats(
	format_function is_valid, const char *const *texts, size_t n, bool expected)
{
	for (size_t i = 0; i < n; i++)
		cr_expect_eq(judge_format(is_valid, texts[i], strlen(texts[i])), expected, "'%s'",
			texts[i]);
}

/* Expect each of the texts @good to be valid, and none of @bad; nor a good one that is cut or has a
 * NUL or a line feed after it. */
#define EXPECT_FORMAT(is_valid, good, bad)                                                         \
	do {                                                                                       \
		expect_formats(is_valid, good, sizeof(good) / sizeof(*(good)), true);              \
		expect_formats(is_valid, bad, sizeof(bad) / sizeof(*(bad)), false);                \
		for (size_t i_ = 0; i_ < sizeof(good) / sizeof(*(good)); i_++)                     \
			expect_no_tail(is_valid, (good)[i_]);                                      \
	} while (0)

static inline void expect_no_tail(format_function is_valid, const char *text)
{
	static const char tails[] = {'\0', '\n', ' ', '\x7f', '\xff'};
	size_t size = strlen(text);
	char *copy = malloc(size + 1);

	cr_assert_not_null(copy);
	memcpy(copy, text, size);
	for (size_t i = 0; i < sizeof(tails); i++) {
		copy[size] = tails[i];
		cr_expect_not(judge_format(is_valid, copy, size + 1), "'%s' and %02x", text,
			(unsigned char)tails[i]);
	}
	free(copy);
}
