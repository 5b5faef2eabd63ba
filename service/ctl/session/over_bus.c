/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/request.h"
#include "ctl/terminal.h"
#include "json/member.h"

/*
 * A request over the bus, and the messages that come meanwhile.
 *
 *   connect ─▶ up ─▶ the request, is_alive ─┬─▶ its response: our key is in the context
 *     ▲                                     ├─▶ an event that is listened to
 *     └── down: sent again, unless a tool   ├─▶ no response: is_alive again ─▶ its response:
 *               may have run                │   the service has come now, the request is sent
 *                                           └─▶ silence: is the service alive?
 *
 * A bus forgets messages for a service that is not there. It delivers messages in their order: a
 * service without a response to the first is_alive has not got the request before it, or has ended
 * since. So a request that may run tools is sent once, after a response to is_alive.
 */

/* The least time for the response of is_alive, however short --timeout is. */
#define ALIVE_WAIT_MS 1000

/* The time between two messages is_alive to a service that has sent no response. */
#define ALIVE_AGAIN_MS 200

/* The key of our context that returns with our responses. */
#define KEY_NAME "toolboxctl"

/* Its key for the number of a request. */
#define NUMBER_NAME "request"

/* Report that there is no bus at our address, which may not be the one that is meant. */
static void complain_no_bus(const struct ctl_session *session, const char *reason)
{
	char url[BUS_URL_BYTES];

	bus_address_format(&session->bus.address, url);
	terminal_complain("no bus at %s: %s%s", url, reason,
		session->bus.is_address_given ? ""
					      : "; is another bus meant? TOOLBOXD_BUS is not set");
}

/* Return 0, or -ENOTCONN while the bus is away from a session that stays, which has been reported:
 * no message waits for it. Any other failure is reported here, and ends the wait. */
int ctl_session_send_numbered(struct ctl_session *session, const char *topic,
	const struct buffer *data, const char *number)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	cleanup(buffer_deinit) struct buffer context = {0};
	const struct buffer *trace = &session->bus.trace;
	int r;

	if (session->stays && !bus_is_up(session->bus.connection))
		return -ENOTCONN;
	buffer_printf(&context,
		"{\"source\":\"" CTL_SOURCE "\",\"session\":{\"session_id\":\"default\"},"
		"\"" KEY_NAME "\":\"%s\",\"" NUMBER_NAME "\":\"%s\"%s",
		session->bus.key, number, trace->size > 0 ? "," : "");
	buffer_append_buffer(&context, trace);
	buffer_append_char(&context, '}');
	buffer_fail_with(&message, &context);
	bus_request_begin(&message, topic, buffer_terminate(&context) ? context.data : "{}");
	ctl_request_object(&message, data);
	bus_message_end(&message);
	r = bus_send(session->bus.connection, &message, BUS_SHARE_OWN);
	if (r == 0)
		return 0;
	terminal_complain("the request cannot be sent: %s", strerror(-r));
	session_fail(session, r == -EMSGSIZE ? CTL_USAGE : CTL_NO_BUS);
	return 0;
}

void ctl_session_set_trace(struct ctl_session *session, const char *trace)
{
	buffer_reset(&session->bus.trace);
	buffer_append_string(&session->bus.trace, trace);
}

void ctl_session_send(struct ctl_session *session, const char *topic, const struct buffer *data)
{
	ctl_session_send_numbered(session, topic, data, "");
}

static void pass_request(struct ctl_session *session)
{
	session->request.is_passed = true;
	ctl_session_send(session, session->request.topic, session->request.data);
}

/* Ask whether the service is alive, and again while there is no response. */
static void ask_alive(struct ctl_session *session, const char *number)
{
	ctl_session_send_numbered(session, session->service->alive, NULL, number);
	loop_timer_arm(&session->bus.asking, ALIVE_AGAIN_MS);
}

void session_ask_again(void *data)
{
	struct ctl_session *session = data;

	if (!session->request.is_alive && !session->request.is_answered && session->error == 0 &&
		bus_is_up(session->bus.connection))
		ask_alive(session, session->request.alone);
}

static void begin_request(struct ctl_session *session)
{
	bool waits = !session->request.is_alive && session_runs_tools(session);

	if (!waits)
		pass_request(session);
	if (session->error == 0 && !session->request.is_alive)
		ask_alive(session, waits ? session->request.alone : "");
}

static void on_up(void *data)
{
	struct ctl_session *session = data;

	if (session->request.is_answered) {
		/* Its data is the caller's, who may have freed it. */
		loop_stop(session->loop);
		return;
	}
	begin_request(session);
}

static void on_unreachable(void *data, const char *reason)
{
	struct ctl_session *session = data;

	if (session->stays) {
		session_complain_away(session, reason);
		return;
	}
	complain_no_bus(session, reason);
	session_fail(session, CTL_NO_BUS);
}

/* Some buses close a connection when another one has just ended. on_up() sends a request without
 * effect again; a tool that may have run is not run again. */
static void on_down(void *data, const char *reason)
{
	struct ctl_session *session = data;

	session->request.is_alive = false;
	if (session->stays)
		session_complain_away(session, reason);
	if (session->request.is_answered || !session->request.is_passed ||
		!session_runs_tools(session))
		return;
	terminal_complain(
		"the bus went away before the answer (%s); the tool may have run", reason);
	session_fail(session, CTL_NO_ANSWER);
}

