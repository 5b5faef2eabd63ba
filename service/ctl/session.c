/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "bus/bus.h"
#include "message/envelope.h"
#include "config/config.h"
#include "ctl/http/client.h"
#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "loop/loop.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text/text.h"

/* Descriptors of a client with one connection. */

/* The least time for the response of is_alive, however short --timeout is. */
#define ALIVE_WAIT_MS 1000

/* The interval of ticks, see ctl_session_interrupts(). */
#define TICK_MS 500

/* The wait for the response of a call that was cancelled. */
#define CANCEL_MS 2000

/* The one request that has an effect. */
#define INVOKE_TOPIC "ovos.tools.invoke"

#define ALIVE_TOPIC    "mycroft.toolboxd.is_alive"
#define ALIVE_RESPONSE ALIVE_TOPIC ".response"

/* The key of our context that returns with our responses. */
#define KEY_NAME  "toolboxctl"
#define KEY_BYTES 17

/* Its key for the number of a request. */
#define NUMBER_NAME "request"

struct ctl_session {
	struct loop *loop;
	struct bus *bus;
	struct bus_address address;
	bool is_address_given; /* by the command line or the environment */
	uint64_t timeout_ms;
	uint64_t patience_ms; /* the same, of a service that is alive; 0: timeout_ms */
	char key[KEY_BYTES];  /* hexadecimal, unique to this session */
	struct bus_envelope envelope;
	struct http_client *http;       /* in place of the bus, or NULL */
	struct http_transfer *transfer; /* the request that is in flight */
	struct http_transfer *stream;   /* events of all calls; or NULL */

	/* The request that is in flight. */
	const char *topic;
	const struct buffer *data;
	struct ctl_response *response;
	char response_topic[BUS_TOPIC_BYTES];
	bool is_answered;
	bool is_alive;   /* the service has sent a response */
	bool is_late;    /* the time is over: wait for is_alive only */
	int error;       /* an enum ctl_status that has been reported */
	bool stays;      /* see ctl_session_stay() */
	bool is_waiting; /* in ctl_session_wait() */
	bool is_away;    /* the bus or the service has gone, which has been reported */

	/* The clock of the request, see ctl_session_pause(). */
	bool is_paused;
	bool has_new_clock;
	bool is_restarted;
	uint64_t pause_ms;

	/* See ctl_session_interrupts(). */
	ctl_interrupt_function on_interrupt;
	void (*on_tick)(void *data);
	void *interrupt_data;
	bool takes_signals;
	int signal; /* that has come */

	/* A descriptor that is read meanwhile. */
	struct loop_source *source;
	bool (*on_readable)(void *data);
	void *readable_data;

	/* The broadcasts that are received meanwhile. */
	const char *const *event_topics;
	size_t n_event_topics;
	ctl_event_function on_event;
	void *event_data;
};

/* Report that there is no bus at our address, which may not be the one that is meant. */
static void complain_no_bus(const struct ctl_session *session, const char *reason)
{
	char url[BUS_URL_BYTES];

	bus_address_format(&session->address, url);
	terminal_complain("no bus at %s: %s%s", url, reason,
		session->is_address_given ? "" : "; is another bus meant? TOOLBOXD_BUS is not set");
}

/* Report once that the bus or the service has gone. */
static void complain_away(struct ctl_session *session, const char *reason)
{
	if (!session->is_away)
		terminal_complain("the service is away (%s); waiting for it", reason);
	session->is_away = true;
}

static void fail(struct ctl_session *session, int status)
{
	session->error = status;
	loop_stop(session->loop);
}

static void send_numbered(struct ctl_session *session, const char *topic, const struct buffer *data,
	const char *number)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	char context[192];
	int r;

	snprintf(context, sizeof(context),
		"{\"source\":\"" CTL_SOURCE "\",\"session\":{\"session_id\":\"default\"},"
		"\"" KEY_NAME "\":\"%s\",\"" NUMBER_NAME "\":\"%s\"}",
		session->key, number);
	bus_request_begin(&message, topic, context);
	if (data)
		buffer_append(&message, data->data, data->size);
	else
		buffer_append_string(&message, "{}");
	bus_message_end(&message);
	r = bus_send(session->bus, &message, BUS_SHARE_OWN);
	if (r == 0)
		return;
	terminal_complain("the request cannot be sent: %s", strerror(-r));
	fail(session, r == -EMSGSIZE ? CTL_USAGE : CTL_NO_BUS);
}

