/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest/guest_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "message/response.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define TOPIC_CALL   "ovos.tools.guest.call"
#define TOPIC_CANCEL "ovos.tools.guest.cancel"

/* Levels of a result, below which it is wrapped. */
#define RESULT_DEPTH_MAX 1000

/* A call that was begun. */
struct guest_call {
	struct list link;
	struct runner_call *call;
	char id[CALL_ID_BYTES];
	const char *why; /* why it was not sent; constant text */
};

static struct guest_call *guest_call_of(struct list *link)
{
	return container_of(link, struct guest_call, link);
}

static struct guest_calls *calls_of(struct executor *executor)
{
	return container_of(executor, struct guest_calls, executor);
}

/* ── messages to guests ──────────────────────────────────────────────────────────────────────── */

/* Return the time now in ms since 1970. */
static uint64_t unix_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * MS_PER_S + (uint64_t)now.tv_nsec / NS_PER_MS;
}

/* Append the session of the caller of @call, byte for byte (request_scope_write_session()). */
static void write_session(const struct runner_call *call, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct text_view session = {0};
	uint32_t token = JSON_NONE;

	if (call->caller.size > 0 && json_tape_read_lax(&tape, call->caller.data, call->caller.size,
					     RESULT_DEPTH_MAX, NULL) == 0)
		token = json_find_typed_at(&tape, 0, "session", JSON_OBJECT);
	if (token != JSON_NONE)
		session = json_value_view(&tape, token);
	if (session.text)
		buffer_append(out, session.text, session.size);
	else
		buffer_append_string(out, "{\"session_id\": \"default\"}");
}

/* Begin a message called @topic about @call, addressed to its guest, up to the id in its data. */
static void begin_message(
	const struct guest_call *guest_call, const char *topic, struct buffer *message)
{
	cleanup(buffer_deinit) struct buffer context = {0};

	buffer_append_string(&context, "{\"source\": \"toolboxd\", \"destination\": ");
	json_write_text(&context, runner_package(guest_call->call->runner)->guest_source);
	buffer_append_string(&context, ", \"session\": ");
	write_session(guest_call->call, &context);
	buffer_append_char(&context, '}');
	buffer_terminate(&context);
	bus_request_begin(message, topic, context.error ? "{}" : context.data);
	buffer_fail_with(message, &context);
	buffer_append_string(message, "{\"call_id\":");
	json_write_text(message, guest_call->id);
}

/* Send @message, whose data is open, on behalf of the caller of @call. Return the result of
 * bus_send(). */
static int send_message(const struct guest_calls *calls, const struct guest_call *guest_call,
	struct buffer *message)
{
	const struct call *call = container_of(guest_call->call, struct call, runner_call);
	struct bus *bus = calls->bus;
	struct account *before = bus_act_for(bus, call->account);
	int r;

	buffer_append_char(message, '}');
	bus_message_end(message);
	bus_count_answers(bus, 1);
	r = bus_send(bus, message, BUS_SHARE_OWN);
	bus_act_for(bus, before);
	return r;
}

/* Send the call with the JSON text @arguments. Return 0 or a negative errno. */
static int send_guest_call(const struct guest_calls *calls, const struct guest_call *guest_call,
	const char *arguments, size_t size)
{
	const struct tool *tool =
		runner_package(guest_call->call->runner)->tools[guest_call->call->tool];
	uint64_t left_ms = runner_call_left_ms(guest_call->call);
	cleanup(buffer_deinit) struct buffer message = {0};

	begin_message(guest_call, TOPIC_CALL, &message);
	json_write_member_text(&message, "toolbox_id", tool->toolbox->id);
	json_write_member_text(&message, "name", tool->name);
	json_write_member_u64(&message, "timeout_ms", left_ms);
	json_write_member_u64(&message, "deadline", unix_ms() + left_ms);
	json_write_member_json(&message, "args", arguments, size);
	return send_message(calls, guest_call, &message);
}

/* Send the guest the end of its call. A message that cannot be sent is logged by the bus. */
static void send_cancel(const struct guest_calls *calls, const struct guest_call *guest_call)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	begin_message(guest_call, TOPIC_CANCEL, &message);
	(void)send_message(calls, guest_call, &message);
}

/* ── the executor ────────────────────────────────────────────────────────────────────────────── */

