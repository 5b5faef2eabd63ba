/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/format/format.h"

#include <string.h>

#include "json/reader.h"
#include "regex/pattern.h"
#include "schema/format/check.h"
#include "util/array.h"
#include "util/text/text.h"

static bool is_base64(const char *text, size_t size);
static bool is_json(const char *text, size_t size);

static const struct format formats[] = {
	{FORMAT_TEXT, "date", "2026-11-21", format_is_date, 0, 0},
	{FORMAT_TEXT, "date-time", "2026-11-21T09:30:00+01:00", format_is_date_time, 0, 0},
	{FORMAT_TEXT, "duration", "PT1H30M", format_is_duration, 0, 0},
	{FORMAT_TEXT, "email", "ada@example.org", format_is_email, 0, 0},
	{FORMAT_TEXT, "hostname", "www.example.org", format_is_hostname, 0, 0},
	{FORMAT_TEXT, "ipv4", "192.0.2.1", format_is_ipv4, 0, 0},
	{FORMAT_TEXT, "ipv6", "2001:db8::1", format_is_ipv6, 0, 0},
	{FORMAT_TEXT, "json-pointer", "/a/0", format_is_json_pointer, 0, 0},
	{FORMAT_TEXT, "regex", "^[a-z]+$", pattern_is_valid, FORMAT_REGEX_BYTES_MAX,
		FORMAT_REGEX_PRICE},
	{FORMAT_TEXT, "time", "09:30:00Z", format_is_time, 0, 0},
	{FORMAT_TEXT, "uri", "https://example.org/a", format_is_uri, 0, 0},
	{FORMAT_TEXT, "uri-reference", "../a#b", format_is_uri_reference, 0, 0},
	{FORMAT_TEXT, "uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", format_is_uuid, 0, 0},
	{FORMAT_ENCODING, "base64", "aGVsbG8=", is_base64, 0, 0},
	{FORMAT_MEDIA, "application/json", "{}", is_json, 0, 0},
};

const struct format *format_find(enum format_kind kind, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (formats[i].kind == kind && strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

/* Return the six bits of @c, or -1 (RFC 4648 section 4). */
static int base64_value(char c)
{
	static const char alphabet[] = TEXT_ALPHANUMERIC "+/";
	const char *at = c != '\0' ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* Decode @text, padded, to @out (may be NULL). Returns false where it is not base64. */
static bool decode_base64(const char *text, size_t size, struct buffer *out)
{
	unsigned int bits = 0;
	size_t padding = 0;

	if (size % 4 != 0)
		return false;
	while (padding < 2 && padding < size && text[size - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < size - padding; i++) {
		int value = base64_value(text[i]);

		if (value < 0)
			return false;
		bits = (bits << 6 | (unsigned int)value) & 0xFFFFFF;
		if (out && i % 4 != 0)
			buffer_append_char(out, (char)(bits >> (6 - 2 * (i % 4))));
	}
	return true;
}

static bool is_base64(const char *text, size_t size)
{
	return decode_base64(text, size, NULL);
}

static bool is_json(const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	return json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, NULL) == 0;
}

bool format_content_is_valid(
	const struct format *encoding, const struct format *media, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};

	if (encoding) {
		if (!decode_base64(text, size, &decoded))
			return false;
		text = buffer_text(&decoded);
		size = decoded.size;
	}
	return buffer_status(&decoded) == 0 && (!media || media->is_valid(text, size));
}
