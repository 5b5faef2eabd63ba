/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/environment.h"
#include "util/text/text.h"
#include "util/text/visible.h"
#include "util/text/wrap.h"

#define INDENT 2

#define PLAIN "\x1b[0m"

#define TEXT_COLUMNS     80
#define TEXT_COLUMNS_MIN 20
#define TEXT_COLUMNS_MAX 100

static bool has_colours(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (no_color && *no_color)
		return false;
	return isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
}

/* Return to the beginning of the line, and clear it. */
#define TAKE_AWAY "\r\x1b[K"

static bool has_line;

void terminal_draw_line(const struct buffer *line)
{
	if (buffer_status(line) < 0)
		return;
	fputs(TAKE_AWAY, stderr);
	fwrite(line->data, 1, line->size, stderr);
	fflush(stderr);
	has_line = true;
}

void terminal_clear_line(void)
{
	if (!has_line)
		return;
	fputs(TAKE_AWAY, stderr);
	fflush(stderr);
	has_line = false;
}

bool terminal_has_line(void)
{
	return has_line;
}

#define PROGRAM "toolboxctl:"

void terminal_complain(const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer wrapped = {0};
	bool is_red = has_colours(STDERR_FILENO);
	size_t width = wrap_columns(STDERR_FILENO);
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	buffer_append_string(&line, PROGRAM " ");
	terminal_append_line(&line, buffer_text(&text), text.size);
	terminal_append_wrapped(&wrapped, buffer_text(&line), line.size,
		width > INDENT ? width - INDENT : width, INDENT);
	fflush(stdout);
	terminal_clear_line();
	if (!buffer_terminate(&wrapped) || wrapped.size < strlen(PROGRAM))
		fprintf(stderr, PROGRAM " out of memory\n");
	else
		fprintf(stderr, "%s" PROGRAM "%s%s\n", is_red ? TERMINAL_RED : "",
			is_red ? PLAIN : "", wrapped.data + strlen(PROGRAM));
}

void terminal_complain_text(struct buffer *text)
{
	if (buffer_terminate(text))
		terminal_complain("%s", text->data);
}

void terminal_complain_error(void *data, const struct diagnostic *diagnostic)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	(void)data;
	if (diagnostic->severity != DIAGNOSTIC_ERROR)
		return;
	diagnostic_write(diagnostic, &text);
	terminal_complain_text(&text);
}

void terminal_shape_finding(const char *line, size_t size, struct buffer *out)
{
	const char *error = diagnostic_severity_name(DIAGNOSTIC_ERROR);
	size_t width = wrap_columns(STDERR_FILENO);
	cleanup(buffer_deinit) struct buffer wrapped = {0};
	size_t n_red = 0;

	wrap_append(&wrapped, line, size, width, width > INDENT ? width - INDENT : 0, INDENT);
	buffer_fail_with(out, &wrapped);
	if (buffer_status(&wrapped) < 0)
		return;
	if (wrapped.size > strlen(error) && memcmp(wrapped.data, error, strlen(error)) == 0 &&
		has_colours(STDERR_FILENO))
		n_red = strlen(error);
	if (n_red > 0)
		buffer_printf(out, TERMINAL_RED "%s" PLAIN, error);
	buffer_append(out, wrapped.data + n_red, wrapped.size - n_red);
}

void terminal_print_finding(struct diagnostic_counts *counts, const struct diagnostic *finding)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer shaped = {0};

	if (wrap_columns(STDERR_FILENO) <= INDENT) {
		diagnostic_print(counts, finding);
		return;
	}
	diagnostic_count(counts, finding);
	buffer_printf(&line, "%s ", diagnostic_severity_name(finding->severity));
	diagnostic_write(finding, &text);
	terminal_append_line(&line, buffer_text(&text), text.size);
	if (buffer_status(&line) == 0)
		terminal_shape_finding(line.data, line.size, &shaped);
	fprintf(stderr, "%s\n", buffer_terminate(&shaped) ? shaped.data : "out of memory");
}

size_t terminal_width(void)
{
	return wrap_columns(STDOUT_FILENO);
}

size_t terminal_text_width(void)
{
	size_t width = terminal_width();

	if (width < TEXT_COLUMNS_MIN)
		return width == 0 ? TEXT_COLUMNS : TEXT_COLUMNS_MIN;
	return width < TEXT_COLUMNS_MAX ? width : TEXT_COLUMNS_MAX;
}

