/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The functions of the tools of my_toolbox. They know nothing of JSON, messages or tools:
 * my_toolbox.json beside this file describes how each is called, and what it returns when it fails.
 *
 * They run in a process of their own. A call that crashes or hangs has no effect but an error for
 * its caller; but the values of global variables are gone then.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The longest text that repeat() makes, in bytes. */
#define REPEATED_MAX 65536

/* Count the words of @text, which white space separates. */
int32_t count_words(const char *text)
{
	bool is_inside = false;
	int32_t words = 0;

	for (; *text; text++) {
		bool is_space = isspace((unsigned char)*text);

		words += !is_space && !is_inside;
		is_inside = !is_space;
	}
	return words;
}

/* @text, so many times, as a new string that the caller frees. NULL with errno set when that would
 * be too long, or memory is short. */
char *repeat(const char *text, uint32_t times)
{
	size_t size = strlen(text);
	char *repeated;

	if (size > 0 && times > REPEATED_MAX / size) {
		errno = EMSGSIZE;
		return NULL;
	}
	repeated = malloc(size * times + 1);
	if (!repeated)
		return NULL;
	for (uint32_t i = 0; i < times; i++)
		memcpy(repeated + i * size, text, size);
	repeated[size * times] = '\0';
	return repeated;
}
