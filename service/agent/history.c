/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* The mark of an interrupted answer. */
#define INTERRUPTED "[interrupted]"

/* Characters of a token, as far as this history counts. */
#define TOKEN_CHARS 4

static const char *const role_names[] = {
	[HISTORY_USER] = "user", [HISTORY_ASSISTANT] = "assistant", [HISTORY_TOOL] = "tool"};

/* ── adding ──────────────────────────────────────────────────────────────────────────────────── */

static void deinit_message(struct history_message *message)
{
	buffer_deinit(&message->json);
	buffer_deinit(&message->id);
	buffer_deinit(&message->name);
}

/* Add @message, taken over. 0 or -ENOMEM. */
static int add_message(struct history *history, struct history_message *message)
{
	if (buffer_status(&message->json) < 0 || buffer_status(&message->id) < 0 ||
		buffer_status(&message->name) < 0 ||
		array_grow(history->messages, history->n_messages) < 0) {
		deinit_message(message);
		return -ENOMEM;
	}
	message->time = time(NULL);
	history->n_bytes += message->json.size;
	history->n_chars += message->chars;
	history->messages[history->n_messages++] = *message;
	return 0;
}

static void begin_content(struct buffer *json, enum history_role role)
{
	buffer_printf(json, "{\"role\":\"%s\",\"content\":", role_names[role]);
}

int history_add_user(struct history *history, struct text_view text)
{
	struct history_message message = {.role = HISTORY_USER};

	begin_content(&message.json, HISTORY_USER);
	json_write_bytes_lossy(&message.json, text.text, text.size);
	buffer_append_char(&message.json, '}');
	message.chars = utf8_count(text.text, text.size);
	return add_message(history, &message);
}

static void write_history_call(const struct reply_call *call, struct buffer *json)
{
	buffer_append_string(json, "{\"id\":");
	json_write_bytes_lossy(json, call->id.data, call->id.size);
	buffer_append_string(json, ",\"type\":\"function\",\"function\":{\"name\":");
	json_write_bytes_lossy(json, buffer_text(&call->name), call->name.size);
	buffer_append_string(json, ",\"arguments\":");
	json_write_bytes_lossy(json, buffer_text(&call->arguments), call->arguments.size);
	buffer_append_string(json, "}}");
}

int history_add_assistant(struct history *history, struct text_view text,
	const struct reply_call *calls, size_t n_calls, bool is_interrupted)
{
	struct history_message message = {.role = HISTORY_ASSISTANT};
	cleanup(buffer_deinit) struct buffer content = {0};

	buffer_append(&content, text.text, text.size);
	if (is_interrupted)
		buffer_append_string(&content, content.size > 0 ? " " INTERRUPTED : INTERRUPTED);
	begin_content(&message.json, HISTORY_ASSISTANT);
	if (content.size > 0 || n_calls == 0)
		json_write_bytes_lossy(&message.json, buffer_text(&content), content.size);
	else
		buffer_append_string(&message.json, "null");
	message.chars = utf8_count(buffer_text(&content), content.size);
	for (size_t i = 0; i < n_calls; i++) {
		buffer_append_string(&message.json, i == 0 ? ",\"tool_calls\":[" : ",");
		write_history_call(&calls[i], &message.json);
		message.chars += calls[i].arguments.size;
	}
	buffer_append_string(&message.json, n_calls > 0 ? "]}" : "}");
	buffer_fail_with(&message.json, &content);
	return add_message(history, &message);
}

static void write_tool_message(struct history_message *message, struct text_view content)
{
	begin_content(&message->json, HISTORY_TOOL);
	json_write_bytes_lossy(&message->json, content.text, content.size);
	buffer_append_string(&message->json, ",\"tool_call_id\":");
	buffer_append_buffer(&message->json, &message->id);
	buffer_append_char(&message->json, '}');
	message->chars = utf8_count(content.text, content.size);
}

int history_add_tool(struct history *history, const struct buffer *id, const struct buffer *name,
	struct text_view content)
{
	struct history_message message = {.role = HISTORY_TOOL};

	json_write_bytes_lossy(&message.id, id->data, id->size);
	buffer_append(&message.name, buffer_text(name), name->size);
	write_tool_message(&message, content);
	return add_message(history, &message);
}

/* ── trimming ────────────────────────────────────────────────────────────────────────────────── */

/* Return where the round after the one at the beginning begins; n_messages when there is no other
 * round. */
