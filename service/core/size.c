/* SPDX-License-Identifier: Apache-2.0 */
#include "core/size.h"

#include "json/writer.h"
#include "util/utf8.h"

bool size_write_result(struct buffer *out, const char *result, size_t size, uint32_t max)
{
	size_t points;

	/* No text has more code points than bytes: the usual result is not even counted. */
	if (size <= max) {
		buffer_append(out, result, size);
		return false;
	}
	points = utf8_count(result, size);
	if (points <= max) {
		buffer_append(out, result, size);
		return false;
	}
	buffer_printf(out,
		"{\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":%zu,"
		"\"max_chars\":%u,\"hint\":\"The result has %zu characters, %u are allowed: ask "
		"for less, or raise result_max_chars.\",\"head\":",
		points, max, points, max);
	json_write_string(out, result, utf8_prefix(result, size, max));
	buffer_append_char(out, '}');
	return true;
}

size_t size_cut_text(const char *text, size_t size, uint32_t max)
{
	return size <= max ? size : utf8_prefix(text, size, max);
}
