/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/canonical.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/siphash.h"
#include "util/stringify.h"
#include "util/text/utf8.h"

#define DEPTH 128

static const char away[] = "RuntimeError: The tool service is unavailable";

/* ── the end of a call ───────────────────────────────────────────────────────────────────────── */

static void fail_call(struct turn_call *call, const char *code, const char *error)
{
	call->state = TURN_CALL_ENDED;
	buffer_reset(&call->content);
	buffer_reset(&call->error);
	buffer_append_string(&call->error, error);
	buffer_append_string(&call->content, "{\"error\":");
	json_write_text(&call->content, error);
	json_write_member_text(&call->content, "code", code);
	buffer_append_char(&call->content, '}');
}

/* Cut the content of @call to @chars_max code points. */
static void cut_content(struct turn_call *call, size_t chars_max)
{
	struct buffer *content = &call->content;
	size_t size;

	if (content->size <= chars_max)
		return;
	size = utf8_prefix(content->data, content->size, chars_max);
	if (size == content->size)
		return;
	content->size = size;
	buffer_append_string(content, "… [the rest is left out]");
}

/* ── counts ──────────────────────────────────────────────────────────────────────────────────── */

static struct call_count *find_count(const struct call_counts *counts, uint64_t digest)
{
	for (size_t i = 0; i < counts->n_items; i++)
		if (counts->items[i].digest == digest)
			return &counts->items[i];
	return NULL;
}

/* Count a call. Without memory it is not counted. */
static void count_call(struct call_counts *counts, uint64_t digest)
{
	struct call_count *count = find_count(counts, digest);

	if (!count && array_grow(counts->items, counts->n_items) == 0) {
		count = &counts->items[counts->n_items++];
		*count = (struct call_count){.digest = digest};
	}
	if (count)
		count->n++;
}

void call_counts_deinit(struct call_counts *counts)
{
	free(counts->items);
	*counts = (struct call_counts){0};
}

/* ── from the answer to a call ───────────────────────────────────────────────────────────────── */

static void set_tool(
	struct turn_call *call, const struct tools *tools, const char *name, size_t size)
{
	const struct offered_tool *tool = tools_find(tools, name, size);

	buffer_reset(&call->name);
	if (!tool) {
		buffer_append(&call->name, name, size);
		return;
	}
	buffer_append_string(&call->name, tool->name);
	buffer_append_string(&call->toolbox_id, tool->toolbox_id);
	call->spoken = tool->spoken;
}

/* Make the digest of the name and the arguments @args of @call. */
static void digest_call(struct turn_call *call, const struct json_tape *args, uint32_t token)
{
	struct siphash_key key = siphash_process_key();
	cleanup(buffer_deinit) struct buffer text = {0};
	struct siphash hash;

	buffer_append_buffer(&text, &call->toolbox_id);
	buffer_append_char(&text, '/');
	buffer_append_buffer(&text, &call->name);
	buffer_append_char(&text, ':');
	json_write_canonical(&text, args, token);
	siphash_init(&hash, &key);
	siphash_bytes(&hash, buffer_text(&text), text.size);
	call->digest = siphash_finish(&hash);
}

/* Unwrap call_tool: its name and its arguments, which may be an object or the text of an object. */
static uint32_t unwrap_call(struct turn_call *call, const struct tools *tools,
	const struct json_tape *args, struct json_tape *inner, struct buffer *inner_text)
{
	uint32_t value = json_find_root(args, "arguments");
	cleanup(buffer_deinit) struct buffer decoded = {0};

	json_read_text(args, json_find(args, 0, "name"), &decoded);
	set_tool(call, tools, buffer_text(&decoded), decoded.size);
	if (value == JSON_NONE)
		buffer_append_string(inner_text, "{}");
	else if (!json_read_text(args, value, inner_text))
		json_write_compact(inner_text, args, value);
	return buffer_status(inner_text) == 0 && json_tape_read(inner, buffer_text(inner_text),
							 inner_text->size, DEPTH, NULL) == 0
		       ? 0
		       : UINT32_MAX;
}

static void refuse_arguments(struct turn_call *call, const struct json_error *error)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	/* Later requests repeat the arguments, and servers refuse broken ones. */
	buffer_deinit(&call->call.arguments);

	buffer_printf(&text, "ValueError: The arguments are not JSON: at byte %zu: %s",
		error->offset, error->message);
	fail_call(call, "invalid_arguments", buffer_terminate(&text) ? text.data : away);
}

