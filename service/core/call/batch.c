/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/account.h"
#include "core/request/errors.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "policy/policy.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text/utf8.h"

/* The longest time for which entries are begun in one turn of the loop. */
#define TURN_NS (1 * NS_PER_MS)

/* The longest deadline. A longer one is not kept. */
#define TIMEOUT_MAX_MS UINT32_MAX

static const char hint_results[] = "ask for less, or in several batches";

static struct batch_entry *entry_at(struct address *address)
{
	return container_of(address, struct batch_entry, address);
}

static struct batch *batch_in(struct list *link)
{
	return container_of(link, struct batch, link);
}

static struct account *payer_of(const struct batch *batch)
{
	return batch->caller->account;
}

/* Look at @batch after the callbacks due now. */
static void make_ready(struct batch *batch)
{
	struct batches *batches = batch->batches;

	if (list_is_empty(&batch->ready))
		list_append(&batches->ready, &batch->ready);
	if (!batches->is_going_on)
		loop_task_post(&batches->task);
}

/* ── the answers of the entries ──────────────────────────────────────────────────────────────── */

/* Begin an answer of our own to @entry, for @address; NULL: it is not sent. */
static void begin_own(
	const struct batch_entry *entry, struct address *address, struct answer *answer)
{
	answer_begin_at(answer, address);
	buffer_append_buffer(&answer->message, &entry->echo);
	answer_keep(answer);
}

/* Put @text, the answer of @entry, in place of an earlier one. Without memory, or when it is more
 * than the caller may hold, @entry has none: see write_answer(). */
static void keep_answer(struct batch_entry *entry, const char *text, size_t size)
{
	struct batch *batch = entry->batch;

	account_release(payer_of(batch), entry->answer.size);
	batch->answer_bytes -= entry->answer.size;
	buffer_deinit(&entry->answer);
	if (!account_hold(payer_of(batch), size))
		return;
	buffer_append(&entry->answer, text, size);
	if (buffer_status(&entry->answer) < 0) {
		account_release(payer_of(batch), size);
		buffer_deinit(&entry->answer);
	}
	batch->answer_bytes += entry->answer.size;
}

static const struct config *config_of(const struct batch *batch)
{
	return batch->batches->invoker->config;
}

/* Return the room that all answers have together. */
static size_t room_of(const struct batch *batch)
{
	size_t rest = batch->answer.message.size + sizeof(",\"results\":[]}}") + batch->n;
	size_t max = config_of(batch)->limits.frame_bytes;

	return rest < max ? max - rest : 0;
}

/* Return the entry with the longest answer that was not cut, or NULL. */
static struct batch_entry *find_largest(struct batch *batch)
{
	struct batch_entry *largest = NULL;

	for (uint32_t i = 0; i < batch->n; i++) {
		struct batch_entry *entry = &batch->entries[i];

		if (entry->answer.size > (largest ? largest->answer.size : 0) && !entry->is_cut)
			largest = entry;
	}
	return largest;
}

/* Put an error in place of the answer of @entry, which is too large beside the others. */
static void cut_answer(struct batch_entry *entry)
{
	size_t room = room_of(entry->batch);
	size_t size = entry->answer.size;
	struct answer answer;
	const char *text;

	begin_own(entry, NULL, &answer);
	answer_error_format(&answer, ANSWER_TOO_LARGE,
		"RuntimeError: The answer has %zu bytes, %zu fit in a frame together with the "
		"others of its batch; %s",
		size, room, hint_results);
	answer_member_number(&answer, "actual", size);
	answer_member_number(&answer, "max", room);
	buffer_append_char(&answer.message, '}');
	text = bus_message_text(&answer.message, &size);
	entry->is_cut = true;
	keep_answer(entry, text, size);
	answer_deinit(&answer);
}

/* Take the answer of the call of @address (struct address_operations). */
static void take_entry_answer(struct address *address, struct answer *answer)
{
	struct batch_entry *entry = entry_at(address);
	struct batch *batch = entry->batch;
	struct batch_entry *largest;
	size_t size;
	const char *text = bus_message_text(&answer->message, &size);

	if (buffer_status(&answer->message) == 0)
		keep_answer(entry, text, size);
	if (answer_is_error(answer) && answer->code == ANSWER_DENIED && batch->denied == batch->n)
		batch->denied = (uint32_t)(entry - batch->entries);
	while (batch->answer_bytes > room_of(batch) && (largest = find_largest(batch)))
		cut_answer(largest);
}

