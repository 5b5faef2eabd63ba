/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/language_tag.h"

#include <strings.h>

/* Return the size of @tag up to its last hyphen; 0 without one. */
static size_t find_last_hyphen(struct text_view tag)
{
	size_t size = tag.size;

	while (size > 0 && tag.text[size - 1] != '-')
		size--;
	return size > 0 ? size - 1 : 0;
}

struct text_view language_tag_shorten(struct text_view tag)
{
	tag.size = find_last_hyphen(tag);
	if (tag.size >= 2 && tag.text[tag.size - 2] == '-')
		tag.size -= 2;
	return tag.size > 0 ? tag : (struct text_view){0};
}

bool language_tag_equals(struct text_view tag, const char *text, size_t size)
{
	return tag.size == size && strncasecmp(tag.text, text, size) == 0;
}
