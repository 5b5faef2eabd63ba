/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 65536

/* Call @function for the lines in the buffer, and leave the rest in it. */
static void take_lines(struct lines *lines, lines_function function, void *data)
{
	struct buffer *bytes = &lines->bytes;
	const char *at = bytes->data;
	const char *end = at + bytes->size;
	const char *newline;
	size_t size;

	for (; at < end && (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
		size = (size_t)(newline - at);
		if (lines->is_skipping)
			lines->is_skipping = false;
		else if (size > LINES_BYTES_MAX)
			function(data, NULL, 0);
		else if (strspn(at, " \t\r") < size)
			function(data, at, size);
	}
	bytes->size = (size_t)(end - at);
	memmove(bytes->data, at, bytes->size);
	if (lines->is_skipping || bytes->size > LINES_BYTES_MAX) {
		if (!lines->is_skipping)
			function(data, NULL, 0);
		lines->is_skipping = true;
		buffer_recycle(bytes, 0);
	}
}

bool lines_read(struct lines *lines, int fd, lines_function function, void *data)
{
	char *place = buffer_reserve(&lines->bytes, PIECE_BYTES);
	ssize_t n;

	if (!place)
		return false;
	n = read(fd, place, PIECE_BYTES);
	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	lines->bytes.size += (size_t)n;
	take_lines(lines, function, data);
	return true;
}

int lines_write(int fd, struct buffer *line)
{
	size_t at = 0;

	buffer_append_char(line, '\n');
	if (buffer_status(line) < 0)
		return buffer_status(line);
	while (at < line->size) {
		ssize_t n = write(fd, line->data + at, line->size - at);
		struct pollfd output = {.fd = fd, .events = POLLOUT};

		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			poll(&output, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -errno;
	}
	buffer_reset(line);
	return 0;
}
