/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/client_upgrade.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json/member.h"
#include "json/reader.h"
#include "request/field.h"
#include "util/text/base64.h"
#include "util/text/utf8.h"

#define SHA1_BYTES 20

/* The most code points of an error of the server: at most 400 bytes, which fit in a reason. */
#define ERROR_POINTS 100

static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/* Write the base64 text of @bytes, shorter than @capacity, to @ret_text. */
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

/* The lines of a complete head. */
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

/* Return why @head, with the status 101, does not grant the upgrade with @key, or NULL. */
static const char *judge_response(const struct head *head, const char *key)
{
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

/* Return the size of the head whose lines all end in CR LF, the last one an empty line; 0 for an
 * incomplete head. *ret_is_broken: a line ends otherwise. */
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

/* Return the status in the first line of @head; 0 without one. */
static unsigned int status_of(const struct head *head)
{
	static const char version[] = "HTTP/1.1 ";
	const char *at = head->text + strlen(version);
	unsigned int status = 0;

	if (head->size < strlen(version) + 5 || memcmp(head->text, version, strlen(version)) != 0)
		return 0;
	for (int i = 0; i < 3; i++, at++) {
		if (*at < '0' || *at > '9')
			return 0;
		status = status * 10 + (unsigned int)(*at - '0');
	}
	return *at == ' ' || *at == '\r' ? status : 0;
}

/* Return the bytes of the body after @head, as far as they are read. */
static size_t body_size(const struct head *head)
{
	size_t digits;
	const char *value = find_single(head, "Content-Length", &digits);
	size_t size = 0;

	for (; value && digits > 0 && *value >= '0' && *value <= '9'; digits--, value++)
		if ((size = size * 10 + (size_t)(*value - '0')) > CLIENT_UPGRADE_BODY_BYTES)
			return CLIENT_UPGRADE_BODY_BYTES;
	return size;
}

/* Append ": " and the `error` of the body, an object, if it has one. */
static void append_error(const char *body, size_t size, char *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t length = strlen(reason);
	uint32_t error;

	if (json_tape_read(&tape, body, size, JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(&tape, 0) != JSON_OBJECT)
		return;
	error = json_find_typed_at(&tape, 0, "error", JSON_STRING);
	if (error == JSON_NONE)
		return;
	json_string_decode(&tape, error, &text);
	if (buffer_terminate(&text))
		snprintf(reason + length, CLIENT_UPGRADE_REASON_BYTES - length, ": %.*s",
			(int)utf8_prefix(text.data, text.size, ERROR_POINTS), text.data);
}

static enum client_upgrade_status refuse_upgrade(const char *reason, char *ret_reason)
{
	snprintf(ret_reason, CLIENT_UPGRADE_REASON_BYTES, "%s", reason);
	return CLIENT_UPGRADE_REFUSED;
}

/* Refuse a response with another status than 101, once the @size bytes at @body are all of its
 * body. */
static enum client_upgrade_status refuse_status(const struct head *head, unsigned int status,
	const char *body, size_t size, bool is_over, char *ret_reason)
{
	size_t expected = body_size(head);

	if (size < expected && !is_over)
		return CLIENT_UPGRADE_MORE;
	snprintf(ret_reason, CLIENT_UPGRADE_REASON_BYTES,
		"the server answers with the status %u there, not with a websocket", status);
	append_error(body, size < expected ? size : expected, ret_reason);
	return CLIENT_UPGRADE_REFUSED;
}

enum client_upgrade_status client_upgrade_read(const char *bytes, size_t size, bool is_over,
	const char *key, size_t *ret_size, char ret_reason[CLIENT_UPGRADE_REASON_BYTES])
{
	bool is_broken;
	struct head head = {bytes, find_head(bytes, size, &is_broken)};
	unsigned int status = head.size > 0 ? status_of(&head) : 0;
	const char *reason;

	*ret_size = 0;
	if (is_broken || (head.size == 0 && size >= CLIENT_UPGRADE_HEAD_BYTES) ||
		(head.size > 0 && status == 0))
		return refuse_upgrade("the server does not answer in HTTP/1.1", ret_reason);
	if (head.size == 0)
		return CLIENT_UPGRADE_MORE;
	if (status != 101)
		return refuse_status(
			&head, status, bytes + head.size, size - head.size, is_over, ret_reason);
	reason = judge_response(&head, key);
	if (reason)
		return refuse_upgrade(reason, ret_reason);
	*ret_size = head.size;
	return CLIENT_UPGRADE_GRANTED;
}
