/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/pin.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "json/canonical.h"
#include "util/cleanup.h"

_Static_assert(MCP_PIN_BYTES == SHA256_DIGEST_LENGTH, "the size of a SHA-256");

int mcp_pin(const struct json_tape *tape, uint32_t tool, unsigned char ret_pin[MCP_PIN_BYTES])
{
	static const char *const keys[] = {"name", "description", "inputSchema", "outputSchema"};
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		uint32_t value = json_find(tape, tool, keys[i]);

		buffer_append_char(&text, i == 0 ? '[' : ',');
		if (value == JSON_NONE)
			buffer_append_string(&text, "null");
		else
			json_write_canonical(&text, tape, value);
	}
	buffer_append_char(&text, ']');
	if (buffer_status(&text) < 0 ||
		!EVP_Digest(text.data, text.size, ret_pin, NULL, EVP_sha256(), NULL))
		return -ENOMEM;
	return 0;
}
