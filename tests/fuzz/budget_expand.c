/* SPDX-License-Identifier: Apache-2.0 */
#include "budget_expand.h"

#define REPEAT '\x01'
#define END    '\x02'
#define NUMBER '\x03'
#define NEXT   '\x04'
#define NESTED 3
#define DIGITS 10

struct expansion {
	struct buffer *out;
	size_t most;
};

/* Return where the repetition whose text begins at @at ends: its END, or @end. */
static const char *find_end(const char *at, const char *end)
{
	unsigned int depth = 0;

	for (; at < end; at++) {
		if (*at == REPEAT)
			depth++;
		else if (*at == END && depth-- == 0)
			return at;
	}
	return end;
}

/* Expand the text from @at to @end in repetition @number. False when it is too large. */
static bool expand(const struct expansion *expansion, const char *at, const char *end,
	unsigned int number, unsigned int depth)
{
	while (at < end) {
		if (expansion->out->size > expansion->most)
			return false;
		if (*at == REPEAT && end - at >= 2 && depth < NESTED) {
			const char *inner_end = find_end(at + 2, end);
			unsigned int count = 1u << 2 * ((unsigned char)(at[1] - '0') % DIGITS);

			for (unsigned int i = 0; i < count; i++) {
				if (!expand(expansion, at + 2, inner_end, i, depth + 1))
					return false;
				if (at + 2 == inner_end)
					break;
			}
			at = inner_end;
		} else if (*at == NUMBER || *at == NEXT) {
			buffer_printf(expansion->out, "%u", number + (*at == NEXT));
		} else if (*at != REPEAT && *at != END) {
			buffer_append_char(expansion->out, *at);
		}
		at++;
	}
	return expansion->out->size <= expansion->most;
}

bool budget_expand(const char *text, size_t size, size_t most, struct buffer *out)
{
	const struct expansion expansion = {out, most};

	return expand(&expansion, text, text + size, 0, 0) && buffer_status(out) == 0;
}
