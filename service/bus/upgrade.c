/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/upgrade.h"

#include <sha1.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "json/member.h"
#include "json/reader.h"
#include "request/field.h"
#include "util/text/base64.h"
#include "util/text/utf8.h"

/* The most code points of an error of the server: at most 400 bytes, which fit in a reason. */
#define ERROR_POINTS 100

static const char key_name[] = "Sec-WebSocket-Key";
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

/* The text of the digest accepts @key (RFC 6455 §4.2.2). */
static void digest_key(const char *key, unsigned char ret_digest[SHA1_DIGEST_LENGTH])
{
	SHA1_CTX context;

	SHA1Init(&context);
	SHA1Update(&context, (const unsigned char *)key, strlen(key));
	SHA1Update(&context, (const unsigned char *)guid, sizeof(guid) - 1);
	SHA1Final(ret_digest, &context);
}

/* ── the client's side ───────────────────────────────────────────────────────────────────────── */

void upgrade_encode_key(
	const unsigned char bytes[UPGRADE_KEY_BYTES], char ret_text[UPGRADE_KEY_TEXT_BYTES])
{
	encode(bytes, UPGRADE_KEY_BYTES, ret_text, UPGRADE_KEY_TEXT_BYTES);
}

void upgrade_ask(
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
	unsigned char digest[SHA1_DIGEST_LENGTH];
	char expected[32];
	size_t size;
	const char *value = find_single(head, "Sec-WebSocket-Accept", &size);

	digest_key(key, digest);
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
		if ((size = size * 10 + (size_t)(*value - '0')) > UPGRADE_BODY_BYTES)
			return UPGRADE_BODY_BYTES;
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
		snprintf(reason + length, UPGRADE_REASON_BYTES - length, ": %.*s",
			(int)utf8_prefix(text.data, text.size, ERROR_POINTS), text.data);
}

static enum upgrade_status refuse_response(const char *reason, char *ret_reason)
{
	snprintf(ret_reason, UPGRADE_REASON_BYTES, "%s", reason);
	return UPGRADE_REFUSED;
}

/* Refuse a response with another status than 101, once the @size bytes at @body are all of its
 * body. */
static enum upgrade_status refuse_status(const struct head *head, unsigned int status,
	const char *body, size_t size, bool is_over, char *ret_reason)
{
	size_t expected = body_size(head);

	if (size < expected && !is_over)
		return UPGRADE_MORE;
	snprintf(ret_reason, UPGRADE_REASON_BYTES,
		"the server answers with the status %u there, not with a websocket", status);
	append_error(body, size < expected ? size : expected, ret_reason);
	return UPGRADE_REFUSED;
}

enum upgrade_status upgrade_read(const char *bytes, size_t size, bool is_over, const char *key,
	size_t *ret_size, char ret_reason[UPGRADE_REASON_BYTES])
{
	bool is_broken;
	struct head head = {bytes, find_head(bytes, size, &is_broken)};
	unsigned int status = head.size > 0 ? status_of(&head) : 0;
	const char *reason;

	*ret_size = 0;
	if (is_broken || (head.size == 0 && size >= UPGRADE_HEAD_BYTES) ||
		(head.size > 0 && status == 0))
		return refuse_response("the server does not answer in HTTP/1.1", ret_reason);
	if (head.size == 0)
		return UPGRADE_MORE;
	if (status != 101)
		return refuse_status(
			&head, status, bytes + head.size, size - head.size, is_over, ret_reason);
	reason = judge_response(&head, key);
	if (reason)
		return refuse_response(reason, ret_reason);
	*ret_size = head.size;
	return UPGRADE_GRANTED;
}

/* ── the server's side ───────────────────────────────────────────────────────────────────────── */

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

	return size == UPGRADE_KEY_TEXT_BYTES - 1 && base64_is_valid(text, size) &&
	       base64_decoded_size(text, size) == UPGRADE_KEY_BYTES;
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

void upgrade_grant(const struct http_reader *request, struct buffer *out)
{
	unsigned char digest[SHA1_DIGEST_LENGTH];

	digest_key(http_field(request, key_name, NULL), digest);
	buffer_append_string(out,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: ");
	base64_encode(digest, sizeof(digest), out);
	buffer_append_string(out, "\r\n\r\n");
}