static void free_guest_call(struct guest_call *guest_call)
{
	list_remove(&guest_call->link);
	free(guest_call);
}

/* End @guest_call, which is freed first: the end of a call may begin others. */
static void finish_sent(struct guest_call *guest_call, const struct call_result *result)
{
	struct runner_call *call = guest_call->call;

	free_guest_call(guest_call);
	runner_finish(call, result);
}

/* End the calls that were not sent. */
static void end_lost(void *data)
{
	struct guest_calls *calls = data;

	while (!list_is_empty(&calls->lost)) {
		struct guest_call *guest_call = guest_call_of(calls->lost.next);
		const char *why = guest_call->why;

		finish_sent(guest_call,
			&(struct call_result){
				.outcome = CALL_UNAVAILABLE, .text = why, .size = strlen(why)});
	}
}

/* Return why @call cannot be sent to its guest now, or NULL. */
static const char *find_obstacle(const struct guest_calls *calls, const struct runner_call *call)
{
	if (!calls->find_owner(calls->data, runner_package(call->runner)))
		return "its guest has left";
	return bus_is_up(calls->bus) ? NULL : "the bus is away";
}

static int begin_guest_call(
	struct executor *executor, struct runner_call *call, const char *arguments, size_t size)
{
	struct guest_calls *calls = calls_of(executor);
	const struct call *record = container_of(call, struct call, runner_call);
	struct guest_call *guest_call = malloc(sizeof(*guest_call));

	if (!guest_call)
		return -ENOMEM;
	*guest_call = (struct guest_call){.call = call, .why = find_obstacle(calls, call)};
	list_init(&guest_call->link);
	call_id_format(record->process, call->id, guest_call->id);
	if (!guest_call->why && send_guest_call(calls, guest_call, arguments, size) < 0)
		guest_call->why = "its call could not be sent to its guest";
	list_append(guest_call->why ? &calls->lost : &calls->sent, &guest_call->link);
	if (guest_call->why)
		loop_timer_arm(&calls->losing, 0);
	return 0;
}

/* Return the call of @list that runs @call, or NULL. */
static struct guest_call *find_by_call(struct list *list, const struct runner_call *call)
{
	list_for_each(link, list)
		if (guest_call_of(link)->call == call)
			return guest_call_of(link);
	return NULL;
}

static void cancel_guest_call(struct executor *executor, struct runner_call *call, bool is_late)
{
	struct guest_calls *calls = calls_of(executor);
	struct guest_call *guest_call = find_by_call(&calls->sent, call);

	(void)is_late;
	if (guest_call)
		send_cancel(calls, guest_call);
	else
		guest_call = find_by_call(&calls->lost, call);
	check(guest_call);
	free_guest_call(guest_call);
}

static const char *note_guest_call(struct executor *executor, const struct runner_call *call)
{
	(void)executor;
	(void)call;
	return NULL;
}

bool guest_owner_is(const struct guest_owner *owner, const struct policy_caller *caller)
{
	const struct text_view *source = &caller->source;

	return owner && source->text && text_view_is(*source, owner->source) &&
	       (owner->connection == 0 ||
		       (caller->account && caller->account->number == owner->connection));
}

/* ── messages from guests ────────────────────────────────────────────────────────────────────── */

/* Return the sent call that @scope's message is about, if its sender is the owner of the guest that
 * runs it; else NULL, after a line in the log. */
static struct guest_call *find_sent(struct guest_calls *calls, const struct request_scope *scope)
{
	const struct json_tape *data = &scope->envelope.data;
	const struct text_view *source = &scope->caller.source;
	const char *why = "it names no call that runs";

	list_each(struct guest_call, guest_call, &calls->sent, link) {
		if (!json_member_is(data, 0, "call_id", guest_call->id))
			continue;
		if (guest_owner_is(calls->find_owner(
					   calls->data, runner_package(guest_call->call->runner)),
			    &scope->caller))
			return guest_call;
		why = "its sender is not the guest of the call";
		break;
	}
	log_limited(&calls->dropped, LOG_LEVEL_WARNING,
		"A message of a guest was dropped, with the type '%s' and the source %.*s: %s",
		scope->envelope.topic, source->text ? request_name_length(source) : 4,
		source->text ? source->text : "null", why);
	return NULL;
}