static void send_request(struct ctl_session *session, const char *topic, const struct buffer *data)
{
	send_numbered(session, topic, data, "");
}

static void on_up(void *data)
{
	struct ctl_session *session = data;

	if (session->is_answered) {
		/* Its data is the caller's, who may have freed it. */
		loop_stop(session->loop);
		return;
	}
	send_request(session, session->topic, session->data);
	if (session->error == 0)
		send_request(session, ALIVE_TOPIC, NULL);
}

static void on_unreachable(void *data, const char *reason)
{
	struct ctl_session *session = data;

	if (session->stays) {
		complain_away(session, reason);
		return;
	}
	complain_no_bus(session, reason);
	fail(session, CTL_NO_BUS);
}

/* Some buses close a connection when another one has just ended. on_up() sends a request without
 * effect again; a tool that may have run is not run again. */
static void on_down(void *data, const char *reason)
{
	struct ctl_session *session = data;

	if (session->stays)
		complain_away(session, reason);
	if (session->is_answered || strcmp(session->topic, INVOKE_TOPIC) != 0)
		return;
	terminal_complain(
		"the bus went away before the answer (%s); the tool may have run", reason);
	fail(session, CTL_NO_ANSWER);
}

static bool is_topic(const char *topic, size_t size, const char *wanted)
{
	return strlen(wanted) == size && memcmp(topic, wanted, size) == 0;
}

static bool is_event(const struct ctl_session *session, const char *topic, size_t size)
{
	for (size_t i = 0; i < session->n_event_topics; i++)
		if (is_topic(topic, size, session->event_topics[i]))
			return true;
	return false;
}

static bool on_wants(void *data, const char *topic, size_t size)
{
	const struct ctl_session *session = data;

	return is_topic(topic, size, session->response_topic) ||
	       is_topic(topic, size, ALIVE_RESPONSE) || is_event(session, topic, size);
}

/* Return whether the context of the message has the text @text at @name. */
static bool has_in_context(const struct ctl_session *session, const char *name, const char *text)
{
	const struct json_tape *context = &session->envelope.context;
	uint32_t key = json_find(context, 0, name);

	return key != JSON_NONE && json_is_text(context, key, text);
}

/* Return whether the message is a response to our request. */
static bool is_our_response(const struct ctl_session *session)
{
	return has_in_context(session, KEY_NAME, session->key);
}

bool ctl_session_is_ours(const struct ctl_session *session)
{
	return is_our_response(session);
}

bool ctl_session_has_number(const struct ctl_session *session, const char *number)
{
	return is_our_response(session) && has_in_context(session, NUMBER_NAME, number);
}

static void on_frame(void *data, const char *text, size_t size)
{
	struct ctl_session *session = data;
	struct bus_envelope *envelope = &session->envelope;
	int r;

	if (bus_envelope_read(envelope, text, size, CTL_RESPONSE_DEPTH_MAX) != 0)
		return;
	if (is_event(session, envelope->topic, envelope->topic_size)) {
		session->on_event(session->event_data, envelope->topic, &envelope->data);
		return;
	}
	if (session->is_answered || !is_our_response(session))
		return;
	session->is_alive = true;
	if (session->is_late) {
		loop_stop(session->loop);
		return;
	}
	if (strcmp(envelope->topic, session->response_topic) != 0)
		return;
	r = envelope->data_status == 0 ? ctl_response_copy(session->response, &envelope->data)
				       : -EBADMSG;
	if (r == 0) {
		session->is_answered = true;
		loop_stop(session->loop);
		return;
	}
	terminal_complain("the response cannot be read: %s",
		r == -ENOMEM ? strerror(ENOMEM) : "a duplicate key, or too many levels");
	fail(session, CTL_NO_ANSWER);
}

static int read_url(const char *name, const char *url, struct bus_address *ret_address)
{
	const char *reason = NULL;
	cleanup_free char *shown = NULL;

	if (bus_address_parse(url, ret_address, &reason) == 0)
		return 0;
	shown = text_mask_url_dup(url);
	terminal_complain(
		"%s must be the URL of a bus, like ws://127.0.0.1:8181/core, not '%s': %s", name,
		shown ? shown : TEXT_MASK, reason);
	return CTL_USAGE;
}

