/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/salvage.h"

#include <string.h>

#include "json/number.h"
#include "json/reader.h"
#include "mcp/error.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

/* The most failed responses in one text. */
#define SALVAGED_MAX 64

/* The longest part of an id in the log. */
#define QUOTED_CHARS 200

/* The beginning of a text that is no message, in the log. */
#define SHOWN_BYTES 80

/* ── faults ──────────────────────────────────────────────────────────────────────────────────── */

/* Append @reason, and the byte at which @text is no JSON. */
static void write_salvage_reason(
	const char *text, size_t size, struct text_view reason, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, &error);

	if (r < 0)
		out->error = r;
	if (r > 0)
		buffer_printf(out, "at byte %zu: ", error.offset);
	/* It may be a sentence. */
	buffer_append(out, reason.text,
		reason.size - (reason.size > 0 && reason.text[reason.size - 1] == '.'));
}

void mcp_write_fault(const char *text, size_t size, struct text_view reason, struct buffer *out)
{
	buffer_append_string(out, "it has sent what is no message: ");
	write_salvage_reason(text, size, reason, out);
	buffer_append_string(out, ": ");
	visible_append(out, text, utf8_cut(text, size, SHOWN_BYTES));
}

void mcp_write_stranger(struct text_view id, struct buffer *out)
{
	buffer_append_string(out, "it has sent a response to an unknown request: ");
	if (id.text)
		buffer_append(out, id.text, utf8_prefix(id.text, id.size, QUOTED_CHARS));
	else
		buffer_append_string(out, "without an id");
}

/* ── ids ─────────────────────────────────────────────────────────────────────────────────────── */

uint64_t mcp_id_number(const struct json_tape *tape, uint32_t token)
{
	uint64_t number = 0;
	struct text_view text;

	if (token == JSON_NONE)
		return 0;
	if (json_type_at(tape, token) == JSON_NUMBER)
		return json_number_u64(tape, token, &number) == 0 ? number : 0;
	if (json_type_at(tape, token) != JSON_STRING)
		return 0;
	text = (struct text_view){json_bytes(tape, token), json_at(tape, token)->length};
	for (size_t i = 0; i < text.size; i++) {
		if (text.text[i] < '0' || text.text[i] > '9' || number > UINT64_MAX / 100)
			return 0;
		number = number * 10 + (uint64_t)(text.text[i] - '0');
	}
	return text.size > 0 && text.text[0] != '0' ? number : 0;
}

/* ── responses ───────────────────────────────────────────────────────────────────────────────── */

/*
 * A walk through a text that need not be JSON. It counts containers and skips strings, so it sees
 * which members the outermost objects have, whatever is wrong in their values:
 *
 *   DEBUG {"jsonrpc": "2.0", "id": 7, "result": {"v": NaN,}}
 *         └ level 1 ────────────────────────────┘└ level 2
 */
struct walk {
	const char *at;
	const char *end;
	size_t level;
	struct text_view id;
	bool has_outcome; /* a result or an error */
	bool has_method;
};

static void skip_space(struct walk *walk)
{
	while (walk->at < walk->end && strchr(" \t\r\n", *walk->at) && *walk->at)
		walk->at++;
}

/* Skip the string that begins here. Return what is between its quotes. */
static struct text_view skip_salvaged_string(struct walk *walk)
{
	const char *start = ++walk->at;
	const char *stop;

	while (walk->at < walk->end && *walk->at != '"')
		walk->at += *walk->at == '\\' && walk->end - walk->at > 1 ? 2 : 1;
	stop = walk->at;
	walk->at += walk->at < walk->end;
	return (struct text_view){start, (size_t)(stop - start)};
}

/* Read the id that begins here: an integer, or a string with one. The text is absent if it is
 * neither. */
static struct text_view read_salvaged_id(struct walk *walk)
{
	bool is_string = walk->at < walk->end && *walk->at == '"';
	const char *start = walk->at + is_string;
	const char *stop = start;

	while (stop < walk->end && *stop >= '0' && *stop <= '9')
		stop++;
	if (stop == start || (stop - start > 1 && *start == '0') ||
		(is_string && (stop == walk->end || *stop != '"')))
		return (struct text_view){NULL, 0};
	walk->at = stop + is_string;
	if (walk->at < walk->end && !strchr(",} \t\r\n", *walk->at))
		return (struct text_view){NULL, 0};
	return (struct text_view){start, (size_t)(stop - start)};
}

/* Read the string that begins here, which may be the key of a member of an outermost object. */
static void read_salvaged_string(struct walk *walk)
{
	struct text_view key = skip_salvaged_string(walk);

	skip_space(walk);
	if (walk->level != 1 || walk->at == walk->end || *walk->at != ':')
		return;
	walk->at++;
	skip_space(walk);
	if (text_view_is(key, "id"))
		walk->id = read_salvaged_id(walk);
	walk->has_method = walk->has_method || text_view_is(key, "method");
	walk->has_outcome =
		walk->has_outcome || text_view_is(key, "result") || text_view_is(key, "error");
}

/* Walk to the end of the next outermost object. Return false when there is none. */
static bool walk_object(struct walk *walk)
{
	walk->level = 0;
	walk->id = (struct text_view){NULL, 0};
	walk->has_outcome = false;
	walk->has_method = false;
	walk->at =
		walk->at < walk->end ? memchr(walk->at, '{', (size_t)(walk->end - walk->at)) : NULL;
	if (!walk->at)
		return false;
	do {
		char byte = *walk->at;

		if (byte == '"') {
			read_salvaged_string(walk);
			continue;
		}
		walk->level += byte == '{' || byte == '[';
		walk->level -= byte == '}' || byte == ']';
		walk->at++;
	} while (walk->at < walk->end && walk->level > 0);
	return true;
}

uint64_t mcp_salvage_id(const char *text, size_t size)
{
	struct walk walk = {.at = text, .end = text + size};
	uint64_t number = 0;

	if (!walk_object(&walk) || !walk.id.text || !walk.has_outcome || walk.has_method)
		return 0;
	for (size_t i = 0; i < walk.id.size && number <= UINT64_MAX / 100; i++)
		number = number * 10 + (uint64_t)(walk.id.text[i] - '0');
	return number;
}

void mcp_write_failures(const char *text, size_t size, struct text_view reason, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	struct mcp_error error = {.code = MCP_PARSE_ERROR};
	struct walk walk = {.at = text, .end = text + size};
	size_t count = 0;

	buffer_append_string(&message, "the server has sent an answer that cannot be read: ");
	write_salvage_reason(text, size, reason, &message);
	buffer_fail_with(out, &message);
	error.message = (struct text_view){message.data, message.size};
	buffer_append_char(out, '[');
	while (count < SALVAGED_MAX && walk_object(&walk)) {
		if (!walk.id.text || !walk.has_outcome || walk.has_method)
			continue;
		buffer_append_string(out, count++ > 0 ? "," : "");
		mcp_write_error(out, walk.id, &error);
	}
	buffer_append_char(out, ']');
}
