/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_patterns.h"

#include <string.h>

#include "util/utf8.h"

const char *const patterns[] = {"^a", "b$", "^[ab]*$", "a|c", "^.{2,3}$", NULL};

static bool only_ab(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != 'a' && text[i] != 'b')
			return false;
	}
	return true;
}

bool patterns_match(int which, const char *text, size_t size)
{
	size_t points = utf8_count(text, size);

	switch (which) {
	case 0:
		return size > 0 && text[0] == 'a';
	case 1:
		return size > 0 && text[size - 1] == 'b';
	case 2:
		return only_ab(text, size);
	case 3:
		return size > 0 && (memchr(text, 'a', size) || memchr(text, 'c', size));
	default:
		return points >= 2 && points <= 3 && !memchr(text, '\n', size) &&
		       !memchr(text, '\r', size) && !memmem(text, size, "\xe2\x80\xa8", 3) &&
		       !memmem(text, size, "\xe2\x80\xa9", 3);
	}
}