size_t terminal_height(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
		size.ws_row == 0)
		return SIZE_MAX;
	return size.ws_row;
}

const char *terminal_bold(void)
{
	return has_colours(STDOUT_FILENO) ? "\x1b[1m" : "";
}

const char *terminal_plain(void)
{
	return has_colours(STDOUT_FILENO) ? PLAIN : "";
}

bool terminal_has_utf8(void)
{
	const char *locale = environment_locale();

	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

/* Return the ASCII for the character at @text that texts of ours use, or NULL for any other;
 * *ret_size is the character's size. */
static const char *find_ascii(const char *text, size_t size, size_t *ret_size)
{
	static const struct {
		const char *character;
		const char *ascii;
	} pairs[] = {{"…", "..."}, {"–", "-"}, {"—", "-"}, {"→", "->"}, {"“", "\""}, {"”", "\""},
		{"‘", "'"}, {"’", "'"}, {"█", "#"}, {"░", "."}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		*ret_size = strlen(pairs[i].character);
		if (size >= *ret_size && memcmp(text, pairs[i].character, *ret_size) == 0)
			return pairs[i].ascii;
	}
	return NULL;
}

/* Append the characters of @size bytes of UTF-8, all but ASCII as escapes of JSON: \u00e9. */
static void append_escaped(struct buffer *out, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		mbstate_t state = {0};
		wchar_t code = 0;
		size_t length = mbrtowc(&code, text, (size_t)(end - text), &state);

		if (length == 0 || length > (size_t)(end - text) || code < 0x80) {
			buffer_append_char(out, *text++);
			continue;
		}
		if (code > 0xFFFF)
			buffer_printf(out, "\\u%04x\\u%04x",
				0xD800u + (unsigned int)((code - 0x10000) >> 10),
				0xDC00u + (unsigned int)((code - 0x10000) & 0x3FF));
		else
			buffer_printf(out, "\\u%04x", (unsigned int)code);
		text += length;
	}
}

/* Return whether stdout is a terminal that shows ASCII only. */
static bool is_ascii_terminal(void)
{
	return !terminal_has_utf8() && isatty(STDOUT_FILENO);
}

void terminal_append_line(struct buffer *out, const char *text, size_t size)
{
	const char *end = text + size;
	bool has_utf8 = terminal_has_utf8();
	bool is_escaped = is_ascii_terminal();

	while (text < end) {
		char shown[VISIBLE_BYTES] = " ";
		size_t size_shown = 1;
		size_t length;
		const char *ascii =
			has_utf8 ? NULL : find_ascii(text, (size_t)(end - text), &length);

		if (ascii) {
			buffer_append_string(out, ascii);
			text += length;
			continue;
		}
		if (*text == '\n' || *text == '\t' || *text == '\r')
			text++;
		else
			text += visible_next(text, (size_t)(end - text), shown, &size_shown);
		if (is_escaped)
			append_escaped(out, shown, size_shown);
		else
			buffer_append(out, shown, size_shown);
	}
}

void terminal_append_words(struct buffer *out, const char *text, size_t size)
{
	static const char blanks[] = " \t\r\n\v\f";
	const char *end = text + size;
	bool is_first = true;

	while (text < end) {
		const char *word = text;

		while (text < end && (*text == '\0' || !strchr(blanks, *text)))
			text++;
		if (text > word) {
			buffer_append_string(out, is_first ? "" : " ");
			terminal_append_line(out, word, (size_t)(text - word));
			is_first = false;
		}
		text += text < end;
	}
}

void terminal_append_shell_word(struct buffer *out, const char *text, size_t size)
{
	static const char plain[] = TEXT_ALPHANUMERIC "_-./,:+%=";
	size_t n_plain = 0;

	while (n_plain < size && text[n_plain] && strchr(plain, text[n_plain]))
		n_plain++;
	if (n_plain == size && size > 0) {
		buffer_append(out, text, size);
		return;
	}
	buffer_append_char(out, '\'');
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\'')
			buffer_append_string(out, "'\\''");
		else
			buffer_append_char(out, text[i]);
	}
	buffer_append_char(out, '\'');
}

