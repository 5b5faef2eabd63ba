/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_patterns.h"

#include <string.h>

#include "util/text/utf8.h"

const char *const patterns[] = {"^a", "b$", "^[ab]*$", "a|c", "^.{2,3}$", "^[ab]+[^a]?b$", NULL};

static bool only_ab(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != 'a' && text[i] != 'b')
			return false;
	}
	return true;
}

/* One character or more of "ab", perhaps a character other than "a", and "b". */
static bool ends_in_b(const char *text, size_t size)
{
	size_t last = size - 1;

	if (size < 2 || text[last] != 'b')
		return false;
	if (only_ab(text, last))
		return true;
	for (last--; last > 0 && ((unsigned char)text[last] & 0xC0) == 0x80; last--)
		;
	return last > 0 && text[last] != 'a' && only_ab(text, last);
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
	case 5:
		return ends_in_b(text, size);
	default:
		return points >= 2 && points <= 3 && !memchr(text, '\n', size) &&
		       !memchr(text, '\r', size) && !memmem(text, size, "\xe2\x80\xa8", 3) &&
		       !memmem(text, size, "\xe2\x80\xa9", 3);
	}
}
