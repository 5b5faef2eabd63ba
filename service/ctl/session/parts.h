/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <string.h>

#include "bus/bus.h"
#include "ctl/http/client.h"
#include "ctl/session.h"
#include "loop/loop.h"
#include "message/envelope.h"

/*
 * The parts of a session, for the files of this folder alone:
 *
 *   session ─┬─▶ over_bus ──┐
 *            ├─▶ over_http ─┴─▶ clock: the wait for a response
 *            └─▶ find_bus
 */

/* Calls, and utterances for a tool. */
#define INVOKE_TOPIC    "ovos.tools.invoke"
#define UTTERANCE_TOPIC "ovos.tools.utterance"

#define SESSION_KEY_BYTES 17

struct ctl_session {
	struct loop *loop;
	int error;       /* an enum ctl_status that has been reported */
	bool stays;      /* see ctl_session_stay() */
	bool is_waiting; /* in ctl_session_wait() */
	bool is_away;    /* the bus or the service has gone, which has been reported */
	const struct ctl_service *service;

	struct {
		struct bus *connection;
		struct bus_address address;
		bool is_address_given;       /* by the command line or the environment */
		char key[SESSION_KEY_BYTES]; /* hexadecimal, unique to this session */
		struct bus_envelope envelope;
		char response_topic[BUS_TOPIC_BYTES];
		struct buffer trace;      /* members of the context of requests */
		struct loop_timer asking; /* the next is_alive, until there is a response */
	} bus;

	struct {
		struct http_client *client;     /* in place of the bus, or NULL */
		struct http_transfer *transfer; /* the request in flight */
		struct http_transfer *stream;   /* events of all calls; or NULL */
	} http;

	/* The request in flight. Its members are the caller's. */
	struct {
		const char *topic;
		const struct buffer *data;
		struct ctl_response *response;
		bool is_answered;
		bool is_passed;          /* it was sent */
		bool is_alive;           /* the service has sent a response */
		bool is_late;            /* the time is over: wait for is_alive only */
		unsigned int n_requests; /* so far, in this session */
		char alone[24];          /* the number of is_alive without the request before it */
	} request;

	/* The time of the request. */
	struct {
		uint64_t timeout_ms;
		uint64_t patience_ms; /* the same, of a service that is alive; 0: timeout_ms */
		uint64_t pause_ms;
		bool is_paused;
		bool is_new; /* an event has set the clock */
		bool is_restarted;
	} clock;

	/* See ctl_session_interrupts(). */
	struct {
		ctl_interrupt_function on_interrupt;
		void (*on_tick)(void *data);
		void *data;
		bool takes_signals;
		int signal; /* the signal that has come */
	} interrupt;

	/* A descriptor that is read meanwhile. */
	struct {
		struct loop_source *source;
		bool (*on_readable)(void *data);
		void *data;
	} reading;

	/* The broadcasts that are received meanwhile. */
	struct {
		const char *const *topics;
		size_t n_topics;
		ctl_event_function on_event;
		void *data;
	} events;
};

/* Send the request in flight over the bus, or over HTTP, and wait for its response. Return 0 or an
 * enum ctl_status. */
int session_ask_over_bus(struct ctl_session *session);
int session_ask_over_http(struct ctl_session *session);

/* Ask whether the service is alive, unless that is known or there is no request (loop_timer). */
void session_ask_again(void *data);

/* Wait for the response. The time of a service that is alive may be longer, and holds for later
 * requests, too. Return the result of loop_run(), or -EINTR after a signal. */
int session_await(struct ctl_session *session);

/* End the request in flight with @status, which has been reported. */
void session_fail(struct ctl_session *session, int status);

/* Report once that the bus or the service has gone. */
void session_complain_away(struct ctl_session *session, const char *reason);

/* Find the address: --bus, else TOOLBOXD_BUS, else the `websocket` section, else the default.
 * Return 0, or an enum ctl_status after a complaint. */
int session_find_bus(const struct ctl_options *options, struct bus_address *ret_address);

/* Return whether the request in flight may run tools: it is sent once. */
static inline bool session_runs_tools(const struct ctl_session *session)
{
	const char *topic = session->request.topic;

	return strcmp(topic, INVOKE_TOPIC) == 0 || strcmp(topic, UTTERANCE_TOPIC) == 0 ||
	       strcmp(topic, CTL_CHAT_TOPIC) == 0;
}

/* Return whether the caller listens to @topic. */
static inline bool session_is_event(
	const struct ctl_session *session, const char *topic, size_t size)
{
	for (size_t i = 0; i < session->events.n_topics; i++)
		if (text_is(topic, size, session->events.topics[i]))
			return true;
	return false;
}
