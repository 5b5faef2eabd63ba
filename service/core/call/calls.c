/* SPDX-License-Identifier: Apache-2.0 */
#include "core/call/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/history/call_summary.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "loader/settings.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

#define BUCKETS_FIRST 64

/* A spare record keeps a buffer unless it has grown beyond this. */
#define KEEP_BYTES 16384

/* An id is the low digits of the call's number times an odd factor, which spreads neighbours and
 * loses none, after the other digits. */
#define ID_LOW    (UINT64_C(1) << 24)
#define ID_FACTOR UINT64_C(0x9E3779B1)

/* ── the index by origin ─────────────────────────────────────────────────────────────────────── */

/* Two callers seldom choose the same id, so the source only counts in the comparison. */
static uint64_t hash_origin(
	const struct calls *calls, enum call_door door, const struct buffer *call_id)
{
	struct siphash hash;

	siphash_init(&hash, &calls->hash_key);
	siphash_bytes(&hash, call_id->data, call_id->size);
	return siphash_finish(&hash) + door;
}

static struct list *bucket_of_key(const struct calls *calls, uint64_t key)
{
	return &calls->buckets[key & (calls->n_buckets - 1)];
}

/* Return @n empty buckets, or NULL without memory. */
static struct list *make_buckets(size_t n)
{
	struct list *buckets = reallocarray(NULL, n, sizeof(*buckets));

	for (size_t i = 0; buckets && i < n; i++)
		list_init(&buckets[i]);
	return buckets;
}

/* Double the buckets when there are more calls than that. Without memory they stay as they are. */
static void grow_buckets(struct calls *calls)
{
	size_t n_buckets = 2 * calls->n_buckets;
	struct list *grown;

	if (calls->n_in_flight <= calls->n_buckets)
		return;
	grown = make_buckets(n_buckets);
	if (!grown)
		return;
	free(calls->buckets);
	calls->buckets = grown;
	calls->n_buckets = n_buckets;
	list_each(struct call, call, &calls->in_flight, link) {
		list_init(&call->key_link);
		if (call->call_id.size > 0)
			list_append(bucket_of_key(calls, call->key), &call->key_link);
	}
}

struct call *calls_find(const struct calls *calls, enum call_door door, const struct buffer *source,
	const struct buffer *call_id)
{
	uint64_t key = hash_origin(calls, door, call_id);

	list_each(struct call, call, bucket_of_key(calls, key), key_link) {
		if (call->key == key && call->door == door &&
			buffer_equals(&call->call_id, call_id) &&
			buffer_equals(&call->source, source))
			return call;
	}
	return NULL;
}

/* ── records ─────────────────────────────────────────────────────────────────────────────────── */

int calls_init(struct calls *calls, struct loop *loop)
{
	*calls = (struct calls){.loop = loop, .n_buckets = BUCKETS_FIRST};
	calls->hash_key = siphash_process_key();
	if (getrandom(&calls->process, sizeof(calls->process), 0) != sizeof(calls->process))
		return -EIO;
	list_init(&calls->in_flight);
	list_init(&calls->spare);
	calls->buckets = make_buckets(calls->n_buckets);
	return calls->buckets ? 0 : -ENOMEM;
}

static void free_call(struct call *call)
{
	runner_call_deinit(&call->runner_call);
	buffer_deinit(&call->call_id);
	buffer_deinit(&call->source);
	buffer_deinit(&call->trace);
	buffer_deinit(&call->session);
	buffer_deinit(&call->name);
	buffer_deinit(&call->progress_text);
	audit_record_deinit(&call->record);
	free(call);
}

void calls_deinit(struct calls *calls)
{
	struct list *link;

	if (!calls->loop)
		return;
	list_each(struct call, call, &calls->in_flight, link) {
		answer_deinit(&call->answer);
		calls_close(calls, call);
	}
	while ((link = list_take_first(&calls->spare)))
		free_call(container_of(link, struct call, link));
	free(take_ptr(calls->buckets));
}

static struct call *make_call(struct loop *loop)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call || runner_call_init(&call->runner_call, loop) < 0) {
		free(call);
		return NULL;
	}
	list_init(&call->link);
	list_init(&call->key_link);
	return call;
}

struct call *calls_new(struct calls *calls, const struct tool *tool)
{
	struct list *spare = list_take_first(&calls->spare);
	struct call *call = spare ? container_of(spare, struct call, link) : make_call(calls->loop);

	if (!call)
		return NULL;
	check(call->state == CALL_SPARE);
	call->state = CALL_NEW;
	call->tool = tool;
	call->package = tool ? package_ref(tool->toolbox->package) : NULL;
	call->pace = (struct pace){0};
	call->has_progress = false;
	call->process = calls->process;
	call->runner_call.id = calls->next_id ? calls->next_id : ++calls->last_id;
	calls->next_id = 0;
	call->runner_call.tool = tool ? tool->index : 0;
	call->runner_call.is_check = false;
	return call;
}

void call_id_format(uint32_t process, uint64_t number, char ret_id[CALL_ID_BYTES])
{
	uint64_t digits = (number * ID_FACTOR ^ process) & (ID_LOW - 1);
	uint64_t rest = number / ID_LOW;

	if (rest > 0)
		snprintf(ret_id, CALL_ID_BYTES, "%" PRIx64 "%06" PRIx64, rest, digits);
	else
		snprintf(ret_id, CALL_ID_BYTES, "%06" PRIx64, digits);
}

bool call_has_id(uint32_t process, uint64_t number, const struct text_view *id)
{
	char own[CALL_ID_BYTES];

	call_id_format(process, number, own);
	return text_view_is(*id, own);
}

