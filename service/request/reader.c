/* SPDX-License-Identifier: Apache-2.0 */
#include "request/reader.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "request/field.h"
#include "util/text/text.h"

/* The first bytes of head, kept for the next request on a connection. */
#define HEAD_KEPT_BYTES 4096

/* The most digits of a chunk's size that do not count as a header. */
#define CHUNK_DIGITS 8

/* No field was found. Offset 0 of the head is an empty text. */
#define NONE 0

void http_reader_begin(struct http_reader *reader, const struct http_limits *limits)
{
	struct buffer head = reader->head;
	struct buffer body = reader->body;

	buffer_recycle(&head, HEAD_KEPT_BYTES);
	buffer_recycle(&body, 0);
	*reader = (struct http_reader){
		.limits = *limits, .room = SIZE_MAX, .head = head, .body = body};
	buffer_append_char(&reader->head, '\0');
	reader->line = 1;
}

void http_reader_deinit(struct http_reader *reader)
{
	buffer_deinit(&reader->head);
	buffer_deinit(&reader->body);
}

static void refuse_request(struct http_reader *reader, unsigned int status, const char *reason)
{
	if (reader->state == HTTP_REFUSED)
		return;
	reader->state = HTTP_REFUSED;
	reader->status = status;
	reader->reason = reason;
}

static void refuse_bad(struct http_reader *reader, const char *reason)
{
	refuse_request(reader, 400, reason);
}

/* Return whether there is room for @size more bytes of the body; else refuse the request. */
static bool check_room(struct http_reader *reader, size_t size)
{
	if (reader->body.size <= reader->room && size <= reader->room - reader->body.size)
		return true;
	refuse_request(reader, 503, "Requests hold as much memory as they may: try again later.");
	return false;
}

/* ── the request line (RFC 9112 §3) ──────────────────────────────────────────────────────────── */

/* Split `http://authority/path` (RFC 9112 §3.2.2), which a server must accept. */
static void split_target(struct http_reader *reader)
{
	static const char scheme[] = "http://";
	char *text = reader->head.data + reader->target;
	size_t size;

	if (strncasecmp(text, scheme, sizeof(scheme) - 1) != 0) {
		refuse_bad(reader, "The target of the request is not a path.");
		return;
	}
	text += sizeof(scheme) - 1;
	size = strcspn(text, "/?");
	if (size == 0 || text[size] != '/') {
		refuse_bad(reader, "The target of the request has no host or no path.");
		return;
	}
	/* The authority moves to the place of the scheme, where there is room to end it. */
	memmove(text - 1, text, size);
	text[size - 1] = '\0';
	reader->host = (size_t)(text - 1 - reader->head.data);
	reader->target = (size_t)(text + size - reader->head.data);
	if (!field_is_host(http_host(reader)))
		refuse_bad(reader, "The host in the target of the request is malformed.");
}

static void check_target(struct http_reader *reader)
{
	const char *target = http_target(reader);

	for (const char *at = target; *at; at++)
		if (*at <= ' ' || *at >= 0x7F || *at == '#') {
			refuse_bad(reader, "The target of the request has a forbidden byte.");
			return;
		}
	/* Only OPTIONS may have `*`. The form of CONNECT is for proxies. */
	if (*target != '/' &&
		!(strcmp(target, "*") == 0 && strcmp(http_method(reader), "OPTIONS") == 0))
		split_target(reader);
}

static bool is_version(const char *text)
{
	return strncmp(text, "HTTP/", 5) == 0 && strlen(text) == 8 && text[5] >= '0' &&
	       text[5] <= '9' && text[6] == '.' && text[7] >= '0' && text[7] <= '9';
}

static void take_request_line(struct http_reader *reader, char *line)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;

	if (!version || !is_version(version + 1)) {
		refuse_bad(reader, "The first line is not the line of an HTTP/1.1 request.");
		return;
	}
	*target++ = '\0';
	*version++ = '\0';
	reader->method = (size_t)(line - reader->head.data);
	reader->target = (size_t)(target - reader->head.data);
	reader->is_old = strcmp(version, "HTTP/1.0") == 0;
	if (!reader->is_old && strcmp(version, "HTTP/1.1") != 0)
		refuse_request(reader, 505, "The version of the request must be HTTP/1.1.");
	else if (!field_is_token(line))
		refuse_bad(reader, "The method of the request is malformed.");
	else
		check_target(reader);
	if (reader->state != HTTP_REFUSED)
		reader->state = HTTP_FIELDS;
}