/* Take the query of a search. */
static void take_query(struct turn_call *call, const struct json_tape *args)
{
	uint32_t query = json_find_typed_at(args, 0, "query", JSON_STRING);

	if (query == JSON_NONE || json_at(args, query)->length == 0) {
		fail_call(call, "invalid_arguments",
			"ValueError: " TOOLS_SEARCH " needs 'query', a text");
		return;
	}
	json_string_decode(args, query, &call->args);
	call->state = TURN_CALL_SEARCH;
}

/* Return how often the call @i was made in this turn before, in its own answer, too. */
static size_t count_earlier(
	const struct turn_calls *calls, size_t i, const struct call_counts *counts)
{
	uint64_t digest = calls->items[i].digest;
	const struct call_count *count = find_count(counts, digest);
	size_t n = count ? count->n : 0;

	for (size_t k = 0; k < i; k++)
		n += calls->items[k].state == TURN_CALL_NEW && calls->items[k].digest == digest;
	return n;
}

/* Read the arguments of the call @i, and find its tool. */
static void prepare_call(struct turn_calls *calls, size_t i, const struct tools *tools,
	const struct call_counts *counts)
{
	struct turn_call *call = &calls->items[i];
	const struct buffer *text = &call->call.arguments;
	bool is_empty = text->size == 0;
	cleanup(json_tape_cleanup) struct json_tape args = {0};
	cleanup(json_tape_cleanup) struct json_tape inner = {0};
	cleanup(buffer_deinit) struct buffer inner_text = {0};
	const struct json_tape *used = &args;
	struct json_error error = {.message = "there is not enough memory"};

	if (json_tape_read(&args, is_empty ? "{}" : text->data, is_empty ? 2 : text->size, DEPTH,
		    &error) != 0) {
		refuse_arguments(call, &error);
		return;
	}
	if (tools->is_lazy && buffer_is(&call->call.name, TOOLS_SEARCH)) {
		take_query(call, &args);
		return;
	}
	if (tools->is_lazy && buffer_is(&call->call.name, TOOLS_CALL)) {
		if (unwrap_call(call, tools, &args, &inner, &inner_text) != 0) {
			fail_call(call, "invalid_arguments",
				"ValueError: 'arguments' of " TOOLS_CALL " must be an object");
			return;
		}
		used = &inner;
	} else {
		set_tool(call, tools, buffer_text(&call->call.name), call->call.name.size);
	}
	/* As the text that came: numbers keep their digits. */
	buffer_append(&call->args, used->text, used->size);
	digest_call(call, used, 0);
	if (count_earlier(calls, i, counts) >= CALLS_REPEATS)
		fail_call(call, "repeated",
			"This call was made " STRINGIFY(
				CALLS_REPEATS) " times in this turn, with the same arguments. Use "
					       "its results, or answer without it.");
}

/* Return whether one of the first @n calls has the id @id. */
static bool has_call_id(const struct turn_calls *calls, size_t n, const struct buffer *id)
{
	for (size_t i = 0; i < n; i++)
		if (buffer_equals(&calls->items[i].call.id, id))
			return true;
	return false;
}

/* Make the id of the call @i different from the ids before it. */
static void fix_id(struct turn_calls *calls, size_t i)
{
	struct buffer *id = &calls->items[i].call.id;

	if (buffer_status(id) == 0 && id->size > 0 && !has_call_id(calls, i, id))
		return;
	buffer_reset(id);
	buffer_printf(id, "call_%zu", i);
	while (buffer_status(id) == 0 && has_call_id(calls, i, id))
		buffer_append_char(id, '_');
}

static void take_reply_call(struct turn_calls *calls, size_t i, const struct tools *tools,
	const struct call_counts *counts)
{
	struct turn_call *call = &calls->items[i];

	fix_id(calls, i);
	if (call->call.is_oversized) {
		/* A cut text is not sent back. */
		buffer_deinit(&call->call.arguments);
		buffer_append_string(&call->call.arguments, "{}");
		fail_call(call, "too_large",
			"ValueError: The arguments or the name of this call are too long");
	} else if (i >= TURN_CALLS_MAX) {
		fail_call(call, "busy",
			"RuntimeError: At most " STRINGIFY(
				TURN_CALLS_MAX) " calls are run at once");
	} else {
		prepare_call(calls, i, tools, counts);
	}
	if (call->call.arguments.size == 0)
		buffer_append_string(&call->call.arguments, "{}");
}