struct call *calls_find_address(const struct calls *calls, const struct address *address)
{
	list_each(struct call, call, &calls->in_flight, link) {
		if (call->answer.address == address)
			return call;
	}
	return NULL;
}

struct call *calls_find_id(const struct calls *calls, const struct text_view *id)
{
	list_each(struct call, call, &calls->in_flight, link) {
		if (call_has_id(call->process, call->runner_call.id, id))
			return call;
	}
	return NULL;
}

void call_write_id(const struct call *call, struct buffer *out)
{
	if (call->call_id.size > 0)
		buffer_append_buffer(out, &call->call_id);
	else
		buffer_printf(out, "\"%08x-%llu\"", call->process,
			(unsigned long long)call->runner_call.id);
}

void call_write_cut_text(const struct buffer *text, struct buffer *out)
{
	buffer_fail_with(out, text);
	json_write_string(out, buffer_text(text),
		text->size > 0 ? utf8_prefix(text->data, text->size, SUMMARY_TEXT_BYTES) : 0);
}

void call_keep_progress(const struct json_tape *progress, bool *ret_has_number, double *ret_number,
	struct buffer *ret_text)
{
	uint32_t number = json_find_typed_at(progress, 0, "progress", JSON_NUMBER);
	cleanup(buffer_deinit) struct buffer decoded = {0};

	if (number != JSON_NONE)
		*ret_has_number = json_number_f64(progress, number, ret_number) == 0;
	if (!json_read_text(progress, json_find(progress, 0, "text"), &decoded))
		return;
	buffer_reset(ret_text);
	call_write_cut_text(&decoded, ret_text);
}

/* Return the bytes that the calls in flight of @call's source and account hold. */
static size_t held_by_source(const struct calls *calls, const struct call *call)
{
	size_t bytes = 0;

	list_each(const struct call, other, &calls->in_flight, link) {
		if (other->account == call->account && buffer_equals(&other->source, &call->source))
			bytes += other->held_bytes;
	}
	return bytes;
}

static uint64_t shorten(uint64_t allowed_ms, uint64_t requested_ms)
{
	return requested_ms && requested_ms < allowed_ms ? requested_ms : allowed_ms;
}

uint64_t call_timeout_ms(
	const struct config *config, const struct tool *tool, uint64_t requested_ms)
{
	return shorten(settings_timeout_ms(config, tool), requested_ms);
}

uint64_t call_job_timeout_ms(
	const struct config *config, const struct tool *tool, uint64_t requested_ms)
{
	return shorten(shorten(config->job_timeout_ms, tool->timeout_ms), requested_ms);
}

uint64_t call_most_ms(const struct tool *tool)
{
	const struct package *package = tool->toolbox->package;
	uint64_t most_ms = kind_facts(package->kind)->most_ms;

	return most_ms > 0 && package->limits.max_ms > 0 ? package->limits.max_ms : most_ms;
}

bool calls_charge(struct calls *calls, struct call *call, struct account *account,
	size_t n_arguments, const struct answer *answer)
{
	size_t bytes = n_arguments + answer->message.size + call->source.size + call->trace.size +
		       call->session.size + call->call_id.size + call->runner_call.caller.size;
	size_t half;

	check(call->state == CALL_NEW);
	call->account = account_ref(account);
	if (!account_hold(account, bytes))
		return false;
	call->held_bytes = bytes;
	half = account ? account_held_max(account) / 2 : SIZE_MAX;
	/* Few accounts are half full, so the calls are seldom counted. */
	return !account || account->held <= half || held_by_source(calls, call) + bytes <= half;
}

void calls_open(struct calls *calls, struct call *call)
{
	check(call->state == CALL_NEW);
	call->state = CALL_IN_FLIGHT;
	call->hold = limits_move(&calls->hold);
	calls->held_bytes += call->held_bytes;
	calls->n_in_flight++;
	list_append(&calls->in_flight, &call->link);
	if (call->call_id.size == 0)
		return;
	call->key = hash_origin(calls, call->door, &call->call_id);
	list_append(bucket_of_key(calls, call->key), &call->key_link);
	grow_buckets(calls);
}

void calls_close(struct calls *calls, struct call *call)
{
	check(call->state != CALL_SPARE);
	check(!answer_is_open(&call->answer) && !call->question);
	if (call->state == CALL_IN_FLIGHT) {
		check(calls->n_in_flight > 0 && calls->held_bytes >= call->held_bytes);
		calls->n_in_flight--;
		calls->held_bytes -= call->held_bytes;
		list_remove(&call->link);
		list_remove(&call->key_link);
	}
	if (calls->on_close)
		loop_task_post(calls->on_close);
	call->state = CALL_SPARE;
	limits_release(&call->hold);
	account_release(call->account, call->held_bytes);
	call->held_bytes = 0;
	account_unref(take_ptr(call->account));
	if (call->package)
		package_unref(take_ptr(call->package));
	if (call->record.text.size > 0)
		audit_record_reset(&call->record);
	buffer_recycle(&call->name, KEEP_BYTES);
	if (call->progress_text.size > 0)
		buffer_recycle(&call->progress_text, KEEP_BYTES);
	buffer_recycle(&call->runner_call.arguments, KEEP_BYTES);
	buffer_recycle(&call->runner_call.caller, KEEP_BYTES);
	buffer_recycle(&call->source, KEEP_BYTES);
	buffer_recycle(&call->trace, KEEP_BYTES);
	buffer_recycle(&call->session, KEEP_BYTES);
	buffer_recycle(&call->call_id, KEEP_BYTES);
	/* The memory that was used last is the warmest. */
	list_insert_before(calls->spare.next, &call->link);
}
