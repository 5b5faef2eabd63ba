/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/upgrade.h"

#include <string.h>

#include "util/text/base64.h"

/* Bytes of a key, decoded and as base64 (RFC 6455 §4.1). */
#define KEY_BYTES         16
#define KEY_ENCODED_BYTES 24

static const char key_name[] = "Sec-WebSocket-Key";

static bool refuse_upgrade(struct http_refusal *ret_refusal, unsigned int status,
	const char *fields, const char *reason)
{
	*ret_refusal = (struct http_refusal){status, fields, reason};
	return false;
}

/* Return the value of a field required once, or NULL. */
static const char *find_only(const struct http_reader *request, const char *name)
{
	unsigned int count;
	const char *value = http_field(request, name, &count);

	return count == 1 ? value : NULL;
}

static bool is_websocket_key(const char *text)
{
	size_t size = text ? strlen(text) : 0;

	return size == KEY_ENCODED_BYTES && base64_is_valid(text, size) &&
	       base64_decoded_size(text, size) == KEY_BYTES;
}

bool upgrade_check(const struct http_reader *request, struct http_refusal *ret_refusal)
{
	const char *version = find_only(request, "Sec-WebSocket-Version");

	if (request->is_old)
		return refuse_upgrade(
			ret_refusal, 505, "", "The version of the request must be HTTP/1.1.");
	if (!http_field_has(request, "Upgrade", "websocket") ||
		!http_field_has(request, "Connection", "upgrade"))
		return refuse_upgrade(ret_refusal, 426,
			"Upgrade: websocket\r\nConnection: upgrade\r\n", "This is a websocket.");
	if (strcmp(http_method(request), "GET") != 0 || request->body.size > 0)
		return refuse_upgrade(
			ret_refusal, 400, "", "A websocket is opened by GET, without a body.");
	if (!version || strcmp(version, "13") != 0)
		return refuse_upgrade(ret_refusal, 426,
			"Upgrade: websocket\r\nConnection: upgrade\r\n"
			"Sec-WebSocket-Version: 13\r\n",
			"The version of the websocket must be 13.");
	if (!is_websocket_key(find_only(request, key_name)))
		return refuse_upgrade(ret_refusal, 400, "",
			"The Sec-WebSocket-Key is missing, repeated or malformed.");
	return true;
}

void upgrade_write(const struct http_reader *request, const char *host, struct buffer *out)
{
	buffer_printf(out,
		"GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Version: 13\r\n%s: %s\r\n\r\n",
		host, key_name, http_field(request, key_name, NULL));
}
