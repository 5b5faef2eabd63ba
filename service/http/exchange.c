/* SPDX-License-Identifier: Apache-2.0 */
#include "http/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "core/call/cancel.h"
#include "core/request/checks.h"
#include "core/request/errors.h"
#include "core/request/topics.h"
#include "core/request/trace.h"
#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"
#include "json/span.h"
#include "json/writer.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/pace.h"
#include "util/text/utf8.h"

/* Bytes of events that wait for a reader, beyond which progress is left out. */
#define PROGRESS_QUEUED_BYTES (64u << 10)

/* The waits that Retry-After gives, in seconds. */
#define RETRY_AFTER_MIN_S 1.0
#define RETRY_AFTER_MAX_S 86400.0

struct exchange {
	struct address address;
	struct service *service;
	struct http_connection *connection; /* NULL: it is gone, or has its response */
	bool is_stream;
	struct pace pace; /* for events of progress */
	struct http_caller caller;
};

static struct exchange *exchange_of(struct address *address)
{
	return container_of(address, struct exchange, address);
}

/* Forget the connection, which holds a reference. */
static struct http_connection *leave_connection(struct exchange *exchange)
{
	struct http_connection *connection = take_ptr(exchange->connection);

	if (connection)
		address_unref(&exchange->address);
	return connection;
}

/* ── the response ────────────────────────────────────────────────────────────────────────────── */

/* Return the status of the response to a whole request: a skipped call is always one of a batch. */
static unsigned int status_of_answer(const struct answer *answer)
{
	static const unsigned int statuses[ANSWER_CODES] = {
		[ANSWER_BAD_REQUEST] = 400,
		[ANSWER_MISSING_NAME] = 404,
		[ANSWER_UNKNOWN_TOOL] = 404,
		[ANSWER_AMBIGUOUS_TOOL] = 409,
		[ANSWER_INVALID_ARGUMENTS] = 422,
		[ANSWER_TOOL_FAILED] = 500,
		[ANSWER_INVALID_OUTPUT] = 500,
		[ANSWER_TIMEOUT] = 504,
		[ANSWER_HOST_CRASHED] = 502,
		[ANSWER_BUSY] = 429,
		[ANSWER_COOLDOWN] = 429,
		[ANSWER_DENIED] = 403,
		[ANSWER_CANCELLED] = 499,
		[ANSWER_UNAVAILABLE] = 503,
		[ANSWER_TOO_LARGE] = 413,
		[ANSWER_UNKNOWN_JOB] = 404,
	};

	if (!answer_is_error(answer))
		return 200;
	check(answer->code != ANSWER_SKIPPED);
	return answer->code == ANSWER_TOO_LARGE && answer->is_oversized ? 500
									: statuses[answer->code];
}

/* Append Retry-After (RFC 9110 §10.2.3) by the `retry_after_s` of the answer with the text @text. A
 * call that found a full queue has none. */
static void write_retry_after(const char *text, size_t size, struct buffer *fields)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t token = JSON_NONE;
	double seconds;

	if (json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, NULL) == 0)
		token = json_find(&tape, 0, "retry_after_s");
	if (token == JSON_NONE || json_number_f64(&tape, token, &seconds) != 0)
		seconds = RETRY_AFTER_MIN_S;
	if (!(seconds >= RETRY_AFTER_MIN_S))
		seconds = RETRY_AFTER_MIN_S;
	if (seconds > RETRY_AFTER_MAX_S)
		seconds = RETRY_AFTER_MAX_S;
	buffer_printf(fields, "Retry-After: %llu\r\n", (unsigned long long)clock_round_up(seconds));
}

/* Append one event of a stream. */
static void write_event(struct buffer *out, const char *event, const char *text, size_t size)
{
	const char *end = text + size;

	buffer_printf(out, "event: %s\n", event);
	do {
		const char *stop = text;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		buffer_append_string(out, "data: ");
		buffer_append(out, text, (size_t)(stop - text));
		buffer_append_char(out, '\n');
		text = stop + (stop < end);
	} while (text < end);
	buffer_append_char(out, '\n');
}

