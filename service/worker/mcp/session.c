/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "json/writer.h"
#include "mcp/client/pin.h"
#include "mcp/client/resources.h"
#include "mcp/client/salvage.h"
#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text/text.h"
#include "util/text/utf8.h"
#include "wire/wire.h"
#include "worker/progress.h"

/* The longest text of progress passed on. */
#define PROGRESS_TEXT_BYTES 1024

/* Notes about broken rules of a server; later notes are not logged. */
#define NOTES_MAX 20

/* The longest part of a note in a call's report. */
#define NOTE_CHARS 200

#define JITTER_PERCENT 25

/* The beginning of a line too long, searched for its id. */
#define HEAD_BYTES ((size_t)64 << 10)

/* The reasons of a call of a tool changed since callers saw it. */
#define GONE    "the server does not list this tool any more"
#define CHANGED "the server has changed this tool since it was described; its list is read again"

/* The reason of a call that cannot be sent to a server. */
#define UNREAD "the server cannot be sent so much now, since it does not read it"

/* A larger frame is freed after it is sent. */
#define KEEP_BYTES ((size_t)64 << 10)

/* ── what the client asks for ────────────────────────────────────────────────────────────────── */

/* Append @reason, perhaps with texts of the server, without the secrets. */
static void write_reason(const struct mcp_session *session, const char *reason, struct buffer *out)
{
	mcp_secrets_mask(&session->configuration.secrets, reason, strlen(reason), out);
}

static void fail_session(struct mcp_session *session, const char *reason)
{
	buffer_reset(&session->failure);
	write_reason(session, reason, &session->failure);
}

/* Keep the input schema of the element @object if it sends arguments in headers. 0 or -ENOMEM. */
static int keep_schema(const struct json_tape *tape, uint32_t object, struct listed_tool *tool)
{
	uint32_t schema = json_find_typed(tape, object, "inputSchema", JSON_OBJECT);
	cleanup(buffer_deinit) struct buffer text = {0};

	free(tool->schema);
	tool->schema = NULL;
	if (schema == JSON_NONE)
		return 0;
	buffer_append_char(&text, '[');
	json_write_compact(&text, tape, schema);
	buffer_append_char(&text, ']');
	if (!buffer_terminate(&text))
		return -ENOMEM;
	if (strstr(text.data, "x-mcp-header"))
		tool->schema = buffer_take(&text, NULL);
	return 0;
}

/* Note whether the element @object of a list is the tool seen by callers. @is_ours: added by us. */
static int compare_element(
	struct mcp_session *session, const struct json_tape *tape, uint32_t object, bool is_ours)
{
	uint32_t at = json_type_at(tape, object) == JSON_OBJECT
			      ? json_find_typed(tape, object, "name", JSON_STRING)
			      : JSON_NONE;
	unsigned char pin[MCP_PIN_BYTES];
	cleanup_free char *name = NULL;
	struct listed_tool *tool;
	char text[2 * MCP_PIN_BYTES + 1];

	if (at == JSON_NONE)
		return 0;
	name = json_string_dup(tape, at, NULL);
	if (!name)
		return -ENOMEM;
	tool = mcp_configuration_find(&session->configuration, name);
	if (!tool)
		return 0;
	if (mcp_pin(tape, object, pin) < 0)
		return -ENOMEM;
	text_write_hex(pin, sizeof(pin), text);
	tool->state = strcmp(text, tool->pin) == 0 ? LISTED_SAME : LISTED_CHANGED;
	tool->method = is_ours ? mcp_resources_method(name) : NULL;
	return session->transport->is_http ? keep_schema(tape, object, tool) : 0;
}

/* Read the array @text into @tape, with the tools for resources if they are wanted. *ret_n: the
 * server's own tools. @whole has the bytes to read. 0 or a negative errno. */