int turn_calls_take(struct turn_calls *calls, struct reply *reply, const struct tools *tools,
	const struct call_counts *counts)
{
	calls->items = calloc(reply->n_calls + 1, sizeof(*calls->items));
	if (!calls->items)
		return -ENOMEM;
	calls->n_items = reply->n_calls;
	for (size_t i = 0; i < reply->n_calls; i++) {
		calls->items[i].call = reply->calls[i];
		reply->calls[i] = (struct reply_call){0};
	}
	for (size_t i = 0; i < calls->n_items; i++)
		take_reply_call(calls, i, tools, counts);
	return 0;
}

int turn_calls_take_one(
	struct turn_calls *calls, const struct offered_tool *tool, const struct buffer *args)
{
	struct turn_call *call;

	calls->items = calloc(1, sizeof(*calls->items));
	if (!calls->items)
		return -ENOMEM;
	calls->n_items = 1;
	call = calls->items;
	buffer_append_string(&call->call.id, "0");
	buffer_append_string(&call->call.name, tool->model_name);
	buffer_append_string(&call->name, tool->name);
	buffer_append_string(&call->toolbox_id, tool->toolbox_id);
	buffer_append_buffer(&call->args, args);
	call->spoken = tool->spoken;
	return buffer_status(&call->args);
}

/* ── searches ────────────────────────────────────────────────────────────────────────────────── */

struct turn_call *turn_calls_next_search(struct turn_calls *calls)
{
	for (size_t i = 0; i < calls->n_items; i++)
		if (calls->items[i].state == TURN_CALL_SEARCH)
			return &calls->items[i];
	return NULL;
}

void turn_call_end_search(struct turn_call *call, const struct tools *tools,
	const struct json_tape *found, size_t chars_max)
{
	uint32_t error = found ? json_find_typed_at(found, 0, "error", JSON_STRING) : JSON_NONE;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (error != JSON_NONE)
		json_string_decode(found, error, &text);
	if (!found || error != JSON_NONE) {
		fail_call(call, "unavailable",
			buffer_terminate(&text) && text.size > 0 ? text.data : away);
		return;
	}
	call->state = TURN_CALL_ENDED;
	call->is_ok = true;
	tools_write_found(tools, found, &call->content);
	cut_content(call, chars_max);
}

/* ── a batch ─────────────────────────────────────────────────────────────────────────────────── */

static void write_batch_entry(
	const struct turn_call *call, const char *prefix, size_t i, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_bytes_lossy(out, buffer_text(&call->name), call->name.size);
	if (call->toolbox_id.size > 0) {
		buffer_append_string(out, ",\"toolbox_id\":");
		json_write_bytes_lossy(out, call->toolbox_id.data, call->toolbox_id.size);
	}
	buffer_printf(out, ",\"call_id\":\"%s-%zu\",\"args\":", prefix, i);
	buffer_append_buffer(out, &call->args);
	buffer_append_char(out, '}');
}

size_t turn_calls_write_batch(
	const struct turn_calls *calls, const char *prefix, struct buffer *out)
{
	size_t n = 0;

	for (size_t i = 0; i < calls->n_items; i++) {
		if (calls->items[i].state != TURN_CALL_NEW)
			continue;
		if (n++ > 0)
			buffer_append_char(out, ',');
		write_batch_entry(&calls->items[i], prefix, i, out);
	}
	return n;
}

/* Append the error in the entry @entry for the model: its members but those about the request. */
static void write_error_members(const struct json_tape *tape, uint32_t entry, struct buffer *out)
{
	bool is_first = true;

	json_each_key(key, tape, entry) {
		struct text_view name = json_value_view(tape, key);

		if (json_is_text(tape, key, "name") || json_is_text(tape, key, "call_id") ||
			json_is_text(tape, key, "run_llm"))
			continue;
		buffer_append_char(out, is_first ? '{' : ',');
		is_first = false;
		buffer_append(out, name.text, name.size);
		buffer_append_char(out, ':');
		json_write_compact(out, tape, key + 1);
	}
	buffer_append_string(out, is_first ? "{}" : "}");
}

static bool counts_as_run(const struct json_tape *tape, uint32_t entry)
{
	uint32_t code = json_find_typed(tape, entry, "code", JSON_STRING);

	return code == JSON_NONE ||
	       !(json_is_text(tape, code, "cooldown") || json_is_text(tape, code, "busy") ||
		       json_is_text(tape, code, "timeout"));
}

