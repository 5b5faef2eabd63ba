/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/glob.h"

/*
 *   pattern   g e t _ * _ a t *       The last star takes one byte more whenever the rest does not
 *                     ▲     ▲         fit. An earlier one need not: what fits after it fits later
 *   text      g e t _ x y _ a t       in the text, too.
 */
bool glob_matches(const char *pattern, size_t pattern_size, const char *text, size_t text_size)
{
	size_t at = 0;
	size_t in_text = 0;
	size_t after_star = 0; /* 0: no star yet */
	size_t taken = 0;

	while (in_text < text_size) {
		if (at < pattern_size && pattern[at] == '*') {
			after_star = ++at;
			taken = in_text;
		} else if (at < pattern_size && pattern[at] == text[in_text]) {
			at++;
			in_text++;
		} else if (after_star > 0) {
			at = after_star;
			in_text = ++taken;
		} else {
			return false;
		}
	}
	while (at < pattern_size && pattern[at] == '*')
		at++;
	return at == pattern_size;
}