static int read_list(const struct mcp_session *session, struct text_view text,
	struct json_tape *tape, struct buffer *whole, uint32_t *ret_n)
{
	int r = json_tape_read(tape, text.text, text.size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0)
		*ret_n = json_count(tape, 0);
	if (r == 0 && session->configuration.has_resources && session->has_resources) {
		mcp_resources_add(whole, tape, 0);
		r = buffer_status(whole);
		r = r ? r
		      : json_tape_read(tape, whole->data, whole->size, JSON_DEPTH_DEFAULT, NULL);
	}
	return r > 0 ? -EPROTO : r;
}

static int take_list(struct mcp_session *session, const struct mcp_action *action)
{
	const struct mcp_secrets *secrets = &session->configuration.secrets;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer masked = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};
	struct text_view text = action->text;
	uint32_t n_left = 0;
	uint64_t digest = 0;
	int r = 0;

	if (mcp_secrets_are_in(secrets, text.text, text.size)) {
		r = mcp_secrets_mask_json(secrets, text.text, text.size, &masked);
		text = (struct text_view){masked.data, masked.size};
	}
	if (r == -EBADMSG) {
		fail_session(session, "its list of tools has a secret that cannot be masked");
		return 0;
	}
	r = r ? r : read_list(session, text, &tape, &whole, &n_left);
	if (r)
		return r;
	for (uint32_t i = 0; i < session->configuration.n_tools; i++)
		session->configuration.tools[i].state = LISTED_GONE;
	for (uint32_t at = json_first(&tape, 0); r == 0 && at < json_end(&tape, 0);
		at = json_next(&tape, at)) {
		r = compare_element(session, &tape, at, n_left == 0);
		n_left -= n_left > 0;
	}
	session->has_list = true;
	if (r == 0 && session->configuration.is_described) {
		r = mcp_list_digest(&tape, 0, &digest);
		session->is_stale = digest != session->configuration.list;
	}
	if (r || session->configuration.is_described)
		return r;
	buffer_reset(&session->list);
	json_write_compact(&session->list, &tape, 0);
	buffer_reset(&session->reason);
	buffer_append_string(&session->reason, action->reason ? action->reason : "");
	r = buffer_status(&session->list);
	return r ? r : buffer_status(&session->reason);
}