static bool on_wants(void *data, const char *topic, size_t size)
{
	const struct ctl_session *session = data;

	return text_is(topic, size, session->bus.response_topic) ||
	       text_is(topic, size, session->service->alive_response) ||
	       session_is_event(session, topic, size);
}

/* Return whether the context of the message has the text @text at @name. */
static bool has_in_context(const struct ctl_session *session, const char *name, const char *text)
{
	return json_member_is(&session->bus.envelope.context, 0, name, text);
}

bool ctl_session_is_ours(const struct ctl_session *session)
{
	return has_in_context(session, KEY_NAME, session->bus.key);
}

bool ctl_session_has_number(const struct ctl_session *session, const char *number)
{
	return ctl_session_is_ours(session) && has_in_context(session, NUMBER_NAME, number);
}

static void on_frame(void *data, const char *text, size_t size)
{
	struct ctl_session *session = data;
	struct bus_envelope *envelope = &session->bus.envelope;
	bool was_alive = session->request.is_alive;
	int r;

	if (bus_envelope_read(envelope, text, size, CTL_RESPONSE_DEPTH_MAX) != 0)
		return;
	if (session_is_event(session, envelope->topic, envelope->topic_size)) {
		session->events.on_event(session->events.data, envelope->topic, &envelope->data);
		return;
	}
	if (session->request.is_answered || !ctl_session_is_ours(session))
		return;
	session->request.is_alive = true;
	if (session->request.is_late) {
		loop_stop(session->loop);
		return;
	}
	if (!session->request.is_passed ||
		(!was_alive && !session_runs_tools(session) &&
			has_in_context(session, NUMBER_NAME, session->request.alone)))
		pass_request(session);
	if (strcmp(envelope->topic, session->bus.response_topic) != 0)
		return;
	r = envelope->data_status == 0
		    ? ctl_response_copy(session->request.response, &envelope->data)
		    : -EBADMSG;
	if (r == 0) {
		session->request.is_answered = true;
		loop_stop(session->loop);
		return;
	}
	terminal_complain("the response cannot be read: %s",
		r == -ENOMEM ? strerror(ENOMEM) : "a duplicate key, or too many levels");
	session_fail(session, CTL_NO_ANSWER);
}

/* Connect, or use the connection that exists. on_up() begins the request of a new one. */
static int begin_session(struct ctl_session *session)
{
	static const struct bus_handler handler = {
		.wants = on_wants,
		.frame = on_frame,
		.up = on_up,
		.down = on_down,
		.unreachable = on_unreachable,
	};

	if (session->bus.connection) {
		if (bus_is_up(session->bus.connection))
			begin_request(session);
		return session->error;
	}
	return bus_connect(session->loop, &session->bus.address, &bus_limits_default, &handler,
		session, &session->bus.connection);
}

/* The time is over: report what is missing, the bus, the service or its response. */
static int tell_silence(struct ctl_session *session)
{
	char url[BUS_URL_BYTES];
	double seconds = (double)session->clock.timeout_ms / 1000;

	session->request.is_late = true;
	if (bus_is_up(session->bus.connection) && !session->request.is_alive &&
		session->clock.timeout_ms < ALIVE_WAIT_MS)
		loop_run(session->loop, (int)(ALIVE_WAIT_MS - session->clock.timeout_ms));
	if (session->error != 0)
		return session->error;
	if (session->stays) {
		session->request.is_answered = true;
		session_complain_away(session, "no response");
		return CTL_NO_BUS;
	}
	if (!bus_is_up(session->bus.connection)) {
		char reason[64];

		snprintf(reason, sizeof(reason), "no connection within %g s", seconds);
		complain_no_bus(session, reason);
		return CTL_NO_BUS;
	}
	if (session->request.is_alive && session->request.is_passed)
		terminal_complain(
			"no answer within %g s (--timeout); the service is alive", seconds);
	else if (session->request.is_alive)
		terminal_complain("the service is alive, but has said so only after %g s "
				  "(--timeout): nothing was sent to it",
			seconds);
	if (session->request.is_alive)
		return CTL_NO_ANSWER;
	bus_address_format(&session->bus.address, url);
	terminal_complain("no %s answers on the bus at %s; is %s running?", session->service->kind,
		url, session->service->program);
	return CTL_NO_BUS;
}

int session_ask_over_bus(struct ctl_session *session)
{
	int r;

	snprintf(session->bus.response_topic, sizeof(session->bus.response_topic), "%s.response",
		session->request.topic);
	r = begin_session(session);
	if (r == 0)
		r = session_await(session);
	if (session->error != 0)
		return session->error;
	if (session->request.is_answered) {
		session->is_away = false;
		return 0;
	}
	if (r == -EINTR) {
		session->request.is_answered = true;
		return CTL_NO_ANSWER;
	}
	if (r == -ETIME || r == 0)
		return tell_silence(session);
	terminal_complain("cannot connect: %s", strerror(-r));
	return CTL_NO_BUS;
}