static bool entry_is_granted(const struct address *address)
{
	const struct batch_entry *entry = container_of(address, const struct batch_entry, address);

	return address_is_granted(entry->batch->answer.address);
}

/* The call of @address was answered, or forgotten with its caller (struct address_operations). */
static void end_entry(struct address *address)
{
	struct batch *batch = entry_at(address)->batch;

	batch->n_over++;
	make_ready(batch);
}

/* ── the entries ─────────────────────────────────────────────────────────────────────────────── */

/* Answer @entry, which is not run, with @code and the text of @text. */
static void answer_unserved(struct batch_entry *entry, enum answer_code code, const char *text)
{
	const struct batch *batch = entry->batch;
	const struct batch_entry *denied = &batch->entries[batch->denied];
	struct answer answer;

	begin_own(entry, &entry->address, &answer);
	answer_error(&answer, code, text, strlen(text), UINT32_MAX);
	if (code == ANSWER_SKIPPED)
		buffer_append_buffer(answer_member(&answer, "denied_call_id"), &denied->call_id);
	else if (code == ANSWER_TIMEOUT)
		answer_member_number(&answer, "timeout_ms", batch->timeout_ms);
	answer_send(&answer, batch->batches->invoker->bus);
}

/* Return the decoded name of @entry, shortened, as the arguments of a "%.*s". */
#define NAME_OF(entry)                                                                             \
	(int)((entry)->name.size                                                                   \
			? utf8_prefix((entry)->name.data, (entry)->name.size, REQUEST_NAME_POINTS) \
			: 0),                                                                      \
		((entry)->name.size ? (entry)->name.data : "")

/* Return the call_id of @entry, without its quotes, as the arguments of a "%.*s". */
#define ID_OF(entry) (int)(entry)->call_id.size - 2, (entry)->call_id.data + 1

/* Answer @entry, if it is not to be run. Return whether it was answered. */
static bool answer_early(struct batch_entry *entry, uint64_t now_ms)
{
	const struct batch *batch = entry->batch;
	cleanup(buffer_deinit) struct buffer text = {0};
	enum answer_code code;

	if (batch->is_cancelled || entry->is_cancelled || payer_of(batch)->is_closed) {
		code = ANSWER_CANCELLED;
		buffer_printf(&text, "RuntimeError: Call '%.*s' was cancelled", ID_OF(entry));
	} else if (batch->denied < batch->n && !batch->goes_on) {
		const struct batch_entry *denied = &batch->entries[batch->denied];

		code = ANSWER_SKIPPED;
		buffer_printf(&text,
			"RuntimeError: Skipped: '%.*s' was not run, since call '%.*s' was denied",
			NAME_OF(entry), ID_OF(denied));
	} else if (batch->timeout_ms > 0 && now_ms >= batch->due_ms) {
		code = ANSWER_TIMEOUT;
		buffer_printf(&text,
			"TimeoutError: Tool '%.*s' was not run: its batch exceeded its deadline of "
			"%llu ms",
			NAME_OF(entry), (unsigned long long)batch->timeout_ms);
	} else {
		return false;
	}
	answer_unserved(entry, code, buffer_terminate(&text) ? text.data : "RuntimeError:");
	return true;
}

/* Append the data of the request for the call of @entry. */
static void write_request_data(const struct batch_entry *entry, uint64_t now_ms, struct buffer *out)
{
	const struct batch *batch = entry->batch;
	uint64_t timeout_ms = entry->timeout_ms;

	if (batch->timeout_ms > 0) {
		uint64_t left_ms = batch->due_ms - now_ms;

		timeout_ms = timeout_ms > 0 && timeout_ms < left_ms ? timeout_ms : left_ms;
	}
	buffer_append_char(out, '{');
	buffer_append_buffer(out, &entry->echo);
	buffer_append_buffer(out, &entry->rest);
	if (timeout_ms > 0)
		json_write_member_u64(out, "timeout_ms", timeout_ms);
	buffer_append_char(out, '}');
}

/* Serve the call of @entry. Return false when memory is short. */
static bool serve_entry(struct batch_entry *entry, uint64_t now_ms)
{
	const struct batch *batch = entry->batch;
	const struct batches *batches = batch->batches;
	cleanup(buffer_deinit) struct buffer message = {0};
	struct request_text text = {0};

	if (batch->context.size > 0) {
		buffer_append_string(&message, "{\"type\":\"ovos.tools.invoke\",\"data\":");
		write_request_data(entry, now_ms, &message);
		buffer_append_string(&message, ",\"context\":");
		buffer_append_buffer(&message, &batch->context);
		buffer_append_char(&message, '}');
	} else {
		text.topic = "ovos.tools.invoke";
		write_request_data(entry, now_ms, &message);
	}
	text.message = (struct text_view){message.data, message.size};
	return buffer_status(&message) == 0 &&
	       batches->serve(batches->data, &entry->address, &text) == 0;
}

