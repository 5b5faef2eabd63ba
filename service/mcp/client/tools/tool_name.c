/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/tool_name.h"

#include <stdbool.h>
#include <stdio.h>

#include "util/sha256.h"
#include "util/text/text.h"
#include "util/text/utf8.h"

#define KEPT_BYTES 57

/* Return the character for the one that begins with @c. */
static char map_character(char c)
{
	bool is_kept = text_is_letter(c) || text_is_digit(c) || c == '-';

	return (char)(is_kept ? c : '_');
}

void mcp_map_tool_name(const char *name, size_t size, char ret_name[MCP_TOOL_NAME_BYTES + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	size_t n = 0;
	size_t at = 0;

	if (size > 0 && (name[0] == '-' || text_is_digit(name[0])))
		ret_name[n++] = '_';
	while (at < size && n < MCP_TOOL_NAME_BYTES) {
		size_t length = utf8_sequence_length(name + at, size - at);

		ret_name[n++] = map_character(name[at]);
		at += length > 0 ? length : 1;
	}
	ret_name[n] = '\0';
	if (at == size)
		return;
	sha256(name, size, digest);
	snprintf(ret_name + KEPT_BYTES, MCP_TOOL_NAME_BYTES + 1 - KEPT_BYTES, "_%02x%02x%02x",
		digest[0], digest[1], digest[2]);
}
