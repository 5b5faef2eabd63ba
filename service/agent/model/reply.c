/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/model/reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

/* The most bytes of a server's own words in a reason. */
#define WORDS_BYTES 300

static int fail_reply(struct reply *reply, const char *reason)
{
	snprintf(reply->reason, sizeof(reply->reason), "%s", reason);
	return REPLY_E_WRONG;
}

/* ── text ────────────────────────────────────────────────────────────────────────────────────── */

static int take_content(struct reply *reply, const struct json_tape *tape, uint32_t message)
{
	int r;

	reply->text.limit = REPLY_TEXT_BYTES;
	if (!json_read_text(
		    tape, json_find_typed(tape, message, "content", JSON_STRING), &reply->text))
		return 0;
	r = buffer_status(&reply->text);
	return r == -EMSGSIZE ? fail_reply(reply, "the answer has more than a MiB of text") : r;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Append the string or other value at @value to @out, of at most @bytes_max bytes. */
static int take_call_part(struct reply_call *call, const struct json_tape *tape, uint32_t value,
	size_t bytes_max, struct buffer *out)
{
	int r;

	if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL)
		return 0;
	out->limit = bytes_max;
	if (json_type_at(tape, value) == JSON_STRING)
		json_string_decode(tape, value, out);
	else
		json_write_compact(out, tape, value);
	r = buffer_status(out);
	call->is_oversized |= r == -EMSGSIZE;
	return r == -EMSGSIZE ? 0 : r;
}

static struct reply_call *find_index(struct reply *reply, int64_t index)
{
	for (size_t i = reply->n_calls; i > 0; i--)
		if (reply->calls[i - 1].index == index)
			return &reply->calls[i - 1];
	return NULL;
}

/* Return whether the part at @part, with an id of its own, begins another call than @call: some
 * servers give each call the index 0. */
static bool is_other_call(
	const struct reply_call *call, const struct json_tape *tape, uint32_t part)
{
	uint32_t id = json_find_typed(tape, part, "id", JSON_STRING);

	return id != JSON_NONE && json_at(tape, id)->length > 0 && call->id.size > 0 &&
	       !json_string_equals(tape, id, call->id.data, call->id.size);
}

/* Return the call to which the part at @part belongs, an earlier or a new one. NULL: it is dropped,
 * or, with *ret_error, there is no memory. */
static struct reply_call *find_call(
	struct reply *reply, const struct json_tape *tape, uint32_t part, int *ret_error)
{
	uint32_t number = json_find_typed(tape, part, "index", JSON_NUMBER);
	struct reply_call *call = NULL;
	int64_t index = -1;

	if (json_read_i64(tape, number, &index) && index >= 0)
		call = find_index(reply, index);
	else if (json_find_typed(tape, part, "id", JSON_STRING) == JSON_NONE && reply->n_calls > 0)
		call = &reply->calls[reply->n_calls - 1];
	if (call && !is_other_call(call, tape, part))
		return call;
	if (reply->n_calls == REPLY_CALLS_MAX) {
		reply->n_dropped++;
		return NULL;
	}
	*ret_error = array_grow(reply->calls, reply->n_calls);
	if (*ret_error < 0)
		return NULL;
	call = &reply->calls[reply->n_calls++];
	*call = (struct reply_call){.index = index};
	return call;
}

static int take_call(struct reply *reply, const struct json_tape *tape, uint32_t part)
{
	uint32_t function = json_find_typed(tape, part, "function", JSON_OBJECT);
	int r = 0;
	struct reply_call *call = find_call(reply, tape, part, &r);

	if (!call)
		return r;
	if (call->id.size == 0)
		r = take_call_part(call, tape, json_find_typed(tape, part, "id", JSON_STRING),
			REPLY_ID_BYTES, &call->id);
	if (function == JSON_NONE || r < 0)
		return r;
	if (call->name.size == 0)
		r = take_call_part(call, tape, json_find_typed(tape, function, "name", JSON_STRING),
			REPLY_NAME_BYTES, &call->name);
	return r < 0 ? r
		     : take_call_part(call, tape, json_find(tape, function, "arguments"),
			       REPLY_ARGUMENTS_BYTES, &call->arguments);
}

static int take_calls(struct reply *reply, const struct json_tape *tape, uint32_t message)
{
	uint32_t calls = json_find_typed(tape, message, "tool_calls", JSON_ARRAY);
	int r = 0;

	json_each_found(part, tape, calls)
		if (r == 0 && json_type_at(tape, part) == JSON_OBJECT)
			r = take_call(reply, tape, part);
	return r;
}

/* ── the rest of an object ───────────────────────────────────────────────────────────────────── */

static void take_count(
	const struct json_tape *tape, uint32_t usage, const char *key, uint64_t *ret_count)
{
	(void)json_read_u64(tape, json_find(tape, usage, key), ret_count);
}