void exchange_send_event(
	struct http_connection *connection, const char *event, const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	write_event(&out, event, text, size);
	if (buffer_status(&out) == 0)
		http_stream_write(connection, out.data, out.size);
}

/* Append Location (RFC 9110 §10.2.2) of the job that the answer with the text @text has begun. No
 * other answer ends with {"job_id": …, "state": "running"}. Return whether there is a job. */
static bool write_location(const char *text, size_t size, struct buffer *fields)
{
	static const char before[] = "\"job_id\":\"";
	static const char after[] = "\",\"state\":\"running\"}";
	size_t whole = strlen(before) + HEX_ID_CHARS + strlen(after);
	const char *at = text + size - whole;

	if (size < whole || memcmp(at, before, strlen(before)) != 0 ||
		memcmp(text + size - strlen(after), after, strlen(after)) != 0)
		return false;
	buffer_printf(fields, "Location: /v1/jobs/%.*s\r\n", HEX_ID_CHARS, at + strlen(before));
	return true;
}

static void respond(struct http_connection *connection, struct answer *answer)
{
	cleanup(buffer_deinit) struct buffer fields = {0};
	struct http_response response = {.status = status_of_answer(answer), .fields = &fields};
	size_t size;
	const char *text = bus_message_text(&answer->message, &size);

	if (response.status == 429)
		write_retry_after(text, size, &fields);
	else if (response.status == 200 && write_location(text, size, &fields))
		response.status = 202;
	http_respond(connection, &response, &answer->message,
		answer->message.data ? (size_t)(text - answer->message.data) : 0);
}

static void take_complete(struct address *address, struct answer *answer)
{
	struct exchange *exchange = exchange_of(address);
	bool is_stream = exchange->is_stream;
	struct http_connection *connection = leave_connection(exchange);
	const char *text;
	size_t size;

	if (!connection)
		return;
	if (!is_stream) {
		respond(connection, answer);
		return;
	}
	text = bus_message_text(&answer->message, &size);
	exchange_send_event(connection, answer_is_error(answer) ? "error" : "result", text, size);
	http_stream_end(connection);
}

/* Return whether an event about the progress @number is due. */
static bool is_due(struct exchange *exchange, double number)
{
	bool is_in_pace = pace_take(&exchange->pace, clock_now_ms());

	if (!is_in_pace && number > 0 && number < 1)
		return false;
	return http_stream_write(exchange->connection, "", 0) < PROGRESS_QUEUED_BYTES;
}

static void take_call_progress(struct address *address, const struct json_tape *progress)
{
	struct exchange *exchange = exchange_of(address);
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t number = json_find(progress, 0, "progress");
	uint32_t text = json_find_typed_at(progress, 0, "text", JSON_STRING);
	double value = 0;

	if (!exchange->is_stream || !exchange->connection)
		return;
	if (number != JSON_NONE && (json_type_at(progress, number) != JSON_NUMBER ||
					   json_number_f64(progress, number, &value) != 0))
		number = JSON_NONE;
	if (!is_due(exchange, value))
		return;
	buffer_append_string(&out, "{\"progress\":");
	if (number == JSON_NONE)
		buffer_append_string(&out, "null");
	else
		json_write_compact(&out, progress, number);
	buffer_append_string(&out, ",\"text\":");
	if (text == JSON_NONE)
		buffer_append_string(&out, "null");
	else
		json_write_compact(&out, progress, text);
	buffer_append_char(&out, '}');
	if (buffer_status(&out) == 0)
		exchange_send_event(exchange->connection, "progress", out.data, out.size);
}

static bool has_rights(const struct address *address)
{
	const struct exchange *exchange = container_of(address, const struct exchange, address);

	return exchange_caller_is_granted(exchange->service, &exchange->caller);
}

static void free_exchange(struct address *address)
{
	struct exchange *exchange = exchange_of(address);

	buffer_deinit(&exchange->caller.texts);
	buffer_deinit(&exchange->caller.trace);
	free(exchange);
}