/* End @call by the entry at @entry. */
static void end_call(struct turn_call *call, const struct json_tape *tape, uint32_t entry,
	struct call_counts *counts, size_t chars_max)
{
	uint32_t result = json_find(tape, entry, "result");
	uint32_t error = json_find_typed(tape, entry, "error", JSON_STRING);

	call->state = TURN_CALL_ENDED;
	call->is_ok = error == JSON_NONE && result != JSON_NONE;
	call->is_quiet = json_find_typed(tape, entry, "run_llm", JSON_FALSE) != JSON_NONE;
	if (call->is_ok) {
		json_write_compact(&call->result, tape, result);
		buffer_append_buffer(&call->content, &call->result);
	} else {
		if (error != JSON_NONE)
			json_string_decode(tape, error, &call->error);
		write_error_members(tape, entry, &call->content);
	}
	cut_content(call, chars_max);
	if (counts_as_run(tape, entry))
		count_call(counts, call->digest);
}

/* End all calls of the batch by the error of the whole response. */
static void end_all_calls(struct turn_calls *calls, const struct json_tape *response,
	struct call_counts *counts, size_t chars_max)
{
	for (size_t i = 0; i < calls->n_items; i++) {
		struct turn_call *call = &calls->items[i];

		if (call->state != TURN_CALL_NEW)
			continue;
		if (response)
			end_call(call, response, 0, counts, chars_max);
		else
			fail_call(call, "unavailable", away);
	}
}

void turn_calls_end_batch(struct turn_calls *calls, const struct json_tape *response,
	struct call_counts *counts, size_t chars_max)
{
	uint32_t results =
		response ? json_find_typed_at(response, 0, "results", JSON_ARRAY) : JSON_NONE;
	size_t i = 0;

	json_each_found(entry, response, results) {
		while (i < calls->n_items && calls->items[i].state != TURN_CALL_NEW)
			i++;
		if (i == calls->n_items || json_type_at(response, entry) != JSON_OBJECT)
			break;
		end_call(&calls->items[i], response, entry, counts, chars_max);
	}
	end_all_calls(calls, results == JSON_NONE ? response : NULL, counts, chars_max);
}

void turn_calls_cancel(struct turn_calls *calls)
{
	for (size_t i = 0; i < calls->n_items; i++)
		if (calls->items[i].state != TURN_CALL_ENDED)
			fail_call(&calls->items[i], "cancelled",
				"RuntimeError: The person interrupted this call, which may have "
				"run");
}

/* ── afterwards ──────────────────────────────────────────────────────────────────────────────── */

int turn_calls_keep(const struct turn_calls *calls, struct history *history)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < calls->n_items; i++) {
		const struct turn_call *call = &calls->items[i];
		const struct text_view content = {buffer_text(&call->content), call->content.size};

		r = buffer_status(&call->content);
		if (r == 0)
			r = history_add_tool(history, &call->call.id, &call->name, content);
	}
	return r;
}

bool turn_calls_are_quiet(const struct turn_calls *calls)
{
	for (size_t i = 0; i < calls->n_items; i++)
		if (!calls->items[i].is_ok)
			return false;
	return calls->n_items > 0 && calls->items[calls->n_items - 1].is_quiet;
}

void turn_calls_list(const struct turn_calls *calls, uint64_t duration_ms, struct buffer *out)
{
	for (size_t i = 0; i < calls->n_items; i++) {
		const struct turn_call *call = &calls->items[i];
		const struct buffer *name = call->name.size > 0 ? &call->name : &call->call.name;

		if (out->size > 0)
			buffer_append_char(out, ',');
		buffer_append_string(out, "{\"name\":");
		json_write_bytes_lossy(out, buffer_text(name), name->size);
		buffer_printf(out, ",\"ok\":%s,\"duration_ms\":%llu}",
			call->is_ok ? "true" : "false", (unsigned long long)duration_ms);
	}
}

static void deinit_turn_call(struct turn_call *call)
{
	buffer_deinit(&call->call.id);
	buffer_deinit(&call->call.name);
	buffer_deinit(&call->call.arguments);
	buffer_deinit(&call->name);
	buffer_deinit(&call->toolbox_id);
	buffer_deinit(&call->args);
	buffer_deinit(&call->content);
	buffer_deinit(&call->result);
	buffer_deinit(&call->error);
}

void turn_calls_deinit(struct turn_calls *calls)
{
	for (size_t i = 0; i < calls->n_items; i++)
		deinit_turn_call(&calls->items[i]);
	free(calls->items);
	*calls = (struct turn_calls){0};
}