/* ── fields (RFC 9112 §5) ────────────────────────────────────────────────────────────────────── */

/* Split a line into name and value, both NUL-terminated in place. Return false after a refusal. */
static bool split_field(struct http_reader *reader, char *line, struct http_field *ret_field)
{
	char *colon = strchr(line, ':');
	const char *value;
	const char *end;

	if (*line == ' ' || *line == '\t') {
		refuse_bad(reader, "A header line is folded.");
		return false;
	}
	if (!colon) {
		refuse_bad(reader, "A header line has no colon.");
		return false;
	}
	*colon = '\0';
	if (!field_is_token(line)) {
		refuse_bad(reader, "The name of a header is malformed.");
		return false;
	}
	value = colon + 1;
	end = value + strlen(value);
	field_trim(&value, &end);
	line[end - line] = '\0';
	*ret_field = (struct http_field){
		(size_t)(line - reader->head.data), (size_t)(value - reader->head.data)};
	return true;
}

static void take_field(struct http_reader *reader, char *line)
{
	if (reader->n_fields == HTTP_FIELDS_MAX)
		refuse_request(reader, 431, "The request has too many headers.");
	else if (split_field(reader, line, &reader->fields[reader->n_fields]))
		reader->n_fields++;
}

/* Return whether @field has the name @name, in any case: letters of two cases differ in one bit. */
static bool is_named(
	const struct http_reader *reader, const struct http_field *field, const char *name)
{
	const char *own = reader->head.data + field->name;

	return ((*own ^ *name) & ~0x20) == 0 && strcasecmp(own, name) == 0;
}

const char *http_field(const struct http_reader *reader, const char *name, unsigned int *ret_count)
{
	const char *value = NULL;
	unsigned int count = 0;

	for (unsigned int i = 0; i < reader->n_fields; i++) {
		const struct http_field *field = &reader->fields[i];

		if (!is_named(reader, field, name))
			continue;
		if (count++ == 0)
			value = reader->head.data + field->value;
	}
	if (ret_count)
		*ret_count = count;
	return value;
}

const char *http_field_before(const struct http_reader *reader, const char *name, unsigned int *at)
{
	while (*at > 0)
		if (is_named(reader, &reader->fields[--*at], name))
			return reader->head.data + reader->fields[*at].value;
	return NULL;
}

bool http_field_has(const struct http_reader *reader, const char *name, const char *element)
{
	for (unsigned int i = 0; i < reader->n_fields; i++) {
		const struct http_field *field = &reader->fields[i];
		const char *value = reader->head.data + field->value;

		if (is_named(reader, field, name) && field_list_has(value, strlen(value), element))
			return true;
	}
	return false;
}

bool http_accepts(const struct http_reader *reader, const char *type)
{
	for (unsigned int i = 0; i < reader->n_fields; i++)
		if (is_named(reader, &reader->fields[i], "Accept") &&
			field_accepts(reader->head.data + reader->fields[i].value, type))
			return true;
	return false;
}

/* RFC 9112 §3.2: exactly one Host, even beside an absolute target, whose authority replaces it.
 * HTTP/1.0 has none (RFC 1945 §5). */
static void check_host(struct http_reader *reader)
{
	unsigned int count;
	const char *host = http_field(reader, "Host", &count);

	if (count == 0 && reader->is_old)
		return;
	if (count != 1)
		refuse_bad(reader, "The request must have exactly one Host.");
	else if (!field_is_host(host))
		refuse_bad(reader, "The Host of the request is malformed.");
	else if (reader->host == NONE)
		reader->host = (size_t)(host - reader->head.data);
}