void terminal_append_spaces(struct buffer *out, size_t count)
{
	while (count-- > 0)
		buffer_append_char(out, ' ');
}

void terminal_append_time(struct buffer *out, time_t moment)
{
	time_t now = time(NULL);
	struct tm parts;
	struct tm today;
	char text[64];

	localtime_r(&moment, &parts);
	localtime_r(&now, &today);
	strftime(text, sizeof(text),
		parts.tm_year == today.tm_year && parts.tm_yday == today.tm_yday ? "%H:%M:%S"
										 : "%Y-%m-%d %H:%M",
		&parts);
	buffer_append_string(out, text);
}

void terminal_append_wrapped(
	struct buffer *out, const char *text, size_t size, size_t columns, size_t indent)
{
	wrap_append(out, text, size, columns, columns, indent);
}

static void append_for_width(
	struct buffer *out, const struct buffer *text, size_t width, size_t indent, size_t hanging)
{
	buffer_fail_with(out, text);
	if (text->size == 0 || buffer_status(text) < 0)
		return;
	terminal_append_spaces(out, indent);
	wrap_append(out, text->data, text->size, width > indent ? width - indent : width,
		width > hanging ? width - hanging : width, hanging);
	buffer_append_char(out, '\n');
}

void terminal_append_paragraph(
	struct buffer *out, const struct buffer *text, size_t indent, size_t hanging)
{
	append_for_width(out, text, terminal_width(), indent, hanging);
}

void terminal_append_complaint(
	struct buffer *out, const struct buffer *text, size_t indent, size_t hanging)
{
	append_for_width(out, text, wrap_columns(STDERR_FILENO), indent, hanging);
}

void terminal_append_value(struct buffer *out, const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (token == JSON_NONE)
		return;
	if (json_type_at(tape, token) == JSON_STRING)
		json_string_decode(tape, token, &text);
	else if (json_type_at(tape, token) != JSON_NULL)
		json_write_compact(&text, tape, token);
	if (buffer_status(&text) == 0)
		terminal_append_line(out, buffer_text(&text), text.size);
}

void terminal_append_member(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key)
{
	terminal_append_value(out, tape, json_find(tape, object, key));
}

void terminal_append_text(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key)
{
	terminal_append_value(out, tape, json_find_typed_at(tape, object, key, JSON_STRING));
}

void terminal_append_tool(struct buffer *out, const struct json_tape *tape, uint32_t object)
{
	terminal_append_member(out, tape, object, "toolbox_id");
	buffer_append_char(out, '/');
	terminal_append_member(out, tape, object, "name");
}

void terminal_append_member_words(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_read_text(tape, json_find(tape, object, key), &text);
	buffer_fail_with(out, &text);
	if (text.size > 0)
		terminal_append_words(out, text.data, text.size);
}

/* Append JSON for a terminal, which stays the same JSON. */
static void append_json(struct buffer *out, const struct buffer *json)
{
	cleanup(buffer_deinit) struct buffer shown = {0};

	buffer_fail_with(out, json);
	if (buffer_status(out) < 0)
		return;
	visible_append_lines(&shown, json->data, json->size);
	buffer_fail_with(out, &shown);
	if (is_ascii_terminal() && buffer_status(&shown) == 0)
		append_escaped(out, buffer_text(&shown), shown.size);
	else
		buffer_append_buffer(out, &shown);
}

void terminal_print(const struct buffer *text)
{
	if (buffer_status(text) < 0)
		terminal_complain("%s", strerror(-buffer_status(text)));
	else if (text->size > 0)
		fwrite(text->data, 1, text->size, stdout);
}

void terminal_print_line(struct buffer *text)
{
	buffer_append_char(text, '\n');
	terminal_print(text);
}

void terminal_print_paragraph(const struct buffer *text, size_t indent, size_t hanging)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	terminal_append_paragraph(&out, text, indent, hanging);
	terminal_print(&out);
}

void terminal_print_json_text(const struct buffer *json)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!isatty(STDOUT_FILENO)) {
		terminal_print(json);
		return;
	}
	append_json(&text, json);
	terminal_print(&text);
}

void terminal_print_json(const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer json = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	json_write_indented(&json, tape, token, INDENT);
	buffer_append_char(&json, '\n');
	append_json(&text, &json);
	terminal_print(&text);
}