static size_t find_second_round(const struct history *history)
{
	size_t i = 1;

	while (i < history->n_messages && history->messages[i].role != HISTORY_USER)
		i++;
	return i < history->n_messages ? i : history->n_messages;
}

/* Return where the last round begins. */
static size_t find_last_round(const struct history *history)
{
	size_t i = history->n_messages;

	while (i > 0 && history->messages[i - 1].role != HISTORY_USER)
		i--;
	return i > 0 ? i - 1 : 0;
}

/* Drop the first round, unless it is the last one. */
static bool drop_round(struct history *history)
{
	size_t n = find_second_round(history);

	if (n >= history->n_messages)
		return false;
	for (size_t i = 0; i < n; i++) {
		history->n_bytes -= history->messages[i].json.size;
		history->n_chars -= history->messages[i].chars;
		deinit_message(&history->messages[i]);
	}
	history->n_messages -= n;
	memmove(history->messages, history->messages + n,
		history->n_messages * sizeof(*history->messages));
	return true;
}

/* Leave out the result in @message, if that is shorter. */
static void mask_message(struct history *history, struct history_message *message)
{
	struct history_message masked = {.role = HISTORY_TOOL, .id = message->id};
	cleanup(buffer_deinit) struct buffer content = {0};

	if (message->role != HISTORY_TOOL || message->is_masked)
		return;
	message->is_masked = true;
	buffer_printf(&content, "[result of %.*s left out]", (int)message->name.size,
		buffer_text(&message->name));
	if (buffer_status(&content) < 0)
		return;
	write_tool_message(&masked, (struct text_view){content.data, content.size});
	if (buffer_status(&masked.json) < 0 || masked.chars >= message->chars) {
		buffer_deinit(&masked.json);
		return;
	}
	history->n_bytes = history->n_bytes - message->json.size + masked.json.size;
	history->n_chars = history->n_chars - message->chars + masked.chars;
	buffer_deinit(&message->json);
	message->json = masked.json;
	message->chars = masked.chars;
}

static void mask_results(struct history *history, size_t chars_max)
{
	size_t last = find_last_round(history);

	for (size_t i = 0; i < last && history->n_chars > chars_max; i++)
		mask_message(history, &history->messages[i]);
}

void history_trim(struct history *history, const struct history_limits *limits)
{
	size_t chars_max =
		limits->tokens_max > 0 ? (size_t)limits->tokens_max * TOKEN_CHARS : SIZE_MAX;

	while (limits->messages_max > 0 && history->n_messages > limits->messages_max)
		if (!drop_round(history))
			break;
	if (limits->masks_results)
		mask_results(history, chars_max);
	while (history->n_chars > chars_max || history->n_bytes > HISTORY_BYTES)
		if (!drop_round(history))
			break;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

void history_write(const struct history *history, struct buffer *out)
{
	for (size_t i = 0; i < history->n_messages; i++) {
		buffer_append_char(out, ',');
		buffer_append_buffer(out, &history->messages[i].json);
	}
}

static void list_message(const struct history_message *message, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	char moment[sizeof("2026-01-01T00:00:00Z")];
	uint32_t content = JSON_NONE;
	struct tm utc;

	if (json_tape_read(
		    &tape, message->json.data, message->json.size, JSON_DEPTH_DEFAULT, NULL) == 0)
		content = json_find_typed_at(&tape, 0, "content", JSON_STRING);
	buffer_printf(out, "{\"role\":\"%s\",\"text\":", role_names[message->role]);
	if (content != JSON_NONE)
		json_write_compact(out, &tape, content);
	else
		json_write_text(out, "");
	if (!gmtime_r(&message->time, &utc) ||
		strftime(moment, sizeof(moment), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		*moment = '\0';
	json_write_member_text(out, "time", moment);
	buffer_append_char(out, '}');
}

void history_list(const struct history *history, size_t limit, struct buffer *out)
{
	size_t first = history->n_messages > limit ? history->n_messages - limit : 0;

	buffer_append_char(out, '[');
	for (size_t i = first; i < history->n_messages; i++) {
		if (i > first)
			buffer_append_char(out, ',');
		list_message(&history->messages[i], out);
	}
	buffer_append_char(out, ']');
}

void history_deinit(struct history *history)
{
	for (size_t i = 0; i < history->n_messages; i++)
		deinit_message(&history->messages[i]);
	free(history->messages);
	*history = (struct history){0};
}