static int transmit(int wire, const struct buffer *frame)
{
	for (size_t sent = 0; sent < frame->size;) {
		ssize_t n = send(wire, frame->data + sent, frame->size - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		sent += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Return the call @id, or NULL; 0: a free place. */
static struct mcp_flight *find_flight(struct mcp_session *session, uint64_t id)
{
	for (size_t i = 0; i < WIRE_CALLS_MAX; i++)
		if (session->flights[i].id == id)
			return &session->flights[i];
	return NULL;
}

/* Begin a frame in session->frame. */
static struct buffer *begin_frame(struct mcp_session *session, size_t *ret_start)
{
	buffer_recycle(&session->frame, KEEP_BYTES);
	*ret_start = wire_begin(&session->frame);
	return &session->frame;
}

static int send_frame(
	struct mcp_session *session, size_t start, enum wire_kind kind, uint64_t call_id)
{
	wire_finish(&session->frame, start, kind, call_id);
	return buffer_status(&session->frame) ? buffer_status(&session->frame)
					      : transmit(session->wire, &session->frame);
}

/* Send the last note to the daemon, if a call may time out because of it. */
static void send_note(struct mcp_session *session)
{
	const struct buffer *text = &session->last_note;
	struct buffer *frame;
	size_t start;
	int r;

	if (!mcp_session_has_calls(session) || buffer_status(text) < 0 ||
		!pace_take(&session->note_pace, clock_now_ms()))
		return;
	frame = begin_frame(session, &start);
	buffer_append_string(frame, "the server breaks a rule: ");
	buffer_append(frame, text->data, utf8_prefix(text->data, text->size, NOTE_CHARS));
	r = send_frame(session, start, WIRE_NOTE, 0);
	session->error = session->error ? session->error : r;
}

static void note(struct mcp_session *session, const char *reason)
{
	buffer_reset(&session->last_note);
	write_reason(session, reason, &session->last_note);
	if (++session->n_notes <= NOTES_MAX && buffer_terminate(&session->last_note))
		fprintf(stderr, "the server breaks a rule: %s\n", session->last_note.data);
	send_note(session);
}

static int report_progress(struct mcp_session *session, const struct mcp_action *action)
{
	struct mcp_flight *flight = find_flight(session, action->call);
	const struct mcp_secrets *secrets = &session->configuration.secrets;
	cleanup(buffer_deinit) struct buffer masked = {0};
	struct text_view text = action->text;

	if (mcp_secrets_are_in(secrets, text.text, text.size)) {
		mcp_secrets_mask_whole(secrets, text.text, text.size, &masked);
		text = (struct text_view){masked.data, masked.size};
	}
	if (buffer_status(&masked) < 0)
		return buffer_status(&masked);
	if (!flight || !pace_take(&flight->pace, clock_now_ms()))
		return 0;
	buffer_recycle(&session->frame, KEEP_BYTES);
	progress_append(&session->frame, flight->id, action->progress, text.text,
		text.size < PROGRESS_TEXT_BYTES ? text.size : PROGRESS_TEXT_BYTES);
	return buffer_status(&session->frame) ? buffer_status(&session->frame)
					      : transmit(session->wire, &session->frame);
}

/* Return @text, which is JSON unless @kind is WIRE_FAILED, without the secrets: in @masked if there
 * are any. With a secret that cannot be masked, *kind becomes WIRE_FAILED. */
static struct text_view mask_answer(const struct mcp_session *session, struct text_view text,
	enum wire_kind *kind, struct buffer *masked)
{
	const struct mcp_secrets *secrets = &session->configuration.secrets;
	int r = 0;

	if (!mcp_secrets_are_in(secrets, text.text, text.size))
		return text;
	if (*kind == WIRE_FAILED)
		mcp_secrets_mask_whole(secrets, text.text, text.size, masked);
	else
		r = mcp_secrets_mask_json(secrets, text.text, text.size, masked);
	if (r == 0)
		r = buffer_status(masked);
	if (r == 0)
		return (struct text_view){masked->data, masked->size};
	*kind = WIRE_FAILED;
	return TEXT_VIEW("the result has a secret of this toolbox, which cannot be masked");
}

/* Send the answer @text of the ended @flight. 0 or a negative errno. */
static int answer(struct mcp_session *session, struct mcp_flight *flight, enum wire_kind kind,
	struct text_view text)
{
	size_t start;
	struct buffer *frame = begin_frame(session, &start);
	cleanup(buffer_deinit) struct buffer masked = {0};
	uint64_t id = flight->id;

	text = mask_answer(session, text, &kind, &masked);

	if (text.size > flight->output_max) {
		kind = WIRE_ERROR;
		buffer_printf(frame, "{\"code\":\"too_large\",\"actual\":%zu,\"max\":%" PRIu32 "}",
			text.size, flight->output_max);
	} else {
		buffer_append(frame, text.text, text.size);
	}
	if (buffer_status(frame) < 0) {
		buffer_deinit(frame);
		begin_frame(session, &start);
		kind = WIRE_FAILED;
		buffer_append_string(frame, "the result cannot be sent: memory is short");
	}
	buffer_deinit(&flight->arguments);
	buffer_deinit(&flight->trace);
	flight->id = 0;
	return send_frame(session, start, kind, id);
}

/* End the call of @action. 0 or a negative errno. */
static int end_flight(
	struct mcp_session *session, const struct mcp_action *action, enum wire_kind kind)
{
	struct mcp_flight *flight = find_flight(session, action->call);

	return flight ? answer(session, flight, kind, action->text) : 0;
}

static int lose_call(struct mcp_session *session, const struct mcp_action *action)
{
	struct mcp_flight *flight = find_flight(session, action->call);

	return flight && session->transport->lose ? session->transport->lose(session, flight) : 0;
}

/* Return 0 or a negative errno. */
static int act_on(struct mcp_session *session, const struct mcp_action *action)
{
	switch (action->kind) {
	case MCP_ACT_SEND:
	case MCP_ACT_CLOSE:
		return session->transport->carry(session, action);
	case MCP_ACT_READY:
		session->era = action->era;
		session->version = action->version;
		session->has_resources = action->has_resources;
		session->has_changes = action->era == MCP_LEGACY && action->has_changes;
		session->was_legacy = action->era == MCP_LEGACY && action->is_verdict;
		session->configuration.is_legacy =
			session->configuration.is_legacy && action->era == MCP_LEGACY;
		break;
	case MCP_ACT_TOOLS:
		return take_list(session, action);
	case MCP_ACT_PROGRESS:
		return report_progress(session, action);
	case MCP_ACT_RESULT:
		return end_flight(session, action, WIRE_RESULT);
	case MCP_ACT_FAILED:
		return end_flight(session, action, WIRE_FAILED);
	case MCP_ACT_NOTE:
		note(session, action->reason);
		break;
	case MCP_ACT_NO_TOOLS:
		if (!session->has_list)
			fail_session(session, action->reason);
		break;
	case MCP_ACT_OVER:
		fail_session(session, action->reason);
		break;
	case MCP_ACT_LOST:
		return lose_call(session, action);
	}
	return 0;
}

static void act(void *data, const struct mcp_action *action)
{
	struct mcp_session *session = data;
	int r = act_on(session, action);

	if (session->error == 0)
		session->error = r;
}

/* ── for the transports ─────────────────────────────────────────────────────────────────────── */

int mcp_session_init(struct mcp_session *session, const struct mcp_transport *transport,
	const struct driver_load *load, struct diagnostics *problems)
{
	session->transport = transport;
	session->wire = load->wire;
	return mcp_configuration_read(load, &session->configuration, problems);
}

void mcp_session_deinit(struct mcp_session *session)
{
	mcp_client_free(session->client);
	mcp_configuration_deinit(&session->configuration);
	buffer_deinit(&session->list);
	buffer_deinit(&session->reason);
	buffer_deinit(&session->failure);
	buffer_deinit(&session->last_note);
	for (size_t i = 0; i < WIRE_CALLS_MAX; i++) {
		buffer_deinit(&session->flights[i].arguments);
		buffer_deinit(&session->flights[i].trace);
	}
	buffer_deinit(&session->frame);
}

/* Return by how many percent the waits of a session are longer, so the waits of many hosts do not
 * end at once. */
static unsigned int choose_jitter(void)
{
	unsigned int chance = 0;

	/* Without a random number they are not. */
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = 0;
	return chance % (JITTER_PERCENT + 1);
}

int mcp_session_begin(struct mcp_session *session)
{
	struct mcp_client_options options = {
		.act = act,
		.data = session,
		.version = TOOLBOXD_VERSION,
		.workers = WIRE_CALLS_MAX,
		.start_ms = session->configuration.start_ms,
		.jitter_percent = choose_jitter(),
		.is_http = session->transport->is_http,
		.is_legacy = session->configuration.is_legacy,
		.ends_on_initialize = session->ends_on_initialize,
	};

	mcp_client_free(session->client);
	buffer_reset(&session->failure);
	session->has_list = false;
	session->has_changes = false;
	session->version = NULL;
	session->client = mcp_client_new(&options);
	if (!session->client)
		return -ENOMEM;
	return mcp_session_tick(session);
}

int mcp_session_take(
	struct mcp_session *session, uint64_t request_id, const char *text, size_t size)
{
	int r = mcp_client_take_response(session->client, request_id, text, size, clock_now_ms());

	return r ? r : session->error;
}

/* Return the call whose request has @id, or NULL. */
static struct mcp_flight *find_request(struct mcp_session *session, uint64_t id)
{
	for (size_t i = 0; id != 0 && i < WIRE_CALLS_MAX; i++) {
		struct mcp_flight *flight = &session->flights[i];

		if (flight->id != 0 && mcp_client_request_id(session->client, flight->id) == id)
			return flight;
	}
	return NULL;
}

int mcp_session_refuse_large(struct mcp_session *session, struct mcp_flight *flight, size_t size)
{
	cleanup(buffer_deinit) struct buffer error = {0};

	buffer_printf(&error, "{\"code\":\"too_large\",\"actual\":%zu,\"max\":%" PRIu32 "}", size,
		flight->output_max);
	if (buffer_status(&error) < 0)
		return buffer_status(&error);
	return answer(session, flight, WIRE_ERROR, (struct text_view){error.data, error.size});
}

int mcp_session_take_large(struct mcp_session *session, const char *text, size_t size)
{
	size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
	struct mcp_flight *flight = find_request(session, mcp_salvage_id(text, head));
	int r;

	if (!flight)
		return -EMSGSIZE;
	note(session, "it has sent a line of more than 64 MiB");
	r = mcp_client_cancel(session->client, flight->id, false, clock_now_ms());
	r = r ? r : session->error;
	return r ? r : mcp_session_refuse_large(session, flight, size);
}

int mcp_session_tick(struct mcp_session *session)
{
	int r = mcp_client_tick(session->client, clock_now_ms());

	return r ? r : session->error;
}

int mcp_session_timeout(const struct mcp_session *session, uint64_t due_ms)
{
	uint64_t client_ms = mcp_client_due_ms(session->client);
	uint64_t now_ms = clock_now_ms();

	due_ms = client_ms < due_ms ? client_ms : due_ms;
	if (due_ms == UINT64_MAX)
		return -1;
	if (due_ms <= now_ms)
		return 0;
	return due_ms - now_ms < INT32_MAX ? (int)(due_ms - now_ms) : INT32_MAX;
}

bool mcp_session_has_failed(const struct mcp_session *session)
{
	return session->failure.size > 0;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

void mcp_session_describe(const void *data, struct buffer *out)
{
	const struct mcp_session *session = data;

	if (session->configuration.is_described)
		return;
	buffer_append_string(out, ",\"list\":");
	buffer_append_buffer(out, &session->list);
	if (session->was_legacy || session->configuration.is_legacy)
		buffer_append_string(out, ",\"legacy\":true");
	if (session->reason.size > 0) {
		json_write_member(out, "reason");
		json_write_bytes_lossy(out, session->reason.data, session->reason.size);
	}
}

int mcp_session_refuse(
	struct mcp_session *session, struct mcp_flight *flight, struct text_view text)
{
	return answer(session, flight, WIRE_FAILED, text);
}

int mcp_session_miss(struct mcp_session *session, struct mcp_flight *flight, struct text_view text)
{
	cleanup(buffer_deinit) struct buffer error = {0};

	buffer_append_string(&error, "{\"code\":\"unavailable\",\"message\":");
	json_write_bytes_lossy(&error, text.text, text.size);
	buffer_append_char(&error, '}');
	if (buffer_status(&error) < 0)
		return buffer_status(&error);
	return answer(session, flight, WIRE_ERROR, (struct text_view){error.data, error.size});
}

bool mcp_session_has_calls(const struct mcp_session *session)
{
	for (size_t i = 0; i < WIRE_CALLS_MAX; i++)
		if (session->flights[i].id != 0)
			return true;
	return false;
}

/* Send the request of @flight, unless its tool is not any more as callers see it. 0 or a negative
 * errno. */
static int send_flight(
	struct mcp_session *session, struct mcp_flight *flight, struct text_view arguments)
{
	int r;

	if (flight->tool->state != LISTED_SAME)
		return mcp_session_refuse(session, flight,
			flight->tool->state == LISTED_GONE ? TEXT_VIEW(GONE) : TEXT_VIEW(CHANGED));
	/* Its response may not be waited for any more when it has been sent. */
	flight->is_sent = true;
	session->sending = flight;
	mcp_client_set_trace(
		session->client, (struct text_view){flight->trace.data, flight->trace.size});
	r = flight->tool->method
		    ? mcp_client_ask(session->client, flight->id, flight->tool->method, arguments)
		    : mcp_client_call(session->client, flight->id, TEXT_VIEW(flight->tool->name),
			      arguments);
	mcp_client_set_trace(session->client, (struct text_view){0});
	session->sending = NULL;
	if (r > 0)
		flight->is_sent = false;
	return r < 0 ? r : session->error;
}

static bool is_ready(const struct mcp_session *session)
{
	return session->version && session->has_list;
}

/* Keep the trace of the caller of @call for @flight. Return 0 or a negative errno. */
static int keep_trace(struct mcp_flight *flight, const struct driver_call *call)
{
	static const char *const keys[] = {"traceparent", "tracestate", "baggage"};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer *out = &flight->trace;
	int r;

	if (call->caller_size == 0)
		return 0;
	r = json_tape_read(&tape, call->caller, call->caller_size, JSON_DEPTH_DEFAULT, NULL);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++) {
		uint32_t value = json_find_typed_at(&tape, 0, keys[i], JSON_STRING);

		if (value == JSON_NONE)
			continue;
		buffer_append_string(out, out->size > 0 ? "," : "");
		json_write_key(out, keys[i]);
		json_write_compact(out, &tape, value);
	}
	return r > 0 ? -EPROTO : r ? r : buffer_status(out);
}

int mcp_session_invoke(struct mcp_session *session, const struct driver_call *call)
{
	struct text_view arguments = {call->arguments, call->size};
	struct mcp_flight *flight = find_flight(session, 0);
	int r;

	if (call->is_check || call->tool >= session->configuration.n_tools)
		return -EINVAL;
	if (!flight || find_flight(session, call->id))
		return -EPROTO;
	*flight = (struct mcp_flight){
		.id = call->id,
		.tool = &session->configuration.tools[call->tool],
		.output_max = call->output_max,
	};
	r = keep_trace(flight, call);
	if (r < 0)
		return r;
	if (session->transport->is_http) {
		buffer_append(&flight->arguments, arguments.text, arguments.size);
		if (buffer_status(&flight->arguments) < 0)
			return buffer_status(&flight->arguments);
	}
	if (session->transport->has_room && !session->transport->has_room(session, call->size))
		return mcp_session_refuse(session, flight, TEXT_VIEW(UNREAD));
	return is_ready(session) ? send_flight(session, flight, arguments) : 0;
}

int mcp_session_resume(struct mcp_session *session)
{
	int r = 0;

	for (size_t i = 0; r == 0 && is_ready(session) && i < WIRE_CALLS_MAX; i++) {
		struct mcp_flight *flight = &session->flights[i];

		if (flight->id != 0 && !flight->is_sent)
			r = send_flight(session, flight,
				(struct text_view){flight->arguments.data, flight->arguments.size});
	}
	return r;
}

int mcp_session_report(struct mcp_session *session)
{
	size_t start;

	if (!session->is_stale)
		return 0;
	session->is_stale = false;
	buffer_append_string(begin_frame(session, &start), "{}");
	return send_frame(session, start, WIRE_STALE, 0);
}

int mcp_session_cancel(struct mcp_session *session, uint64_t id, bool is_late)
{
	struct mcp_flight *flight = find_flight(session, id);
	int r;

	if (!flight)
		return 0;
	r = flight->is_sent ? mcp_client_cancel(session->client, id, is_late, clock_now_ms()) : 0;
	r = r ? r : session->error;
	return r ? r : mcp_session_refuse(session, flight, TEXT_VIEW("cancelled"));
}
