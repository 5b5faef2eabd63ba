/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

size_t wrap_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

size_t wrap_prefix(const char *text, size_t size, size_t columns, size_t *ret_width)
{
	mbstate_t state = {0};
	size_t width = 0;
	size_t used = 0;

	while (used < size) {
		wchar_t character;
		size_t length = mbrtowc(&character, text + used, size - used, &state);
		int more;

		if (length == 0 || length > size - used)
			break;
		more = wcwidth(character);
		if (more > 0 && width + (size_t)more > columns)
			break;
		width += more > 0 ? (size_t)more : 0;
		used += length;
	}
	*ret_width = width;
	return used;
}

/* Return how much of @text is the first line of @columns columns, without the spaces at its end. */
static size_t find_line(const char *text, size_t size, size_t columns)
{
	size_t width;
	size_t fits = wrap_prefix(text, size, columns, &width);
	size_t line = fits;

	if (fits == size)
		return size;
	while (line > 0 && text[line] != ' ')
		line--;
	while (line > 0 && text[line - 1] == ' ')
		line--;
	if (line > 0)
		return line;
	/* A long path is broken after a slash. */
	for (line = fits; line > 1 && text[line - 1] != '/';)
		line--;
	return line > 1 ? line : fits;
}

void wrap_append(struct buffer *out, const char *text, size_t size, size_t first, size_t columns,
	size_t indent)
{
	for (; columns > 0; first = columns) {
		size_t line = find_line(text, size, first);

		if (line == size || line == 0)
			break;
		buffer_append(out, text, line);
		while (line < size && text[line] == ' ')
			line++;
		text += line;
		size -= line;
		buffer_append_char(out, '\n');
		buffer_printf(out, "%*s", (int)indent, "");
	}
	buffer_append(out, text, size);
}