/* The peer is gone. */
static void give_up(void *data)
{
	struct exchange *exchange = data;

	address_ref(&exchange->address);
	leave_connection(exchange);
	address_leave(&exchange->address);
	cancel_address(&exchange->service->invoker, &exchange->address);
	address_unref(&exchange->address);
}

/* ── the request ─────────────────────────────────────────────────────────────────────────────── */

bool exchange_write_base(const struct http_request *request, struct buffer *out)
{
	const char *url = request->service->config.http.public_url;

	if (url) {
		buffer_append_string(out, url);
		return true;
	}
	if (*request->host) {
		buffer_printf(out, "%s://%s", request->is_tls ? "https" : "http", request->host);
		return true;
	}
	http_respond_error(request->connection, 400,
		"The request must have a Host, from which the URLs here are made.");
	return false;
}

struct text_view exchange_session(const struct http_request *request)
{
	const char *session =
		http_field(http_connection_request(request->connection), "Session-Id", NULL);

	return (struct text_view){session, session ? strlen(session) : 0};
}

const struct catalogue *exchange_view(const struct http_request *request,
	const struct text_view *session, const struct text_view *profile)
{
	const struct policy_caller caller = {
		.source = TEXT_VIEW(request->identity->source),
		.session_id = *session,
		.profile = *profile,
		.granted = request->identity->profile,
		.door = CALL_DOOR_HTTP,
	};

	return policy_view(request->service->offer.policy, &caller);
}

/* Return the text of the field @name; absent unless it is there once. */
static struct text_view single_field(const struct http_reader *reader, const char *name)
{
	unsigned int count;
	const char *text = http_field(reader, name, &count);

	return text && count == 1 ? TEXT_VIEW(text) : (struct text_view){0};
}

static void read_trace_fields(const struct http_reader *reader, struct buffer *out)
{
	const struct trace_texts texts = {
		.parent = single_field(reader, "traceparent"),
		.state = single_field(reader, "tracestate"),
		.baggage = single_field(reader, "baggage"),
	};

	trace_write(&texts, out);
}

int exchange_name_caller(const struct http_request *request, const struct text_view *session,
	struct http_caller *caller, struct address *address)
{
	const struct http_identity *identity = request->identity;
	const char *profile = identity->profile ? identity->profile : "";
	struct buffer *texts = &caller->texts;
	size_t source = strlen(profile) + 1;
	size_t source_end = source + strlen(identity->source);

	buffer_append(texts, profile, source);
	buffer_append_string(texts, identity->source);
	if (session->text)
		utf8_repair(session->text, session->size, texts);
	if (buffer_status(texts) < 0)
		return buffer_status(texts);
	caller->rights = identity_rights(identity, http_connection_peer(request->connection));
	address->granted = identity->profile ? texts->data : NULL;
	address->source = (struct text_view){texts->data + source, source_end - source};
	if (session->text)
		address->session_id =
			(struct text_view){texts->data + source_end, texts->size - source_end};
	address->token = identity_hash_token(&caller->rights);
	if (caller->trace.size == 0)
		read_trace_fields(http_connection_request(request->connection), &caller->trace);
	address->trace = (struct text_view){caller->trace.data, caller->trace.size};
	return buffer_status(&caller->trace);
}

bool exchange_caller_is_granted(const struct service *service, const struct http_caller *caller)
{
	return identity_rights_hold(&service->config.http, &caller->rights);
}

/* Append the key of the next member. */
static void begin_data_member(struct buffer *data, const char *key)
{
	buffer_append_char(data, data->size > 0 ? ',' : '{');
	json_write_key(data, key);
}

void exchange_member(struct buffer *data, const char *key, const struct text_view *text)
{
	if (!text->text)
		return;
	begin_data_member(data, key);
	json_write_string(data, text->text, text->size);
}

void exchange_value(struct buffer *data, const char *key, const struct text_view *json)
{
	begin_data_member(data, key);
	buffer_append(data, json->text, json->size);
}

