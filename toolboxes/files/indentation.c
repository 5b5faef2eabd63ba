/* SPDX-License-Identifier: Apache-2.0 */
#include "indentation.h"

#include <string.h>

static bool begins(const char *bytes, size_t size, const char *mark)
{
	return size >= strlen(mark) && memcmp(bytes, mark, strlen(mark)) == 0;
}

struct indented indented_read(const char *bytes, size_t size)
{
	struct indented line = {0};
	size_t at = 0;

	for (; at < size && (bytes[at] == ' ' || bytes[at] == '\t'); at++)
		line.columns += bytes[at] == '\t' ? TAB_COLUMNS : 1;
	line.is_blank = at == size;
	line.is_comment = begins(bytes + at, size - at, "#") ||
			  begins(bytes + at, size - at, "//") ||
			  begins(bytes + at, size - at, "--");
	return line;
}

/* Return the indentation of the line @i; an empty line has the indentation of the line before. */
static size_t columns_of(const struct indented *lines, size_t i)
{
	while (i > 0 && lines[i].is_blank)
		i--;
	return lines[i].is_blank ? 0 : lines[i].columns;
}

/* Return the first line of the block. */
static size_t go_up(const struct indentation *wanted, const struct indented *lines, size_t anchor,
	size_t lowest, size_t max)
{
	size_t first = anchor;
	size_t level = columns_of(lines, anchor);

	while (first > 0 && anchor - first + 1 < max) {
		const struct indented *line = &lines[first - 1];
		size_t columns = columns_of(lines, first - 1);
		bool is_note = line->is_blank || line->is_comment;

		if (columns < lowest || (!wanted->has_header && is_note && columns < level))
			break;
		first--;
		if (columns == lowest && columns < level && !wanted->has_siblings && !is_note)
			break;
	}
	return first;
}

/* Return the line after the last one of the block. */
static size_t go_down(const struct indentation *wanted, const struct indented *lines, size_t n,
	size_t anchor, size_t lowest, size_t max)
{
	size_t level = columns_of(lines, anchor);
	size_t end = anchor + 1;

	while (end < n && end - anchor < max) {
		size_t columns = columns_of(lines, end);

		if (columns < lowest)
			break;
		end++;
		if (columns == lowest && columns < level && !wanted->has_siblings &&
			!lines[end - 1].is_blank)
			break;
	}
	return end;
}

void indentation_find(const struct indentation *wanted, const struct indented *lines, size_t n,
	size_t anchor, size_t max, size_t *ret_first, size_t *ret_end)
{
	size_t level = columns_of(lines, anchor);
	size_t above = wanted->max_levels * TAB_COLUMNS;
	size_t lowest = wanted->max_levels == 0 || above > level ? 0 : level - above;
	size_t first = go_up(wanted, lines, anchor, lowest, max);

	*ret_first = first;
	*ret_end = go_down(wanted, lines, n, anchor, lowest, max - (anchor - first));
}