static void ignore_report(void *data, const struct diagnostic *diagnostic)
{
	(void)data;
	(void)diagnostic;
}

static bool is_this_device(const char *host)
{
	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
	       strcasecmp(host, "localhost") == 0;
}

/* Show the configured token to a bus on this device or on the configured host, and to no other. */
static void add_token(struct bus_address *address)
{
	const struct config_flags flags = {0};
	struct bus_address configured;

	if (config_read_bus(&flags, ignore_report, NULL, &configured) != 0)
		return;
	if (is_this_device(address->host) || strcasecmp(address->host, configured.host) == 0)
		memcpy(address->token, configured.token, sizeof(address->token));
}

static int read_url_with_token(const char *name, const char *url, struct bus_address *ret_address)
{
	int r = read_url(name, url, ret_address);

	if (r == 0)
		add_token(ret_address);
	return r;
}

/* --bus, else TOOLBOXD_BUS, else the `websocket` section, else the default. */
static int find_bus(const struct ctl_options *options, struct bus_address *ret_address)
{
	const struct config_flags flags = {0};
	const char *variable = getenv("TOOLBOXD_BUS");

	if (options->bus)
		return read_url_with_token("--bus", options->bus, ret_address);
	if (variable && *variable)
		return read_url_with_token("TOOLBOXD_BUS", variable, ret_address);
	return config_read_bus(&flags, terminal_complain_error, NULL, ret_address) == 0
		       ? 0
		       : CTL_NO_BUS;
}

static int make_session_key(char ret_key[KEY_BYTES])
{
	uint64_t chance;

	if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -EIO;
	snprintf(ret_key, KEY_BYTES, "%016" PRIx64, chance);
	return 0;
}

/* Create a session without an address. Return 0, or an enum ctl_status after a complaint. */
static int make_session(const struct ctl_options *options, struct ctl_session **ret_session)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = calloc(1, sizeof(*session));
	int r;

	if (!session) {
		terminal_complain("%s", strerror(ENOMEM));
		return CTL_NO_BUS;
	}
	session->timeout_ms = options->timeout_ms;
	r = make_session_key(session->key);
	if (r == 0)
		r = loop_new(&session->loop);
	if (r < 0) {
		terminal_complain("cannot connect: %s", strerror(-r));
		return CTL_NO_BUS;
	}
	*ret_session = take_ptr(session);
	return 0;
}

int ctl_session_open_at(const struct ctl_options *options, const struct bus_address *address,
	struct ctl_session **ret_session)
{
	int r = make_session(options, ret_session);

	if (r == 0)
		(*ret_session)->address = *address;
	return r;
}

static int open_bus(const struct ctl_options *options, struct ctl_session **ret_session)
{
	const char *variable = getenv("TOOLBOXD_BUS");
	struct bus_address address;
	int r = find_bus(options, &address);

	r = r ? r : ctl_session_open_at(options, &address, ret_session);
	if (r == 0)
		(*ret_session)->is_address_given = options->bus || (variable && *variable);
	return r;
}

static int open_http(const struct ctl_options *options, const char *name, const char *url,
	struct ctl_session **ret_session)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct http_address address;
	int r = http_address_read(name, url, options->token_file, &address);

	if (r == 0)
		r = make_session(options, &session);
	if (r == 0)
		r = http_client_new(session->loop, &address, &session->http);
	explicit_bzero(address.token, sizeof(address.token));
	if (r == 0)
		*ret_session = take_ptr(session);
	return r;
}

int ctl_session_open(const struct ctl_options *options, struct ctl_session **ret_session)
{
	const char *variable = getenv("TOOLBOXD_HTTP");

	if (options->bus && options->http)
		terminal_complain("--bus and --http name two services");
	else if (options->http)
		return open_http(options, "--http", options->http, ret_session);
	else if (!options->bus && variable && *variable)
		return open_http(options, "TOOLBOXD_HTTP", variable, ret_session);
	else if (options->token_file)
		terminal_complain("--token-file goes with --http or TOOLBOXD_HTTP");
	else
		return open_bus(options, ret_session);
	return CTL_USAGE;
}