static void fail_guest_call(struct guest_call *guest_call, const char *text)
{
	finish_sent(guest_call,
		&(struct call_result){.outcome = CALL_FAILED, .text = text, .size = strlen(text)});
}

/* End the call with the error at @token: a text, or the JSON text of another value. */
static void finish_error(
	struct guest_call *guest_call, const struct json_tape *data, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_type_at(data, token) == JSON_STRING)
		json_string_decode(data, token, &text);
	else
		json_write_compact(&text, data, token);
	if (!buffer_terminate(&text)) {
		fail_guest_call(guest_call, strerror(ENOMEM));
		return;
	}
	finish_sent(
		guest_call, &(struct call_result){
				    .outcome = CALL_FAILED, .text = text.data, .size = text.size});
}

/* End the call with the result at @token; a value other than an object becomes its `result`. */
static void finish_result(struct guest_calls *calls, struct guest_call *guest_call,
	const struct request_scope *scope, uint32_t token)
{
	const struct json_tape *data = &scope->envelope.data;
	size_t size_max = calls->config->limits.host_output_bytes;
	bool is_object = json_type_at(data, token) == JSON_OBJECT;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct host_exit exit = {.max = size_max};
	struct call_result result = {
		.outcome = CALL_RESULT, .tape = &tape, .reading_ns = scope->reading_ns};

	buffer_append_string(&text, is_object ? "" : "{\"result\":");
	json_write_compact(&text, data, token);
	buffer_append_string(&text, is_object ? "" : "}");
	exit.actual = text.size;
	if (buffer_status(&text) == 0 && text.size > size_max) {
		finish_sent(guest_call,
			&(struct call_result){.outcome = CALL_TOO_LARGE, .exit = &exit});
	} else if (buffer_status(&text) < 0 ||
		   json_tape_read(&tape, text.data, text.size, RESULT_DEPTH_MAX, NULL) != 0) {
		fail_guest_call(guest_call, strerror(ENOMEM));
	} else {
		result.text = text.data;
		result.size = text.size;
		finish_sent(guest_call, &result);
	}
}

void guest_calls_respond(struct guest_calls *calls, const struct request_scope *scope)
{
	struct guest_call *guest_call = find_sent(calls, scope);
	const struct json_tape *reply = &scope->envelope.data;
	uint32_t error = json_find_root(reply, "error");
	uint32_t result = json_find(reply, 0, "result");

	if (!guest_call)
		return;
	if (error != JSON_NONE && result != JSON_NONE && json_type_at(reply, result) == JSON_NULL)
		result = JSON_NONE;
	if (scope->envelope.is_skimmed)
		fail_guest_call(guest_call, "the response of the guest takes too long to read");
	else if (scope->envelope.data_status != 0)
		fail_guest_call(guest_call,
			"the response of the guest has too many values or levels, or a key twice");
	else if (error == JSON_NONE && result == JSON_NONE)
		fail_guest_call(
			guest_call, "the response of the guest has neither a result nor an error");
	else if (error != JSON_NONE && result != JSON_NONE)
		fail_guest_call(guest_call, "the response of the guest has a result and an error");
	else if (error != JSON_NONE)
		finish_error(guest_call, reply, error);
	else
		finish_result(calls, guest_call, scope, result);
}

void guest_calls_progress(struct guest_calls *calls, const struct request_scope *scope)
{
	struct guest_call *guest_call = find_sent(calls, scope);

	if (guest_call && !scope->envelope.is_skimmed && scope->envelope.data_status == 0)
		runner_progress(guest_call->call, &scope->envelope.data);
}

/* ── life ────────────────────────────────────────────────────────────────────────────────────── */

int guest_calls_init(struct guest_calls *calls, struct loop *loop)
{
	static const struct executor_operations operations = {
		.begin = begin_guest_call,
		.cancel = cancel_guest_call,
		.note = note_guest_call,
	};

	calls->executor.operations = &operations;
	list_init(&calls->sent);
	list_init(&calls->lost);
	return loop_timer_init(&calls->losing, loop, end_lost, calls);
}

static void free_all(struct list *list)
{
	while (list->next && !list_is_empty(list))
		free_guest_call(guest_call_of(list->next));
}

void guest_calls_deinit(struct guest_calls *calls)
{
	free_all(&calls->sent);
	free_all(&calls->lost);
	loop_timer_deinit(&calls->losing);
}
