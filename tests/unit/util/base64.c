/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/base64.h"
#include "util/cleanup.h"

/* RFC 4648 §10. */
static const char *const vectors[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
	{"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};

Test(base64, writes_the_vectors_of_its_rfc)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		base64_encode(vectors[i][0], strlen(vectors[i][0]), &text);
		cr_expect_str_eq(buffer_terminate(&text), vectors[i][1]);
	}
}

Test(base64, reads_the_vectors_of_its_rfc)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const char *text = vectors[i][1];
		size_t size = strlen(vectors[i][0]);
		cleanup_free char *bytes = malloc(size + 1);

		cr_assert(base64_is_valid(text, strlen(text)), "%s", text);
		cr_assert_eq(base64_decoded_size(text, strlen(text)), size, "%s", text);
		base64_decode(text, strlen(text), bytes);
		cr_expect_eq(memcmp(bytes, vectors[i][0], size), 0, "%s", text);
	}
}

/* Each in memory of its own size, so that a sanitizer detects an access past its end. */
Test(base64, reads_back_whatever_it_writes)
{
	uint32_t random = 1;

	for (size_t size = 0; size < 200; size++) {
		cleanup_free unsigned char *bytes = malloc(size ? size : 1);
		cleanup_free unsigned char *again = malloc(size ? size : 1);
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup_free char *exact = NULL;

		for (size_t i = 0; i < size; i++) {
			random = random * 1664525u + 1013904223u;
			bytes[i] = (unsigned char)(random >> 24);
		}
		base64_encode(bytes, size, &text);
		cr_assert_eq(text.size, (size + 2) / 3 * 4);
		exact = malloc(text.size ? text.size : 1);
		if (text.size > 0)
			memcpy(exact, text.data, text.size);
		cr_assert(base64_is_valid(exact, text.size));
		cr_assert_eq(base64_decoded_size(exact, text.size), size);
		base64_decode(exact, text.size, again);
		cr_expect_eq(memcmp(bytes, again, size), 0, "%zu bytes", size);
	}
}

Test(base64, has_every_byte_value)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	unsigned char bytes[256], again[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	base64_encode(bytes, sizeof(bytes), &text);
	base64_decode(text.data, text.size, again);
	cr_expect_eq(memcmp(bytes, again, sizeof(bytes)), 0);
}

Test(base64, refuses_what_is_not_exactly_it)
{
	static const char *const wrong[] = {
		"Z",        /* cut */
		"Zg",       /* not padded */
		"Zg=",      /* not enough */
		"Zg===",    /* too much */
		"Z===",     /* not a whole byte */
		"====",     /* nothing but padding */
		"Zg==Zg==", /* padded in the middle */
		"Z=8=",     /* padded before the end */
		"Zm 9v",    /* white space */
		"Zm9v\n",   /* after the text */
		" Zm9v",    /* before the text */
		"Zm9v\n\n\n\n",
		"Zm-_", /* the other alphabet */
		"Zh==", /* bits after the last byte */
		"Zm9=", /* the same */
		"Zm\xc3\xa9",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not(base64_is_valid(wrong[i], strlen(wrong[i])), "%s", wrong[i]);
	cr_expect_not(base64_is_valid("Zm9\0", 4));
	cr_expect_not(base64_is_valid("Zm9v\0\0\0\0", 8));
}

Test(base64, takes_its_64_characters_and_no_other)
{
	unsigned int count = 0;

	for (unsigned int byte = 0; byte < 256; byte++) {
		char text[4] = {(char)byte, 'A', 'A', 'A'};

		count += base64_is_valid(text, sizeof(text));
	}
	cr_expect_eq(count, 64);
}