bool ctl_session_is_http(const struct ctl_session *session)
{
	return session->http != NULL;
}

void ctl_session_close(struct ctl_session *session)
{
	if (!session)
		return;
	loop_source_free(session->source);
	http_transfer_free(session->transfer);
	http_transfer_free(session->stream);
	http_client_free(session->http);
	bus_free(session->bus);
	loop_free(session->loop);
	bus_envelope_deinit(&session->envelope);
	free(session);
}

/* Connect, or use the connection that exists. */
static int begin_session(struct ctl_session *session)
{
	static const struct bus_handler handler = {
		.wants = on_wants,
		.frame = on_frame,
		.up = on_up,
		.down = on_down,
		.unreachable = on_unreachable,
	};

	if (session->bus) {
		send_request(session, session->topic, session->data);
		return session->error;
	}
	return bus_connect(session->loop, &session->address, &bus_limits_default, &handler, session,
		&session->bus);
}

/* ── the clock ───────────────────────────────────────────────────────────────────────────────── */

/* Take @passed_ms off *left_ms. */
static void take_time(uint64_t *left_ms, uint64_t passed_ms)
{
	*left_ms -= passed_ms < *left_ms ? passed_ms : *left_ms;
}

/* Serve for a part of the time that is left. Return the result of loop_run(), -ETIME only when all
 * of it is over. */
static int run_part(struct ctl_session *session, uint64_t *left_ms)
{
	bool was_paused = session->is_paused;
	uint64_t *clock_ms = was_paused ? &session->pause_ms : left_ms;
	bool is_part = session->on_tick && *clock_ms > TICK_MS;
	uint64_t began_ms = clock_now_ms();
	int r;

	session->has_new_clock = false;
	r = loop_run(session->loop, (int)(is_part ? TICK_MS : *clock_ms));
	/* An event may have set the time of a pause anew. */
	if (!was_paused || !session->has_new_clock)
		take_time(clock_ms, clock_now_ms() - began_ms);
	if (r != -ETIME || !(is_part || was_paused))
		return r;
	if (is_part)
		session->on_tick(session->interrupt_data);
	else
		session->is_paused = false;
	session->has_new_clock = true;
	return 0;
}

/* Let the caller take the signal or the end of the time. Return 0 to go on with a new time, -EINTR
 * after a signal, or -ETIME. */
static int take_interrupt(struct ctl_session *session, uint64_t *left_ms)
{
	int signal_number = session->signal;

	session->signal = 0;
	session->is_paused = false;
	*left_ms = session->on_interrupt
			   ? session->on_interrupt(session->interrupt_data, signal_number)
			   : 0;
	session->has_new_clock = *left_ms > 0;
	if (*left_ms > 0)
		return 0;
	return signal_number ? -EINTR : -ETIME;
}

/* Serve until the loop is stopped or the time of the request is over, which does not pass while it
 * is paused. Return the result of loop_run(), or -EINTR after a signal. */
static int run_clock(struct ctl_session *session)
{
	uint64_t left_ms = session->timeout_ms;
	int r;

	session->is_paused = session->has_new_clock = session->is_restarted = false;
	do {
		r = run_part(session, &left_ms);
		if (session->is_restarted)
			left_ms = session->timeout_ms;
		session->is_restarted = false;
		if (!session->is_answered && session->error == 0 &&
			(session->signal || r == -ETIME))
			r = take_interrupt(session, &left_ms);
	} while (r == 0 && session->has_new_clock && !session->is_answered && session->error == 0);
	return r;
}

static bool is_alive(const struct ctl_session *session)
{
	return session->http ? http_transfer_is_connected(session->transfer) : session->is_alive;
}

/* Wait for the response. The time of a live service may be longer, and holds for the requests from
 * then on. Return the result of run_clock(). */
static int await_response(struct ctl_session *session)
{
	uint64_t waited_ms = session->timeout_ms;
	int r = run_clock(session);

	if (r != -ETIME || session->patience_ms <= waited_ms || !is_alive(session))
		return r;
	session->timeout_ms = session->patience_ms - waited_ms;
	r = run_clock(session);
	session->timeout_ms = session->patience_ms;
	return r;
}

/* ── over HTTP ───────────────────────────────────────────────────────────────────────────────── */