struct text_view exchange_close(struct buffer *data)
{
	buffer_append_string(data, data->size > 0 ? "}" : "{}");
	return (struct text_view){data->data, data->size};
}

/* Append the member @key with @encoded decoded. Return false, with the response sent, when it is
 * malformed. */
static bool add_decoded(const struct http_request *request, struct buffer *data, const char *key,
	const struct text_view *encoded, bool is_query)
{
	cleanup(buffer_deinit) struct buffer decoded = {0};

	if (!encoded->text)
		return true;
	buffer_reserve(&decoded, encoded->size + 1);
	if (!target_decode(encoded, is_query, &decoded)) {
		http_respond_error(request->connection, 400,
			"ValueError: Bad request: '%s' in the target must be UTF-8, with every %% "
			"followed by two hexadecimal digits",
			key);
		return false;
	}
	exchange_member(data, key, &(struct text_view){decoded.data, decoded.size});
	return true;
}

bool exchange_query(
	const struct http_request *request, struct buffer *data, const char *key, const char *name)
{
	struct text_view value;

	target_find(&request->target, name, &value);
	return add_decoded(request, data, key, &value, true);
}

bool exchange_segment(const struct http_request *request, struct buffer *data, const char *key)
{
	return add_decoded(request, data, key, &request->segment, false);
}

static struct text_view trim_body(const struct buffer *body)
{
	const char *text = body->data;
	size_t size = body->size;

	while (size > 0 && json_is_space((unsigned char)text[size - 1]))
		size--;
	while (size > 0 && json_is_space((unsigned char)*text)) {
		text++;
		size--;
	}
	return (struct text_view){text, size};
}

/* Respond to a body that is no JSON object. @reason: the message of the reader about the byte at
 * @offset; NULL: it is another value. */
static void refuse_body(const struct http_request *request, const struct text_view *body,
	const char *reason, size_t offset)
{
	unsigned int line;
	unsigned int column;

	if (!reason) {
		http_respond_error(request->connection, 400,
			"ValueError: Bad request: the body must be a JSON object");
		return;
	}
	json_locate(body->text, offset, &line, &column);
	http_respond_error(request->connection, 400,
		"ValueError: Bad request: the body must be a JSON object: line %u, column %u: %s",
		line, column, reason);
}

bool exchange_body_members(
	const struct http_request *request, struct buffer *data, const char *const *keys)
{
	struct text_view body = trim_body(&http_connection_request(request->connection)->body);
	const struct config_limits *limits = &request->service->config.limits;
	cleanup(json_tape_cleanup) struct json_tape tape = {
		.tokens_max = config_values_max(limits)};
	struct json_error error = {0};

	if (json_tape_read(&tape, body.text ? body.text : "", body.size, limits->depth, &error) !=
			0 ||
		json_type_at(&tape, 0) != JSON_OBJECT) {
		refuse_body(request, &body, error.message, error.offset);
		return false;
	}
	for (; *keys; keys++) {
		uint32_t token = json_find(&tape, 0, *keys);
		struct text_view value;

		if (token == JSON_NONE)
			continue;
		value.text = json_value_text(&tape, token, &value.size);
		exchange_value(data, *keys, &value);
	}
	return true;
}

static struct exchange *make_exchange(const struct http_request *request)
{
	static const struct address_operations operations = {
		.answer = take_complete,
		.progress = take_call_progress,
		.is_granted = has_rights,
		.free = free_exchange,
	};
	struct text_view session = exchange_session(request);
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->address = (struct address){
		.operations = &operations,
		.references = 2, /* the caller's, and the connection's */
		.door = CALL_DOOR_HTTP,
	};
	exchange->service = request->service;
	exchange->connection = request->connection;
	if (exchange_name_caller(request, &session, &exchange->caller, &exchange->address) == 0)
		return exchange;
	free_exchange(&exchange->address);
	return NULL;
}

static struct text_view client_source(const struct http_request *request)
{
	const char *source = request->identity->source;