static void expect_chunks(struct http_reader *reader, const char *coding, unsigned int count)
{
	if (http_field(reader, "Content-Length", NULL))
		refuse_bad(reader, "The request has both Content-Length and Transfer-Encoding.");
	else if (count > 1)
		refuse_bad(reader, "The request must have at most one Transfer-Encoding.");
	else if (strcasecmp(coding, "chunked") != 0)
		refuse_request(reader, 501, "The only Transfer-Encoding that is known is chunked.");
	else
		reader->state = HTTP_CHUNK_SIZE;
}

static void expect_length(struct http_reader *reader, const char *length, unsigned int count)
{
	if (count > 1 || !field_read_length(length, &reader->left))
		refuse_bad(reader, "The Content-Length of the request is malformed or repeated.");
	else if (reader->left > reader->limits.body_bytes)
		refuse_request(reader, 413, "The body of the request is too large.");
	else if (check_room(reader, reader->left))
		reader->state = reader->left > 0 ? HTTP_SIZED : HTTP_DONE;
}

/* The fields are complete: find out how the body ends (RFC 9112 §6). */
static void begin_body(struct http_reader *reader)
{
	unsigned int n_codings;
	unsigned int n_lengths;
	const char *coding = http_field(reader, "Transfer-Encoding", &n_codings);
	const char *length = http_field(reader, "Content-Length", &n_lengths);

	check_host(reader);
	if (reader->state == HTTP_REFUSED)
		return;
	if (coding && reader->is_old)
		refuse_bad(reader, "A request of HTTP/1.0 has no Transfer-Encoding.");
	else if (coding)
		expect_chunks(reader, coding, n_codings);
	else if (length)
		expect_length(reader, length, n_lengths);
	else
		reader->state = HTTP_DONE;
}

/* ── chunks (RFC 9112 §7.1) ──────────────────────────────────────────────────────────────────── */

/* Read `size [;extension]`. An extension is skipped; white space before its semicolon is
 * refused. */
static void take_chunk_size(struct http_reader *reader, const char *line)
{
	size_t room = reader->limits.body_bytes - reader->body.size;
	const char *at = line;
	size_t size = 0;

	for (; text_hex_value(*at) >= 0; at++)
		size = size > SIZE_MAX / 32 ? size : size * 16 + (size_t)text_hex_value(*at);
	if (at == line || (*at && *at != ';')) {
		refuse_bad(reader, "The size of a chunk is malformed.");
		return;
	}
	if (size > room) {
		refuse_request(reader, 413, "The body of the request is too large.");
		return;
	}
	/* Extensions and leading zeros count as headers; plain sizes are bounded by their
	 * chunks. */
	reader->used += strlen(at) + (size_t)(at - line > CHUNK_DIGITS ? at - line : 0);
	if (reader->used > reader->limits.header_bytes)
		refuse_request(reader, 431, "The headers of the request are too large.");
	else if (check_room(reader, size))
		reader->state = size > 0 ? HTTP_CHUNK : HTTP_TRAILERS;
	reader->left = size;
}

/* Check the syntax of a trailer and drop it (RFC 9112 §7.1.2). */
static void take_trailer(struct http_reader *reader, char *line)
{
	struct http_field field;

	split_field(reader, line, &field);
}

/* ── lines ───────────────────────────────────────────────────────────────────────────────────── */

/* Judge the whole line @text, NUL-terminated in the head. */
static void take_head_line(struct http_reader *reader, char *text)
{
	bool is_empty = !*text;

	switch (reader->state) {
	case HTTP_REQUEST_LINE:
		/* RFC 9112 §2.2: some clients send an empty line after a body. */
		if (!is_empty)
			take_request_line(reader, text);
		else if (reader->has_empty)
			refuse_bad(reader, "The request begins with empty lines.");
		reader->has_empty = true;
		break;
	case HTTP_FIELDS:
		if (is_empty)
			begin_body(reader);
		else
			take_field(reader, text);
		break;
	case HTTP_CHUNK_SIZE:
		take_chunk_size(reader, text);
		break;
	case HTTP_CHUNK_END:
		reader->state = HTTP_CHUNK_SIZE;
		break;
	case HTTP_TRAILERS:
		if (is_empty)
			reader->state = HTTP_DONE;
		else
			take_trailer(reader, text);
		break;
	case HTTP_SIZED:
	case HTTP_CHUNK:
	case HTTP_DONE:
	case HTTP_REFUSED:
		break;
	}
}

