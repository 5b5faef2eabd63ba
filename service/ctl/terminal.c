/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"
#define INDENT      2

static bool has_colours(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (no_color && *no_color)
		return false;
	return isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
}

void terminal_complain(const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	bool is_red = has_colours(STDERR_FILENO);
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	terminal_append_line(&line, text.data ? text.data : "", text.size);
	fflush(stdout);
	fprintf(stderr, "%stoolboxctl:%s %.*s\n", is_red ? "\x1b[31m" : "", is_red ? "\x1b[0m" : "",
		(int)line.size, line.data ? line.data : "out of memory");
}

size_t terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

const char *terminal_bold(void)
{
	return has_colours(STDOUT_FILENO) ? "\x1b[1m" : "";
}

const char *terminal_plain(void)
{
	return has_colours(STDOUT_FILENO) ? "\x1b[0m" : "";
}

size_t terminal_text_prefix(const char *text, size_t size, size_t columns, size_t *ret_width)
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

/* Return whether a character is C0, DEL or C1, which a terminal could obey. */
static bool is_control(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0];

	if (length == 1)
		return first < 0x20 || first == 0x7F;
	return first == 0xC2 && (unsigned char)text[1] < 0xA0;
}

void terminal_append_line(struct buffer *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		size_t length = utf8_sequence_length(text, (size_t)(end - text));

		if (*text == '\n' || *text == '\t' || *text == '\r')
			buffer_append_char(out, ' ');
		else if (length == 0 || is_control(text, length))
			buffer_append_string(out, REPLACEMENT);
		else
			buffer_append(out, text, length);
		text += length > 0 ? length : 1;
	}
}

void terminal_append_value(struct buffer *out, const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_type_at(tape, token) == JSON_STRING)
		json_string_decode(tape, token, &text);
	else if (json_type_at(tape, token) != JSON_NULL)
		json_write_compact(&text, tape, token);
	if (buffer_status(&text) == 0)
		terminal_append_line(out, text.data ? text.data : "", text.size);
}

void terminal_print(const struct buffer *text)
{
	if (buffer_status(text) < 0)
		terminal_complain("%s", strerror(-buffer_status(text)));
	else if (text->size > 0)
		fwrite(text->data, 1, text->size, stdout);
}

/* JSON may have U+0080 to U+009F and DEL as they are; they are printed as escapes. */
static void append_escaped(struct buffer *out, const struct buffer *json)
{
	const char *end = json->data + json->size;

	for (const char *text = json->data; text < end;) {
		size_t length = utf8_sequence_length(text, (size_t)(end - text));
		unsigned char last = (unsigned char)text[length - 1];

		if (*text != '\n' && is_control(text, length))
			buffer_printf(out, "\\u%04x", last);
		else
			buffer_append(out, text, length);
		text += length;
	}
}

void terminal_print_json(const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer json = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	json_write_indented(&json, tape, token, INDENT);
	buffer_append_char(&json, '\n');
	if (buffer_status(&json) == 0)
		append_escaped(&text, &json);
	else
		text.error = buffer_status(&json);
	terminal_print(&text);
}
