/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/request.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"

/*
 * A request over HTTP, which is a transfer of ctl/http/client, and the events of a stream.
 *
 *   the request ─▶ its route ─▶ transfer ─┬─▶ outcome: the response, or why there is none
 *                                         └─▶ events of its call; of a watch: the stream stays
 */

/* Report that there is no response, for @reason. */
static void complain_no_service(struct ctl_session *session, const char *reason)
{
	if (session->stays)
		session_complain_away(session, reason);
	else
		terminal_complain(
			"no tool service at %s: %s", http_client_url(session->http.client), reason);
}

/* Keep the data of a response: an object; with another status than 200, of an error. Return whether
 * the response has such data. */
static bool keep_data(struct ctl_response *response, const struct http_outcome *outcome)
{
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
	bool has_effect = session_runs_tools(session);
	char reason[64];

	if (!failure && keep_data(session->request.response, outcome)) {
		session->request.is_answered = true;
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
		session_fail(session, CTL_NO_ANSWER);
		return;
	}
	complain_no_service(session, failure);
	session_fail(session, CTL_NO_BUS);
}

/* Take an event of a call or of all calls. Its topic on the bus ends with its type. */
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
	if (session_is_event(session, topic, strlen(topic)))
		session->events.on_event(session->events.data, topic, &event);
}

/* The response to a request for events. */
static const struct http_outcome no_data = {.status = 200, .body = {"{}", 2}};

/* Take an event of all calls; the first one is the response to the request for them. */
static void on_stream_event(void *data, const char *type, const char *text, size_t size)
{
	struct ctl_session *session = data;

	if (!type && !session->http.stream) {
		session->http.stream = take_ptr(session->http.transfer);
		on_outcome(session, &no_data);
	}
	on_http_event(session, type, text, size);
}

static void on_stream_outcome(void *data, const struct http_outcome *outcome)
{
	struct ctl_session *session = data;

	if (!session->http.stream) {
		on_outcome(session, outcome);
		return;
	}
	complain_no_service(
		session, outcome->failure ? outcome->failure : "the stream of events has ended");
	http_transfer_free(take_ptr(session->http.stream));
	ctl_session_wake(session);
}

/* Write the request in flight. Return 0, or CTL_USAGE after a complaint. */
static int write_route(const struct ctl_session *session, struct route_request *ret_request)
{
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_object(&data, session->request.data);
	r = route_write(session->request.topic, &data, ret_request);
	if (r == 0)
		return 0;
	if (r == -ENOENT)
		terminal_complain(
			"HTTP has no route for %s: use the bus (--bus)", session->request.topic);
	else
		terminal_complain("the request cannot be sent: %s", strerror(-r));
	return CTL_USAGE;
}

/* Report that the time is over. */
static int complain_slow(struct ctl_session *session)
{
	bool has_effect = session_runs_tools(session);
	double seconds = (double)session->clock.timeout_ms / 1000;
	char reason[64];

	if (http_transfer_is_connected(session->http.transfer) && !session->stays) {
		terminal_complain("no answer from %s within %g s (--timeout)%s",
			http_client_url(session->http.client), seconds,
			has_effect ? "; the connection is closed, which cancels the call" : "");
		return CTL_NO_ANSWER;
	}
	snprintf(reason, sizeof(reason), "no response within %g s (--timeout)", seconds);
	complain_no_service(session, reason);
	return CTL_NO_BUS;
}

int session_ask_over_http(struct ctl_session *session)
{
	static const struct http_handler plain = {on_outcome, NULL};
	static const struct http_handler call = {on_outcome, on_http_event};
	static const struct http_handler watch = {on_stream_outcome, on_stream_event};
	cleanup(route_request_deinit) struct route_request request = {0};
	int r = write_route(session, &request);

	if (r != 0)
		return r;
	/* The stream goes on. */
	if (request.is_watch && session->http.stream)
		return keep_data(session->request.response, &no_data) ? 0 : CTL_ERROR;
	session->http.transfer = http_client_send(session->http.client, &request,
		request.is_watch       ? &watch
		: request.wants_events ? &call
				       : &plain,
		session);
	if (!session->http.transfer) {
		terminal_complain("the request cannot be sent: %s", strerror(ENOMEM));
		return CTL_NO_BUS;
	}
	r = session_await(session);
	if (session->error != 0)
		r = session->error;
	else if (session->request.is_answered)
		r = 0;
	else
		r = r == -EINTR ? CTL_NO_ANSWER : complain_slow(session);
	/* A service that goes away is waited for. */
	if (session->stays)
		session->error = 0;
	http_transfer_free(take_ptr(session->http.transfer));
	return r;
}