/* Report that there is no response, for @reason. */
static void complain_no_service(struct ctl_session *session, const char *reason)
{
	if (session->stays)
		complain_away(session, reason);
	else
		terminal_complain(
			"no tool service at %s: %s", http_client_url(session->http), reason);
}

/* Keep the data of a response: an object, of an error when the status means an error. Return
 * whether it is that. */
static bool keep_data(struct ctl_response *response, const struct http_outcome *outcome)
{
	buffer_reset(&response->text);
	route_read(outcome->type, &outcome->body, &response->text);
	if (buffer_terminate(&response->text) &&
		json_tape_read(&response->tape, response->text.data, response->text.size,
			CTL_RESPONSE_DEPTH_MAX, NULL) == 0 &&
		json_type_at(&response->tape, 0) == JSON_OBJECT &&
		(outcome->status == 200 || ctl_response_status(response) != CTL_DONE))
		return true;
	buffer_reset(&response->text);
	return false;
}

static void on_outcome(void *data, const struct http_outcome *outcome)
{
	struct ctl_session *session = data;
	const char *failure = outcome->failure;
	bool has_effect = strcmp(session->topic, INVOKE_TOPIC) == 0;
	char reason[64];

	if (!failure && keep_data(session->response, outcome)) {
		session->is_answered = true;
		session->is_away = false;
		loop_stop(session->loop);
		return;
	}
	if (!failure) {
		snprintf(reason, sizeof(reason),
			"its response, of status %ld, does not come from toolboxd",
			outcome->status);
		failure = reason;
	}
	if (has_effect && (!outcome->failure || outcome->is_lost)) {
		terminal_complain(
			"no answer from the service (%s); the tool may have run", failure);
		fail(session, CTL_NO_ANSWER);
		return;
	}
	complain_no_service(session, failure);
	fail(session, CTL_NO_BUS);
}

/* Take an event of a call or of all calls: as on the bus, where the topic ends in the type. */
static void on_http_event(void *data, const char *type, const char *text, size_t size)
{
	struct ctl_session *session = data;
	cleanup(json_tape_cleanup) struct json_tape event = {0};
	char topic[BUS_TOPIC_BYTES];

	if (!type || json_tape_read(&event, text, size, CTL_RESPONSE_DEPTH_MAX, NULL) != 0)
		return;
	if (strcmp(type, "progress") == 0)
		type = "call.progress";
	if (snprintf(topic, sizeof(topic), "ovos.tools.%s", type) >= (int)sizeof(topic))
		return;
	if (strcmp(type, "lost") == 0)
		terminal_complain("events were lost: they came faster than they were read");
	if (is_event(session, topic, strlen(topic)))
		session->on_event(session->event_data, topic, &event);
}

/* The response to a request for events. */
static const struct http_outcome no_data = {.status = 200, .body = {"{}", 2}};

/* Take an event of all calls; the first one is the response to the request for them. */
static void on_stream_event(void *data, const char *type, const char *text, size_t size)
{
	struct ctl_session *session = data;

	if (!type && !session->stream) {
		session->stream = take_ptr(session->transfer);
		on_outcome(session, &no_data);
	}
	on_http_event(session, type, text, size);
}

static void on_stream_outcome(void *data, const struct http_outcome *outcome)
{
	struct ctl_session *session = data;

	if (!session->stream) {
		on_outcome(session, outcome);
		return;
	}
	complain_no_service(
		session, outcome->failure ? outcome->failure : "the stream of events has ended");
	http_transfer_free(take_ptr(session->stream));
	ctl_session_wake(session);
}

/* Write the request that is in flight. Return 0, or CTL_USAGE after a complaint. */
static int write_route(const struct ctl_session *session, struct route_request *ret_request)
{
	int r = route_write(session->topic, session->data, ret_request);

	if (r == 0)
		return 0;
	if (r == -ENOENT)
		terminal_complain("HTTP has no route for %s: use the bus (--bus)", session->topic);
	else
		terminal_complain("the request cannot be sent: %s", strerror(-r));
	return CTL_USAGE;
}

