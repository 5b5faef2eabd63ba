/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/pin.h"

#include <errno.h>

#include "json/canonical.h"
#include "util/digest.h"
#include "util/sha256.h"

_Static_assert(MCP_PIN_BYTES == SHA256_DIGEST_LENGTH, "the size of a SHA-256");

const char *const mcp_pin_members[MCP_PIN_MEMBERS] = {
	"name", "description", "inputSchema", "outputSchema", "title", "annotations", "execution"};

void mcp_pin_text(const struct json_tape *tape, uint32_t tool, struct buffer *out)
{
	for (size_t i = 0; i < MCP_PIN_MEMBERS; i++) {
		uint32_t value = json_find(tape, tool, mcp_pin_members[i]);

		buffer_append_char(out, i == 0 ? '[' : ',');
		if (value == JSON_NONE)
			buffer_append_string(out, "null");
		else
			json_write_canonical(out, tape, value);
	}
	buffer_append_char(out, ']');
}

void mcp_pin_digest(const char *text, size_t size, unsigned char ret_pin[MCP_PIN_BYTES])
{
	sha256(text, size, ret_pin);
}

int mcp_pin(const struct json_tape *tape, uint32_t tool, unsigned char ret_pin[MCP_PIN_BYTES])
{
	cleanup(buffer_deinit) struct buffer text = {0};

	mcp_pin_text(tape, tool, &text);
	if (buffer_status(&text) < 0)
		return -ENOMEM;
	mcp_pin_digest(text.data, text.size, ret_pin);
	return 0;
}

int mcp_list_digest(const struct json_tape *tape, uint32_t list, uint64_t *ret_digest)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint64_t sum = 0;

	json_each(at, tape, list) {
		buffer_reset(&text);
		if (json_type_at(tape, at) == JSON_OBJECT)
			mcp_pin_text(tape, at, &text);
		else
			json_write_canonical(&text, tape, at);
		if (buffer_status(&text) < 0)
			return -ENOMEM;
		sum += digest_bytes(DIGEST_SEED, text.data, text.size);
	}
	*ret_digest = sum != 0 ? sum : 1;
	return 0;
}