	return (struct text_view){source, strlen(source)};
}

/* Refuse @request, whose client may have long work done after @wait_ns. */
static void refuse_busy(
	const struct http_request *request, const struct text_view *source, uint64_t wait_ns)
{
	struct exchange *exchange = make_exchange(request);
	struct answer answer;

	if (!exchange) {
		http_respond_error(request->connection, 503, "Out of memory.");
		return;
	}
	http_wait(request->connection, &(struct http_waiter){give_up, exchange});
	answer_begin_at(&answer, &exchange->address);
	errors_write_checking(&answer, source, wait_ns);
	answer_send(&answer, request->service->bus);
	address_unref(&exchange->address);
}

bool exchange_admit_long(const struct http_request *request)
{
	const struct text_view source = client_source(request);
	uint64_t wait_ns = account_wait_ns(http_connection_account(request->connection),
		checks_source_key(&source), clock_now_ns());

	if (wait_ns > 0)
		refuse_busy(request, &source, wait_ns);
	return wait_ns == 0;
}

void exchange_charge(const struct http_request *request, struct account *account, uint64_t spent_ns)
{
	const struct text_view source = client_source(request);

	if (debt_is_due(spent_ns))
		account_charge_time(
			account, checks_source_key(&source), clock_now_ns(), debt_price(spent_ns));
}

int exchange_submit(const struct http_request *request, struct address *address,
	const struct request_text *text)
{
	struct bus *bus = request->service->bus;
	struct account *before = bus_act_for(bus, http_connection_account(request->connection));
	int r = topics_take_request(request->service, address, text);

	bus_act_for(bus, before);
	return r;
}

/* Serve @request as one with @text, of which the client has written @body. Without a @text memory
 * was short. */
static void serve_text(const struct http_request *request, const struct request_text *text,
	const struct text_view *body, bool wants_events)
{
	const struct bus_fault *fault = &request->service->scope.envelope.fault;
	struct http_connection *connection = request->connection;
	struct exchange *exchange = text ? make_exchange(request) : NULL;
	int r;

	if (!exchange) {
		http_respond_error(connection, 503, "Out of memory.");
		return;
	}
	http_wait(connection, &(struct http_waiter){give_up, exchange});
	r = exchange_submit(request, &exchange->address, text);
	if (r != 0) {
		leave_connection(exchange);
		if (r < 0)
			http_respond_error(connection, 503, "Out of memory.");
		else
			refuse_body(request, body, fault->reason, fault->offset);
	} else if (wants_events && exchange->connection) {
		exchange->is_stream = true;
		http_stream_begin(connection);
	}
	address_unref(&exchange->address);
}

/* Serve @request as one for @topic with @data, which is not closed yet, and @args. */
static void serve_parts(const struct http_request *request, const char *topic, struct buffer *data,
	const struct text_view *args, bool wants_events)
{
	const struct request_text text = {
		.topic = topic, .message = exchange_close(data), .args = *args};

	serve_text(request, buffer_status(data) < 0 ? NULL : &text, args, wants_events);
}

void exchange_serve(const struct http_request *request, const char *topic, struct buffer *data)
{
	serve_parts(request, topic, data, &(struct text_view){0}, false);
}

void exchange_call(const struct http_request *request, const char *topic, struct buffer *data,
	bool wants_events)
{
	/* The response may be sent, and the connection go on, before the service returns. */
	cleanup(buffer_deinit) struct buffer body = {0};
	struct text_view args;

	http_connection_take_body(request->connection, &body);
	args = trim_body(&body);
	if (args.size == 0)
		args.text = NULL;
	serve_parts(request, topic, data, &args, wants_events);
}

void exchange_body(const struct http_request *request, const char *topic)
{
	cleanup(buffer_deinit) struct buffer body = {0};
	struct request_text text = {.topic = topic};

	http_connection_take_body(request->connection, &body);
	text.message = trim_body(&body);
	if (text.message.size == 0)
		text.message = TEXT_VIEW("{}");
	serve_text(request, &text, &text.message, false);
}
