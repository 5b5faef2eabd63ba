/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for @more bytes and a NUL. */
static bool make_text_room(struct text *text, size_t more)
{
	size_t room = text->room ? text->room : 256;
	char *data;

	if (text->has_failed || more >= SIZE_MAX / 4 - text->size) {
		text->has_failed = true;
		return false;
	}
	while (room <= text->size + more)
		room *= 2;
	if (room == text->room)
		return true;
	data = realloc(text->data, room);
	if (!data) {
		text->has_failed = true;
		return false;
	}
	text->data = data;
	text->room = room;
	return true;
}

void text_add(struct text *text, const char *bytes, size_t size)
{
	if (!make_text_room(text, size))
		return;
	if (size > 0)
		memcpy(text->data + text->size, bytes, size);
	text->size += size;
	text->data[text->size] = '\0';
}

void text_put(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0 || !make_text_room(text, (size_t)size))
		return;
	va_start(arguments, format);
	vsnprintf(text->data + text->size, (size_t)size + 1, format, arguments);
	va_end(arguments);
	text->size += (size_t)size;
}

/* RFC 8259, section 7. */
static void add_escape(struct text *text, char character)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *found = named;

	while (*found && *found != character)
		found += 2;
	if (*found)
		text_printf(text, "\\%c", found[1]);
	else
		text_printf(text, "\\u%04x", (unsigned int)(unsigned char)character);
}

void text_add_json(struct text *text, const char *bytes, size_t size)
{
	size_t begin = 0;

	text_put(text, "\"");
	for (size_t at = 0; at < size; at++) {
		if ((unsigned char)bytes[at] >= ' ' && bytes[at] != '"' && bytes[at] != '\\')
			continue;
		text_add(text, bytes + begin, at - begin);
		add_escape(text, bytes[at]);
		begin = at + 1;
	}
	text_add(text, bytes + begin, size - begin);
	text_put(text, "\"");
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

/* ── UTF-8 ───────────────────────────────────────────────────────────────────────────────────── */

/* The Unicode Standard, table 3-7: well-formed sequences. */
size_t utf8_size(const char *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	unsigned char low = 0x80;
	unsigned char high = 0xBF;
	size_t n;

	if (size == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xC2 || at[0] > 0xF4)
		return 0;
	n = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
	if (at[0] == 0xE0)
		low = 0xA0;
	if (at[0] == 0xED)
		high = 0x9F;
	if (at[0] == 0xF0)
		low = 0x90;
	if (at[0] == 0xF4)
		high = 0x8F;
	if (size < n || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

size_t utf8_prefix(const char *bytes, size_t size, size_t max, size_t *ret_characters)
{
	size_t at = 0;
	size_t n = 0;

	for (; at < size && n < max; n++) {
		size_t step = utf8_size(bytes + at, size - at);

		at += step ? step : 1;
	}
	*ret_characters = n;
	return at;
}

/* Return whether a name has \\xNN for @byte, a single one: a part of no character, or a control. A
 * line end would begin another line of an answer. */
static bool is_escaped(unsigned char byte)
{
	return byte < ' ' || byte >= 0x7F;
}

/* Append @bytes. A byte that is not UTF-8 becomes U+FFFD; in a name it becomes \\xNN, and so does a
 * control character. */
static void add_valid(struct text *text, const char *bytes, size_t size, bool is_name)
{
	size_t begin = 0;

	for (size_t at = 0; at < size;) {
		size_t step = utf8_size(bytes + at, size - at);

		if (step > 1 || (step == 1 && !(is_name && is_escaped((unsigned char)bytes[at])))) {
			at += step;
			continue;
		}
		text_add(text, bytes + begin, at - begin);
		if (is_name)
			text_printf(text, "\\x%02X", (unsigned char)bytes[at]);
		else
			text_put(text, "\xEF\xBF\xBD");
		begin = ++at;
	}
	text_add(text, bytes + begin, size - begin);
}

void text_add_lossy(struct text *text, const char *bytes, size_t size)
{
	add_valid(text, bytes, size, false);
}

void text_add_name(struct text *text, const char *name)
{
	add_valid(text, name, strlen(name), true);
}

int hex_value(char digit)
{
	const char *digits = "0123456789abcdef0123456789ABCDEF";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int)((found - digits) % 16) : -1;
}

bool name_decode(char *name)
{
	char *out = name;
	bool has_byte = false;

	for (const char *at = name; *at; out++) {
		bool has_digits = at[0] == '\\' && at[1] == 'x' && hex_value(at[2]) >= 0 &&
				  hex_value(at[3]) >= 0;
		int byte = has_digits ? hex_value(at[2]) * 16 + hex_value(at[3]) : 0;
		bool is_escape = byte != 0 && is_escaped((unsigned char)byte);

		*out = is_escape ? (char)byte : *at;
		has_byte |= is_escape;
		at += is_escape ? 4 : 1;
	}
	*out = '\0';
	return has_byte;
}