/* Begin the call of @entry, or answer it at once. */
static void start_entry(struct batch_entry *entry)
{
	static const char memory[] = "RuntimeError: The service is unavailable: out of memory";
	struct bus *bus = entry->batch->batches->invoker->bus;
	struct account *before = bus_act_for(bus, payer_of(entry->batch));
	uint64_t now_ms = clock_now_ms();

	address_ref(&entry->address);
	if (!answer_early(entry, now_ms) && !serve_entry(entry, now_ms))
		answer_unserved(entry, ANSWER_UNAVAILABLE, memory);
	address_unref(&entry->address);
	bus_act_for(bus, before);
}

/* Return whether the tool of @entry only reads, as far as it is known now. */
static bool only_reads(const struct batch_entry *entry)
{
	const struct invoker *invoker = entry->batch->batches->invoker;
	bool last_wins = invoker->config->duplicate_names == CONFIG_DUPLICATES_LAST;
	const struct buffer *name = &entry->name;
	const struct buffer *id = &entry->toolbox_id;
	const struct tool *tool;

	return invoker->offer->policy && name->size > 0 &&
	       catalogue_find(policy_view(invoker->offer->policy, entry->batch->caller), name->data,
		       name->size, id->data, id->size, last_wins, &tool) == 0 &&
	       tool->risk == TOOL_READ;
}

