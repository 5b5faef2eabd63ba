/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/secret_forms.h"

#include <string.h>

#include "json/writer.h"
#include "util/text/base64.h"
#include "util/buffer.h"
#include "util/text/utf8.h"

/* A shorter part of a text in base64 is too common. */
#define BASE64_LEAST 8

/* Report @form, unless memory was short. */
static int report_form(struct buffer *form, mcp_secret_form_function found, void *data)
{
	int r = buffer_status(form);

	return r || form->size == 0 ? r : found(data, form->data, form->size);
}

/* Append the code point of @length bytes of UTF-8 as JSON has it in ASCII. */
static void write_form_escape(const char *text, size_t length, struct buffer *out)
{
	static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	unsigned int code = (unsigned char)text[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3F);
	if (code > 0xFFFF)
		buffer_printf(out, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
			0xDC00 + ((code - 0x10000) & 0x3FF));
	else
		buffer_printf(out, "\\u%04x", code);
}

/* Append the inside of the JSON string @json, with `\/`, or in ASCII alone. */
static void write_other(const struct buffer *json, bool has_slashes, struct buffer *out)
{
	size_t length;

	for (size_t at = 1; at + 1 < json->size; at += length) {
		length = utf8_sequence_length(json->data + at, json->size - at);
		length = length > 0 ? length : 1;
		if (has_slashes && json->data[at] == '/')
			buffer_append_string(out, "\\/");
		else if (!has_slashes && length > 1)
			write_form_escape(json->data + at, length, out);
		else
			buffer_append(out, json->data + at, length);
	}
}

static int report_json(const char *text, size_t size, mcp_secret_form_function found, void *data)
{
	cleanup(buffer_deinit) struct buffer json = {0};
	int r;

	json_write_bytes_lossy(&json, text, size);
	r = buffer_status(&json);
	r = r ? r : found(data, json.data + 1, json.size - 2);
	for (int has_slashes = 0; r == 0 && has_slashes < 2; has_slashes++) {
		cleanup(buffer_deinit) struct buffer other = {0};

		write_other(&json, has_slashes, &other);
		r = report_form(&other, found, data);
	}
	return r;
}

static int report_url(const char *text, size_t size, mcp_secret_form_function found, void *data)
{
	cleanup(buffer_deinit) struct buffer url = {0};

	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
				(byte >= '0' && byte <= '9') || (byte && strchr("-._~", byte));

		if (is_plain)
			buffer_append_char(&url, text[i]);
		else
			buffer_printf(&url, "%%%02X", byte);
	}
	return report_form(&url, found, data);
}

/* Report the characters of base64 that @text alone decides, when @before bytes come before it in
 * its group of three. */
static int report_base64(
	const char *text, size_t size, size_t before, mcp_secret_form_function found, void *data)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(buffer_deinit) struct buffer form = {0};
	size_t first = (8 * before + 5) / 6;
	size_t end = 8 * (before + size) / 6;
	int r;

	buffer_append(&bytes, "\0\0", before);
	buffer_append(&bytes, text, size);
	if (buffer_status(&bytes) < 0)
		return buffer_status(&bytes);
	base64_encode(bytes.data, bytes.size, &form);
	r = buffer_status(&form);
	return r || end - first < BASE64_LEAST ? r : found(data, form.data + first, end - first);
}

int mcp_secret_forms(const char *text, size_t size, mcp_secret_form_function found, void *data)
{
	int r = found(data, text, size);

	r = r ? r : report_json(text, size, found, data);
	r = r ? r : report_url(text, size, found, data);
	for (size_t before = 0; r == 0 && before < 3; before++)
		r = report_base64(text, size, before, found, data);
	return r;
}
