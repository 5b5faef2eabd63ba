/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/header_value.h"

#include <string.h>

#include "util/text/base64.h"

#define ENCODED_BEGIN "=?base64?"
#define ENCODED_END   "?="

static bool is_value_char(char c)
{
	return (c >= ' ' && c <= '~') || c == '\t';
}

/* Append the value @text of @size bytes as it is. */
static enum mcp_field_status copy_plain(const char *text, size_t size, struct buffer *out)
{
	for (size_t i = 0; i < size; i++)
		if (!is_value_char(text[i]))
			return MCP_FIELD_WRONG;
	buffer_append(out, text, size);
	return MCP_FIELD_FOUND;
}

static enum mcp_field_status decode_base64(const char *text, size_t size, struct buffer *out)
{
	size_t decoded;
	char *place;

	if (!base64_is_valid(text, size))
		return MCP_FIELD_WRONG;
	decoded = base64_decoded_size(text, size);
	place = buffer_reserve(out, decoded);
	if (place && decoded > 0) {
		base64_decode(text, size, place);
		out->size += decoded;
	}
	return MCP_FIELD_FOUND;
}

static bool looks_encoded(const char *text, size_t size)
{
	const size_t begin_size = strlen(ENCODED_BEGIN);
	const size_t end_size = strlen(ENCODED_END);

	return size >= begin_size + end_size && memcmp(text, ENCODED_BEGIN, begin_size) == 0 &&
	       memcmp(text + size - end_size, ENCODED_END, end_size) == 0;
}

enum mcp_field_status mcp_field_read(
	const struct mcp_fields *fields, const char *name, bool is_encoded, struct buffer *out)
{
	unsigned int count = 0;
	const char *text = fields->find(fields->request, name, &count);
	size_t size;

	if (!text || count == 0)
		return MCP_FIELD_ABSENT;
	if (count > 1)
		return MCP_FIELD_WRONG;
	text += strspn(text, " \t");
	size = strlen(text);
	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	if (!is_encoded || !looks_encoded(text, size))
		return copy_plain(text, size, out);
	return decode_base64(text + strlen(ENCODED_BEGIN),
		size - strlen(ENCODED_BEGIN) - strlen(ENCODED_END), out);
}

static bool is_plain(const char *value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!is_value_char(value[i]) || value[i] == '\t')
			return false;
	return !looks_encoded(value, size) &&
	       (size == 0 || (value[0] != ' ' && value[size - 1] != ' '));
}

void mcp_field_write(const char *value, size_t size, struct buffer *out)
{
	if (is_plain(value, size)) {
		buffer_append(out, value, size);
		return;
	}
	buffer_append_string(out, ENCODED_BEGIN);
	base64_encode(value, size, out);
	buffer_append_string(out, ENCODED_END);
}
