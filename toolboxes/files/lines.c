/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* The blocks that are read before the time is looked at. */
#define BLOCKS_BETWEEN_LOOKS 16

/* Read the next block. Return false at the end, or with an error. */
static bool read_block(struct lines *lines)
{
	ssize_t n;

	if (++lines->n_blocks % BLOCKS_BETWEEN_LOOKS == 0 && is_late(lines->call)) {
		lines->error = -ETIME;
		return false;
	}
	do
		n = read(lines->fd, lines->block, sizeof(lines->block));
	while (n < 0 && errno == EINTR);
	lines->error = n < 0 ? -errno : 0;
	lines->at = 0;
	lines->end = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Keep the beginning of a line that crosses blocks: @size bytes of it are kept so far. */
static size_t keep_bytes(struct lines *lines, size_t size, const char *bytes, size_t more)
{
	size_t room = sizeof(lines->kept) - size;

	if (more > room)
		more = room;
	memcpy(lines->kept + size, bytes, more);
	return size + more;
}

/* Drop a CR before the line end. */
static void drop_return(struct line *line)
{
	if (line->whole_size == line->size && line->size > 0 && line->bytes[line->size - 1] == '\r')
		line->whole_size = --line->size;
}

bool lines_next(struct lines *lines, struct line *ret_line)
{
	size_t kept = 0;
	size_t whole = 0;
	bool is_crossing = false;

	for (;;) {
		const char *begin = lines->block + lines->at;
		size_t left = lines->end - lines->at;
		const char *newline = left ? memchr(begin, '\n', left) : NULL;
		size_t size = newline ? (size_t)(newline - begin) : left;
		const char *bytes = begin;

		whole += size;
		if (ret_line && (is_crossing || (!newline && size > 0))) {
			kept = keep_bytes(lines, kept, begin, size);
			bytes = lines->kept;
			is_crossing = true;
		}
		lines->at += size + (newline != NULL);
		if (!newline && read_block(lines))
			continue;
		if (!newline && (whole == 0 || lines->error))
			return false;
		if (ret_line) {
			size = is_crossing ? kept : size;
			*ret_line = (struct line){.bytes = bytes,
				.size = size > LINE_BYTES_MAX ? LINE_BYTES_MAX : size,
				.whole_size = whole};
			drop_return(ret_line);
		}
		lines->number++;
		return true;
	}
}

bool lines_has_next(struct lines *lines)
{
	return lines->at < lines->end || (!lines->error && read_block(lines));
}

void line_write(struct text *out, uint64_t number, const struct line *line)
{
	size_t characters;
	size_t size = utf8_prefix(line->bytes, line->size, LINE_CHARACTERS_MAX, &characters);

	text_printf(out, "L%llu: ", (unsigned long long)number);
	text_add_lossy(out, line->bytes, size);
	if (size < line->whole_size)
		text_printf(out, " [cut: the line has %zu bytes]", line->whole_size);
}