/* Begin the next entry of @batch, if it may begin now. Return whether it was begun. */
static bool begin_next(struct batch *batch)
{
	struct batch_entry *entry = &batch->entries[batch->n_begun];
	bool is_alone;

	if (batch->n_begun == batch->n)
		return false;
	is_alone = !only_reads(entry);
	if (batch->n_begun > batch->n_over && (is_alone || batch->runs_alone))
		return false;
	batch->n_begun++;
	batch->runs_alone = is_alone;
	start_entry(entry);
	return true;
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

static void free_batch(struct batch *batch)
{
	list_remove(&batch->link);
	list_remove(&batch->ready);
	batch->batches->n--;
	for (uint32_t i = 0; i < batch->n; i++) {
		struct batch_entry *entry = &batch->entries[i];

		account_release(payer_of(batch), entry->answer.size);
		buffer_deinit(&entry->echo);
		buffer_deinit(&entry->rest);
		buffer_deinit(&entry->name);
		buffer_deinit(&entry->toolbox_id);
		buffer_deinit(&entry->call_id);
		buffer_deinit(&entry->answer);
	}
	account_release(payer_of(batch), batch->held_bytes);
	answer_deinit(&batch->answer);
	policy_caller_free(batch->caller);
	buffer_deinit(&batch->context);
	buffer_deinit(&batch->call_id);
	buffer_deinit(&batch->source);
	free(batch);
}

/* Append the answer of @entry. An entry without an answer had more than its caller may hold. */
static void write_answer(const struct batch_entry *entry, struct buffer *out)
{
	if (entry->answer.size > 0) {
		buffer_append_buffer(out, &entry->answer);
		return;
	}
	buffer_append_char(out, '{');
	buffer_append_buffer(out, &entry->echo);
	buffer_append_string(out,
		",\"error\":\"RuntimeError: The answer is more than the calls of its caller may "
		"hold (limits.peer_bytes)\",\"code\":\"too_large\"}");
}

/* Answer @batch, of which all entries are over, and free it. */
static void finish_batch(struct batch *batch)
{
	struct bus *bus = batch->batches->invoker->bus;
	struct buffer *out = answer_member(&batch->answer, "results");
	struct account *before = bus_act_for(bus, payer_of(batch));

	buffer_append_char(out, '[');
	for (uint32_t i = 0; i < batch->n; i++) {
		json_write_comma(out);
		write_answer(&batch->entries[i], out);
	}
	buffer_append_char(out, ']');
	answer_make_fit(&batch->answer, config_of(batch)->limits.frame_bytes, hint_results);
	answer_send(&batch->answer, bus);
	bus_act_for(bus, before);
	free_batch(batch);
}

/* Go on with the ready batches, for one turn of the loop. */
static void go_on(void *data)
{
	struct batches *batches = data;
	uint64_t end_ns = clock_now_ns() + TURN_NS;

	batches->is_going_on = true;
	while (!list_is_empty(&batches->ready) && clock_now_ns() < end_ns) {
		struct batch *batch = container_of(batches->ready.next, struct batch, ready);

		if (begin_next(batch))
			continue;
		list_remove(&batch->ready);
		if (batch->n_over == batch->n)
			finish_batch(batch);
	}
	batches->is_going_on = false;
	if (!list_is_empty(&batches->ready))
		loop_timer_arm(&batches->rest, 0);
}

/* ── the beginning ───────────────────────────────────────────────────────────────────────────── */

int batches_init(struct batches *batches, struct loop *loop, const struct invoker *invoker,
	batch_function serve, void *data)
{
	*batches = (struct batches){.invoker = invoker, .serve = serve, .data = data};
	list_init(&batches->all);
	list_init(&batches->ready);
	loop_task_init(&batches->task, loop, go_on, batches);
	return loop_timer_init(&batches->rest, loop, go_on, batches);
}

void batches_deinit(struct batches *batches)
{
	while (batches->n > 0)
		free_batch(batch_in(batches->all.next));
	loop_task_cancel(&batches->task);
	loop_timer_deinit(&batches->rest);
}

/* Append the member @key of the entry at @at as it came, after a comma. */
static void copy_member(
	const struct json_tape *data, uint32_t at, const char *key, struct buffer *out)
{
	uint32_t token = json_find_present(data, at, key);
	struct text_view value;

	if (token == JSON_NONE)
		return;
	value = json_value_view(data, token);
	buffer_append_char(out, ',');
	json_write_key(out, key);
	buffer_append(out, value.text, value.size);
}

/* Decode the string at @token into @out, or copy the text of another value. */
static void decode_value(const struct json_tape *data, uint32_t token, struct buffer *out)
{
	if (token == JSON_NONE)
		return;
	if (json_type_at(data, token) == JSON_STRING)
		json_string_decode(data, token, out);
	else
		request_keep_value(data, token, out);
}

/* Read the deadline of the entry at @at. A mistake stays for the checks of its call. */
static void read_timeout(const struct json_tape *data, uint32_t at, struct batch_entry *entry)
{
	uint32_t token = json_find_present(data, at, "timeout_ms");

	if (token == JSON_NONE)
		return;
	if (!json_read_u64(data, token, &entry->timeout_ms) || entry->timeout_ms == 0) {
		entry->timeout_ms = 0;
		copy_member(data, at, "timeout_ms", &entry->rest);
	}
}

static void write_id(const struct json_tape *data, uint32_t token, struct batch_entry *entry)
{
	uint32_t number = (uint32_t)(entry - entry->batch->entries);

	request_keep_value(data, token, &entry->call_id);
	if (token != JSON_NONE)
		return;
	buffer_append_char(&entry->call_id, '"');
	json_write_u64(&entry->call_id, number);
	buffer_append_char(&entry->call_id, '"');
}

/* Fill @entry from the object at @at. Return 0 or -ENOMEM. */
static int fill_entry(const struct json_tape *data, uint32_t at, struct batch_entry *entry)
{
	uint32_t name = json_find_present(data, at, "name");
	struct buffer *echo = &entry->echo;

	decode_value(data, name, &entry->name);
	decode_value(data, json_find_present(data, at, "toolbox_id"), &entry->toolbox_id);
	write_id(data, json_find_present(data, at, "call_id"), entry);
	json_write_key(echo, "name");
	if (name == JSON_NONE)
		buffer_append_string(echo, "\"\"");
	else
		buffer_append(
			echo, json_value_view(data, name).text, json_value_view(data, name).size);
	buffer_append_string(echo, ",\"call_id\":");
	buffer_append_buffer(echo, &entry->call_id);
	copy_member(data, at, "args", &entry->rest);
	copy_member(data, at, "toolbox_id", &entry->rest);
	read_timeout(data, at, entry);
	/* The check of its call refuses these. */
	for (const char *const *key = request_not_in_entries; *key; key++)
		copy_member(data, at, *key, &entry->rest);
	buffer_fail_with(echo, &entry->name);
	buffer_fail_with(echo, &entry->toolbox_id);
	buffer_fail_with(echo, &entry->rest);
	return buffer_status(echo);
}

/* Let @entry answer for the caller of @batch. */
static void name_caller(struct batch_entry *entry, const struct request_scope *scope)
{
	static const struct address_operations operations = {
		.answer = take_entry_answer,
		.is_granted = entry_is_granted,
		.free = end_entry,
	};
	struct address *address = &entry->address;

	if (scope->address)
		*address = *scope->address;
	address->references = 0;
	address->operations = &operations;
	address->door = scope->caller.door;
	address->response = scope->address ? NULL : &entry->batch->answer;
	address->batch = &entry->batch->common;
	address->has_left = false;
}

/* Fill @batch from the request in @scope. Return 0 or -ENOMEM. */
static int fill_batch(struct batch *batch, const struct request_scope *scope)
{
	const struct request *request = &scope->request;
	const struct json_tape *data = request->data;
	struct text_view context = json_value_view(&scope->envelope.context, 0);
	uint32_t n = 0;
	int r;

	json_each(at, data, request->calls) {
		struct batch_entry *entry = &batch->entries[n++];

		entry->batch = batch;
		name_caller(entry, scope);
		r = fill_entry(data, at, entry);
		if (r < 0)
			return r;
	}
	if (!address_names_caller(scope->address))
		buffer_append(&batch->context, context.text, context.size);
	request_scope_keep_origin(scope, &batch->call_id, &batch->source);
	buffer_fail_with(&batch->context, &batch->call_id);
	buffer_fail_with(&batch->context, &batch->source);
	return buffer_status(&batch->context);
}

/* Return the bytes that @batch keeps of its request. */
static size_t count_bytes(const struct batch *batch)
{
	size_t bytes = sizeof(*batch) + batch->n * sizeof(batch->entries[0]) + batch->context.size +
		       batch->source.size + batch->answer.message.size;

	for (uint32_t i = 0; i < batch->n; i++) {
		const struct batch_entry *entry = &batch->entries[i];

		bytes += entry->echo.size + entry->rest.size + entry->name.size +
			 entry->toolbox_id.size + entry->call_id.size;
	}
	return bytes;
}

/* Return whether the account of @batch may be charged with @bytes for its source, which may have
 * half of what the account may have; if so, charge it. */
static bool charge(struct batch *batch, size_t bytes)
{
	size_t of_source = bytes;

	list_each(const struct batch, other, &batch->batches->all, link) {
		if (payer_of(other) == payer_of(batch) &&
			buffer_equals(&other->source, &batch->source))
			of_source += other->held_bytes;
	}
	if (of_source > account_held_max(payer_of(batch)) / 2 ||
		!account_hold(payer_of(batch), bytes))
		return false;
	batch->held_bytes = bytes;
	return true;
}

/* Return a batch for the request in @scope, or NULL without memory. */
static struct batch *make_batch(struct batches *batches, const struct request_scope *scope)
{
	uint32_t n = json_count(scope->request.data, scope->request.calls);
	struct batch *batch = calloc(1, sizeof(*batch) + n * sizeof(batch->entries[0]));

	if (!batch)
		return NULL;
	batch->caller = policy_caller_copy(&scope->caller);
	if (!batch->caller) {
		free(batch);
		return NULL;
	}
	batch->batches = batches;
	batch->n = batch->denied = n;
	batch->goes_on = scope->request.goes_on;
	if (scope->request.timeout_ms <= TIMEOUT_MAX_MS)
		batch->timeout_ms = scope->request.timeout_ms;
	batch->due_ms = clock_now_ms() + batch->timeout_ms;
	batch->common.profile = batch->caller->profile;
	batch->common.wants_progress = scope->request.wants_progress;
	list_init(&batch->ready);
	list_append(&batches->all, &batch->link);
	batches->n++;
	return batch;
}

bool batches_begin(
	struct batches *batches, const struct request_scope *scope, struct answer *answer)
{
	struct batch *batch = make_batch(batches, scope);
	int r = batch ? fill_batch(batch, scope) : -ENOMEM;

	if (r == 0 && charge(batch, count_bytes(batch))) {
		batch->answer = answer_take(answer);
		make_ready(batch);
		return true;
	}
	if (r < 0)
		answer_error_format(answer, ANSWER_UNAVAILABLE,
			"RuntimeError: The service is unavailable: %s", strerror(-r));
	else
		errors_write_too_many(answer, &scope->caller.source, 1,
			"their requests hold as much memory as they may (limits.peer_bytes)");
	if (batch)
		free_batch(batch);
	return false;
}

void batch_cancel_rest(struct batch *batch)
{
	batch->is_cancelled = true;
	make_ready(batch);
}
