/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 65536

/* Call @function for the text of one line, unless it is blank. */
static void give_line(const char *text, size_t size, lines_function function, void *data)
{
	if (size > LINES_BYTES_MAX)
		function(data, NULL, 0);
	else if (strspn(text, " \t\r") < size)
		function(data, text, size);
}

/* Take the next line of the buffer. Return whether there was a whole one. */
static bool take_first_line(struct lines *lines, lines_function function, void *data)
{
	const char *text = lines->bytes.data + lines->n_taken;
	size_t left = lines->bytes.size - lines->n_taken;
	const char *newline = left > 0 ? memchr(text, '\n', left) : NULL;
	size_t size;

	if (!newline)
		return false;
	size = (size_t)(newline - text);
	lines->n_taken += size + 1;
	if (lines->is_skipping)
		lines->is_skipping = false;
	else
		give_line(text, size, function, data);
	return true;
}

/* Drop what was taken from the buffer, and a part of a line that is too long. */
static void drop_taken(struct lines *lines, lines_function function, void *data)
{
	struct buffer *bytes = &lines->bytes;

	bytes->size -= lines->n_taken;
	if (bytes->size > 0)
		memmove(bytes->data, bytes->data + lines->n_taken, bytes->size);
	lines->n_taken = 0;
	if (lines->is_skipping || bytes->size > LINES_BYTES_MAX) {
		if (!lines->is_skipping)
			function(data, NULL, 0);
		lines->is_skipping = true;
		buffer_recycle(bytes, 0);
	}
}

/* Read once. Return the number of bytes, 0 at the end of the input, or a negative errno. */
static ssize_t read_piece(struct lines *lines, int fd)
{
	char *place = buffer_reserve(&lines->bytes, PIECE_BYTES);
	ssize_t n;

	if (!place)
		return -ENOMEM;
	n = read(fd, place, PIECE_BYTES);
	if (n < 0)
		return -errno;
	lines->bytes.size += (size_t)n;
	return n;
}

/* Take what is left at the end of the input: a line without an end. Return whether there was
 * one. */
static bool take_rest(struct lines *lines, lines_function function, void *data)
{
	bool is_line = lines->bytes.size > 0 && !lines->is_skipping;

	if (is_line)
		give_line(lines->bytes.data, lines->bytes.size, function, data);
	buffer_recycle(&lines->bytes, 0);
	return is_line;
}

bool lines_read(struct lines *lines, int fd, lines_function function, void *data)
{
	ssize_t n = read_piece(lines, fd);

	if (n == 0)
		take_rest(lines, function, data);
	if (n <= 0)
		return n == -EINTR || n == -EAGAIN;
	while (take_first_line(lines, function, data))
		continue;
	drop_taken(lines, function, data);
	return true;
}

int lines_next(struct lines *lines, int fd, lines_function function, void *data)
{
	while (!take_first_line(lines, function, data)) {
		ssize_t n;

		drop_taken(lines, function, data);
		n = read_piece(lines, fd);
		if (n == 0)
			return take_rest(lines, function, data);
		if (n < 0 && n != -EINTR)
			return (int)n;
	}
	return 1;
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