static void take_usage(struct reply *reply, const struct json_tape *tape)
{
	uint32_t usage = json_find_typed_at(tape, 0, "usage", JSON_OBJECT);

	if (usage == JSON_NONE)
		return;
	reply->usage.is_known = true;
	take_count(tape, usage, "prompt_tokens", &reply->usage.prompt_tokens);
	take_count(tape, usage, "completion_tokens", &reply->usage.completion_tokens);
	take_count(tape, usage, "total_tokens", &reply->usage.total_tokens);
}

/* Take the first of the choices, whose message is the member @key. */
static int take_choice(
	struct reply *reply, const struct json_tape *tape, uint32_t choice, const char *key)
{
	uint32_t message = json_find_typed(tape, choice, key, JSON_OBJECT);
	uint32_t end = json_find_typed(tape, choice, "finish_reason", JSON_STRING);
	int r = take_content(reply, tape, message);

	reply->has_begun = true;
	if (r == 0)
		r = take_calls(reply, tape, message);
	if (end != JSON_NONE) {
		reply->is_finished = true;
		reply->is_cut = json_is_text(tape, end, "length");
	}
	return r;
}

/* Take one object of the server's. */
static int take_object(struct reply *reply, const char *json, size_t size, const char *key)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	uint32_t choices;
	int r = json_tape_read_lax(&tape, json, size, JSON_DEPTH_DEFAULT, &error);

	if (r == -ENOMEM)
		return r;
	if (r != 0 || json_type_at(&tape, 0) != JSON_OBJECT) {
		char reason[MODEL_REASON_BYTES];

		snprintf(reason, sizeof(reason), "what it sent is no JSON object: %s",
			r != 0 ? error.message : "it is another value");
		return fail_reply(reply, reason);
	}
	if (json_find_root(&tape, "error") != JSON_NONE) {
		reply_describe_error(reply->key, 0, json, size, reply->reason);
		return REPLY_E_WRONG;
	}
	take_usage(reply, &tape);
	choices = json_find_typed_at(&tape, 0, "choices", JSON_ARRAY);
	if (choices == JSON_NONE || json_count(&tape, choices) == 0)
		return 0;
	return take_choice(reply, &tape, json_object_at(&tape, json_first(&tape, choices)), key);
}

int reply_take_event(struct reply *reply, const char *data, size_t size)
{
	static const char done[] = "[DONE]";

	if (size == sizeof(done) - 1 && memcmp(data, done, size) == 0) {
		reply->is_finished = true;
		return 0;
	}
	return take_object(reply, data, size, "delta");
}

int reply_take_whole(struct reply *reply, const char *json, size_t size)
{
	int r = take_object(reply, json, size, "message");

	if (r == 0 && !reply->has_begun)
		return fail_reply(reply, "its answer has no choices");
	/* One object is a whole answer. */
	reply->is_finished |= r == 0;
	return r;
}

/* ── failures ────────────────────────────────────────────────────────────────────────────────── */

/* Append the message in the error object of @json. Return whether there was one. */
static bool write_error_message(const char *json, size_t size, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error fault;
	uint32_t error;

	if (json_tape_read_lax(&tape, json, size, JSON_DEPTH_DEFAULT, &fault) != 0)
		return false;
	error = json_find_root(&tape, "error");
	if (error != JSON_NONE && json_type_at(&tape, error) == JSON_OBJECT)
		error = json_find_typed(&tape, error, "message", JSON_STRING);
	else if (error == JSON_NONE)
		error = json_find_root(&tape, "message");
	if (error == JSON_NONE || json_type_at(&tape, error) != JSON_STRING)
		return false;
	json_string_decode(&tape, error, out);
	return true;
}

void reply_mask_key(const char *key, char *text, size_t size)
{
	size_t n = key ? strlen(key) : 0;
	char *end = text + size;

	while (n > 0 && (text = memmem(text, (size_t)(end - text), key, n))) {
		memset(text, '*', n);
		text += n;
	}
}

void reply_describe_error(const char *key, long status, const char *json, size_t size,
	char ret_reason[MODEL_REASON_BYTES])
{
	size_t most = WORDS_BYTES + (key ? strlen(key) : 0);
	cleanup(buffer_deinit) struct buffer words = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!write_error_message(json, size, &words))
		buffer_append(&words, json, size < most ? size : most);
	/* Before it is cut: a part of the key would not be found. */
	if (words.size > 0)
		reply_mask_key(key, words.data, words.size);
	if (status != 0)
		buffer_printf(&text, "HTTP %ld%s", status, words.size > 0 ? ": " : "");
	visible_append(&text, buffer_text(&words), utf8_cut(words.data, words.size, WORDS_BYTES));
	snprintf(ret_reason, MODEL_REASON_BYTES, "%s", buffer_terminate(&text) ? text.data : "");
}

static void deinit_call(struct reply_call *call)
{
	buffer_deinit(&call->id);
	buffer_deinit(&call->name);
	buffer_deinit(&call->arguments);
}

void reply_deinit(struct reply *reply)
{
	for (size_t i = 0; i < reply->n_calls; i++)
		deinit_call(&reply->calls[i]);
	free(reply->calls);
	buffer_deinit(&reply->text);
	*reply = (struct reply){0};
}