/* Report that the time is over. */
static int complain_slow(struct ctl_session *session)
{
	bool has_effect = strcmp(session->topic, INVOKE_TOPIC) == 0;
	double seconds = (double)session->timeout_ms / 1000;
	char reason[64];

	if (http_transfer_is_connected(session->transfer) && !session->stays) {
		terminal_complain("no answer from %s within %g s (--timeout)%s",
			http_client_url(session->http), seconds,
			has_effect ? "; the connection is closed, which cancels the call" : "");
		return CTL_NO_ANSWER;
	}
	snprintf(reason, sizeof(reason), "no response within %g s (--timeout)", seconds);
	complain_no_service(session, reason);
	return CTL_NO_BUS;
}

/* Send the request that is in flight, and wait for its response. Return 0 or an enum ctl_status. */
static int ask_over_http(struct ctl_session *session)
{
	static const struct http_handler plain = {on_outcome, NULL};
	static const struct http_handler call = {on_outcome, on_http_event};
	static const struct http_handler watch = {on_stream_outcome, on_stream_event};
	cleanup(route_request_deinit) struct route_request request = {0};
	int r = write_route(session, &request);

	if (r != 0)
		return r;
	/* The stream goes on. */
	if (request.is_watch && session->stream)
		return keep_data(session->response, &no_data) ? 0 : CTL_ERROR;
	session->transfer = http_client_send(session->http, &request,
		request.is_watch       ? &watch
		: request.wants_events ? &call
				       : &plain,
		session);
	if (!session->transfer) {
		terminal_complain("the request cannot be sent: %s", strerror(ENOMEM));
		return CTL_NO_BUS;
	}
	r = await_response(session);
	if (session->error != 0)
		r = session->error;
	else if (session->is_answered)
		r = 0;
	else
		r = r == -EINTR ? CTL_NO_ANSWER : complain_slow(session);
	/* A service that goes away is waited for. */
	if (session->stays)
		session->error = 0;
	http_transfer_free(take_ptr(session->transfer));
	return r;
}

/* ── requests ────────────────────────────────────────────────────────────────────────────────── */

/* The time is over: report what is missing, the bus, the service or its response. */
static int tell_silence(struct ctl_session *session)
{
	char url[BUS_URL_BYTES];
	double seconds = (double)session->timeout_ms / 1000;

	session->is_late = true;
	if (bus_is_up(session->bus) && !session->is_alive && session->timeout_ms < ALIVE_WAIT_MS)
		loop_run(session->loop, (int)(ALIVE_WAIT_MS - session->timeout_ms));
	if (session->error != 0)
		return session->error;
	if (session->stays) {
		session->is_answered = true;
		complain_away(session, "no response");
		return CTL_NO_BUS;
	}
	if (!bus_is_up(session->bus)) {
		char reason[64];

		snprintf(reason, sizeof(reason), "no connection within %g s", seconds);
		complain_no_bus(session, reason);
		return CTL_NO_BUS;
	}
	if (session->is_alive) {
		terminal_complain(
			"no answer within %g s (--timeout); the service is alive", seconds);
		return CTL_NO_ANSWER;
	}
	bus_address_format(&session->address, url);
	terminal_complain("no tool service answers on the bus at %s; is toolboxd running?", url);
	return CTL_NO_BUS;
}

int ctl_session_ask(struct ctl_session *session, const char *topic, const struct buffer *data,
	struct ctl_response *ret_response)
{
	int r;

	if (!session->http && session->stays && !bus_is_up(session->bus))
		return CTL_NO_BUS;
	session->topic = topic;
	session->data = data;
	session->response = ret_response;
	session->is_answered = session->is_late = false;
	if (session->http)
		return ask_over_http(session);
	snprintf(session->response_topic, sizeof(session->response_topic), "%s.response", topic);
	r = begin_session(session);
	if (r == 0)
		r = await_response(session);
	if (session->error != 0)
		return session->error;
	if (session->is_answered) {
		session->is_away = false;
		return 0;
	}
	if (r == -EINTR)
		return CTL_NO_ANSWER;
	if (r == -ETIME || r == 0)
		return tell_silence(session);
	terminal_complain("cannot connect: %s", strerror(-r));
	return CTL_NO_BUS;
}

void ctl_session_send(struct ctl_session *session, const char *topic, const struct buffer *data)
{
	send_request(session, topic, data);
}

void ctl_session_send_numbered(struct ctl_session *session, const char *topic,
	const struct buffer *data, const char *number)
{
	send_numbered(session, topic, data, number);
}

