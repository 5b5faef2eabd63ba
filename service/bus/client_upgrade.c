/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/client_upgrade.h"

#include <libwebsockets.h>
#include <string.h>
#include <strings.h>

#include "request/field.h"
#include "util/base64.h"
#include "util/cleanup.h"

#define SHA1_BYTES 20

static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/* Write the base64 text of @bytes, which is shorter than @capacity, to @ret_text. */
static void encode(const unsigned char *bytes, size_t size, char *ret_text, size_t capacity)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	base64_encode(bytes, size, &text);
	*ret_text = '\0';
	if (buffer_terminate(&text) && text.size < capacity)
		memcpy(ret_text, text.data, text.size + 1);
}

void client_upgrade_encode_key(const unsigned char bytes[CLIENT_UPGRADE_KEY_BYTES],
	char ret_text[CLIENT_UPGRADE_KEY_TEXT_BYTES])
{
	encode(bytes, CLIENT_UPGRADE_KEY_BYTES, ret_text, CLIENT_UPGRADE_KEY_TEXT_BYTES);
}

void client_upgrade_write(
	const char *path, const char *host, const char *key, const char *token, struct buffer *out)
{
	buffer_printf(out,
		"GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n",
		path, host, key);
	if (*token)
		buffer_printf(out, "Authorization: Bearer %s\r\n", token);
	buffer_append_string(out, "\r\n");
}

/* The lines of a head that is over. */
struct head {
	const char *text;
	size_t size; /* with the empty line at its end */
};

/* A line of the head after the first: `name: value`. */
struct line {
	const char *at;
	const char *end; /* its CR */
};

static bool next_line(const struct head *head, struct line *line)
{
	const char *end = head->text + head->size - 2;

	line->at =
		line->end ? line->end + 2 : (const char *)memchr(head->text, '\n', head->size) + 1;
	if (line->at >= end)
		return false;
	line->end = (const char *)memchr(line->at, '\n', (size_t)(end - line->at)) - 1;
	return true;
}

/* Return the value of @line, without blanks around it, if its name is @name; else NULL. */
static const char *value_of(const struct line *line, const char *name, size_t *ret_size)
{
	size_t length = strlen(name);
	const char *start = line->at + length + 1;
	const char *end = line->end;

	if ((size_t)(end - line->at) <= length || line->at[length] != ':' ||
		strncasecmp(line->at, name, length) != 0)
		return NULL;
	field_trim(&start, &end);
	*ret_size = (size_t)(end - start);
	return start;
}

/* Return the value of the field @name if it is there once, else NULL. */
static const char *find_single(const struct head *head, const char *name, size_t *ret_size)
{
	const char *found = NULL;
	struct line line = {0};

	while (next_line(head, &line)) {
		size_t size;
		const char *value = value_of(&line, name, &size);

		if (!value)
			continue;
		if (found)
			return NULL;
		found = value;
		*ret_size = size;
	}
	return found;
}

/* Return whether a field @name lists @element. */
static bool has_element(const struct head *head, const char *name, const char *element)
{
	struct line line = {0};

	while (next_line(head, &line)) {
		size_t size;
		const char *value = value_of(&line, name, &size);

		if (value && field_list_has(value, size, element))
			return true;
	}
	return false;
}

static bool has_field(const struct head *head, const char *name)
{
	struct line line = {0};
	size_t size;

	while (next_line(head, &line))
		if (value_of(&line, name, &size))
			return true;
	return false;
}

static bool has_accepted(const struct head *head, const char *key)
{
	unsigned char joined[CLIENT_UPGRADE_KEY_TEXT_BYTES + sizeof(guid)];
	unsigned char digest[SHA1_BYTES];
	char expected[32];
	size_t key_size = strlen(key);
	size_t size;
	const char *value = find_single(head, "Sec-WebSocket-Accept", &size);

	memcpy(joined, key, key_size);
	memcpy(joined + key_size, guid, sizeof(guid));
	lws_SHA1(joined, key_size + sizeof(guid) - 1, digest);
	encode(digest, sizeof(digest), expected, sizeof(expected));
	return value && *expected && size == strlen(expected) && memcmp(value, expected, size) == 0;
}

/* Return why @head does not grant the upgrade with @key, or NULL. */
static const char *judge_response(const struct head *head, const char *key)
{
	static const char status[] = "HTTP/1.1 101";

	if (head->size < sizeof(status) || memcmp(head->text, status, sizeof(status) - 1) != 0 ||
		(head->text[sizeof(status) - 1] != ' ' && head->text[sizeof(status) - 1] != '\r'))
		return "the server is no websocket there (its response is not 101)";
	if (!has_element(head, "Upgrade", "websocket") ||
		!has_element(head, "Connection", "upgrade"))
		return "the server does not upgrade to a websocket";
	if (!has_accepted(head, key))
		return "the server has not accepted the key of the websocket";
	if (has_field(head, "Sec-WebSocket-Extensions") ||
		has_field(head, "Sec-WebSocket-Protocol"))
		return "the server wants an extension or a protocol that was not offered";
	return NULL;
}

/* Return the size of the head whose lines all end in CR LF, the last one an empty line; 0: it is not over.
 * *ret_is_broken: a line ends otherwise. */
static size_t find_head(const char *bytes, size_t size, bool *ret_is_broken)
{
	size_t line = 0;

	*ret_is_broken = false;
	for (size_t at = 0; at < size; at++) {
		if (bytes[at] == '\0' ||
			(bytes[at] == '\n' && (at == line || bytes[at - 1] != '\r'))) {
			*ret_is_broken = true;
			return 0;
		}
		if (bytes[at] != '\n')
			continue;
		if (at == line + 1)
			return at + 1;
		line = at + 1;
	}
	return 0;
}

const char *client_upgrade_read(const char *bytes, size_t size, const char *key, size_t *ret_size)
{
	bool is_broken;
	struct head head = {bytes, find_head(bytes, size, &is_broken)};
	const char *reason;

	*ret_size = 0;
	if (is_broken || (head.size == 0 && size >= CLIENT_UPGRADE_HEAD_BYTES))
		return "the server does not answer in HTTP/1.1";
	if (head.size == 0)
		return NULL;
	reason = judge_response(&head, key);
	if (!reason)
		*ret_size = head.size;
	return reason;
}