static void end_head_line(struct http_reader *reader)
{
	bool is_kept = reader->state == HTTP_REQUEST_LINE || reader->state == HTTP_FIELDS;

	reader->has_cr = false;
	buffer_append_char(&reader->head, '\0');
	if (buffer_status(&reader->head) < 0) {
		refuse_request(reader, 503, "Out of memory.");
		return;
	}
	take_head_line(reader, reader->head.data + reader->line);
	/* Only the lines of the head are needed afterwards. */
	if (!is_kept)
		reader->head.size = reader->line;
	reader->line = reader->head.size;
}

static bool is_counted(const struct http_reader *reader)
{
	return reader->state == HTTP_FIELDS || reader->state == HTTP_TRAILERS;
}

/* Return how many more bytes the line may have. */
static size_t room_of_line(const struct http_reader *reader)
{
	size_t line = reader->limits.line_bytes - (reader->head.size - reader->line);
	size_t all = reader->limits.header_bytes - reader->used;

	return is_counted(reader) && all < line ? all : line;
}

/* Append the bytes of a line from the beginning of @bytes, within the bounds. Return how many. */
static size_t take_run(struct http_reader *reader, const char *bytes, size_t size)
{
	size_t room = room_of_line(reader);
	size_t end = size < room ? size : room;
	size_t taken = 0;

	if (reader->has_cr || reader->state == HTTP_CHUNK_END)
		return 0;
	while (taken < end && field_is_value_byte(bytes[taken]))
		taken++;
	buffer_append(&reader->head, bytes, taken);
	if (is_counted(reader))
		reader->used += taken;
	return taken;
}

/* Refuse a byte of a line without room. */
static void refuse_byte(struct http_reader *reader)
{
	bool is_first = reader->state == HTTP_REQUEST_LINE;

	if (reader->state == HTTP_CHUNK_END)
		refuse_bad(reader, "A chunk is longer than its size.");
	else if (reader->head.size - reader->line == reader->limits.line_bytes)
		refuse_request(reader, is_first ? 414 : 431,
			is_first ? "The first line of the request is too long."
				 : "A header line is too long.");
	else
		refuse_request(reader, 431, "The headers of the request are too large.");
}

/* Take a byte left by take_run(). */
static void take_line_byte(struct http_reader *reader, char c)
{
	if (reader->has_cr && c != '\n')
		refuse_bad(reader, "A line has a CR that does not end it.");
	else if (c == '\n' && !reader->has_cr)
		refuse_bad(reader, "A line ends in LF without CR.");
	else if (c == '\n')
		end_head_line(reader);
	else if (c == '\r')
		reader->has_cr = true;
	else if (!field_is_value_byte(c))
		refuse_bad(reader, "A line has a control character.");
	else
		refuse_byte(reader);
}

/* ── the body ────────────────────────────────────────────────────────────────────────────────── */

/* Take bytes of the body. Return how many. */
static size_t take_body(struct http_reader *reader, const char *bytes, size_t size)
{
	size_t taken = size < reader->left ? size : reader->left;

	if (!check_room(reader, taken))
		return taken;
	buffer_append(&reader->body, bytes, taken);
	reader->left -= taken;
	if (buffer_status(&reader->body) < 0)
		refuse_request(reader, 503, "Out of memory.");
	else if (reader->left == 0)
		reader->state = reader->state == HTTP_SIZED ? HTTP_DONE : HTTP_CHUNK_END;
	return taken;
}

size_t http_reader_feed(struct http_reader *reader, const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && !http_reader_is_over(reader)) {
		bool is_body = reader->state == HTTP_SIZED || reader->state == HTTP_CHUNK;
		size_t taken = is_body ? take_body(reader, bytes + at, size - at)
				       : take_run(reader, bytes + at, size - at);

		at += taken;
		if (taken == 0)
			take_line_byte(reader, bytes[at++]);
	}
	return at;
}