uint64_t ctl_session_cancel(struct ctl_session *session, const char *call_id)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	if (session->http)
		return 0;
	ctl_request_begin(&data);
	ctl_request_member(&data, "call_id", call_id);
	ctl_request_end(&data);
	send_request(session, "ovos.tools.cancel", &data);
	return CANCEL_MS;
}

void ctl_session_set_timeout(struct ctl_session *session, uint64_t timeout_ms)
{
	session->timeout_ms = timeout_ms;
}

void ctl_session_set_patience(struct ctl_session *session, uint64_t patience_ms)
{
	session->patience_ms = patience_ms;
}

static void on_signal(void *data, int signal_number)
{
	struct ctl_session *session = data;

	session->signal = signal_number;
	loop_stop(session->loop);
}

/* Return whether SIGHUP, the end of the terminal, is ignored, as by nohup. */
static bool outlives_terminal(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int ctl_session_interrupts(struct ctl_session *session, ctl_interrupt_function interrupt,
	void (*tick)(void *data), void *data)
{
	int r = 0;

	session->on_interrupt = interrupt;
	session->on_tick = tick;
	session->interrupt_data = data;
	if (!session->takes_signals)
		r = loop_add_signal(session->loop, SIGINT, on_signal, session);
	if (r == 0 && !session->takes_signals)
		r = loop_add_signal(session->loop, SIGTERM, on_signal, session);
	if (r == 0 && !session->takes_signals && !outlives_terminal())
		r = loop_add_signal(session->loop, SIGHUP, on_signal, session);
	session->takes_signals = true;
	if (r == 0)
		return 0;
	terminal_complain("signals cannot be taken: %s", strerror(-r));
	return CTL_ERROR;
}

void ctl_session_listen(struct ctl_session *session, const char *const *topics, size_t n_topics,
	ctl_event_function function, void *data)
{
	session->event_topics = topics;
	session->n_event_topics = n_topics;
	session->on_event = function;
	session->event_data = data;
}

void ctl_session_stay(struct ctl_session *session)
{
	session->stays = true;
}

int ctl_session_wait(struct ctl_session *session, uint64_t timeout_ms)
{
	int r;

	session->is_waiting = true;
	r = loop_run(session->loop, (int)timeout_ms);
	session->is_waiting = false;
	if (session->error != 0)
		return session->error;
	if (r == 0 || r == -ETIME)
		return 0;
	terminal_complain("cannot listen: %s", strerror(-r));
	return CTL_NO_BUS;
}

static void set_clock(struct ctl_session *session, bool is_paused)
{
	session->is_paused = is_paused;
	session->has_new_clock = true;
	loop_stop(session->loop);
}

void ctl_session_pause(struct ctl_session *session, uint64_t most_ms)
{
	session->pause_ms = most_ms;
	set_clock(session, true);
}

void ctl_session_resume(struct ctl_session *session)
{
	set_clock(session, false);
}

void ctl_session_restart(struct ctl_session *session)
{
	session->is_restarted = true;
	set_clock(session, false);
}

static void on_readable(void *data, uint32_t events)
{
	struct ctl_session *session = data;
	struct loop_source *source = session->source;

	(void)events;
	if (session->on_readable(session->readable_data))
		return;
	if (session->source == source)
		session->source = NULL;
	loop_source_free(source);
}

int ctl_session_read(struct ctl_session *session, int fd, bool (*function)(void *data), void *data)
{
	int r;

	session->on_readable = function;
	session->readable_data = data;
	r = loop_add_fd(session->loop, fd, EPOLLIN, on_readable, session, &session->source);
	if (r == 0 || r == -EPERM)
		return r;
	terminal_complain("stdin cannot be read: %s", strerror(-r));
	return CTL_USAGE;
}

void ctl_session_watch_readers(
	struct ctl_session *session, int fd, bool (*function)(void *data), void *data)
{
	session->on_readable = function;
	session->readable_data = data;
	/* epoll reports errors and hang-ups without being asked. */
	if (loop_add_fd(session->loop, fd, 0, on_readable, session, &session->source) < 0)
		session->source = NULL;
}

int ctl_session_signal(const struct ctl_session *session)
{
	return session->signal;
}

void ctl_session_wake(struct ctl_session *session)
{
	if (session->is_waiting)
		loop_stop(session->loop);
}
