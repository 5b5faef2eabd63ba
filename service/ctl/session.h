/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"
#include "ctl/command.h"
#include "ctl/response.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * Requests to the service, one at a time: over the bus, or over HTTP (ctl/http/route.h), as the
 * same topics with the same data.
 *
 *   connect ─▶ request, then `mycroft.toolboxd.is_alive`, again while nothing answers
 *                 │
 *                 ├─ its response: recognised by its topic and by our own key in the context
 *                 ├─ the service comes: the request is sent to it; one that may run tools only now
 *                 ├─ the bus is lost: sent again after reconnecting, unless a tool may have run
 *                 └─ time is up: the service answered is_alive and is slow, or it is not there
 *
 * This module complains on stderr about whatever goes wrong.
 */
struct ctl_session;

/* The source of our messages. */
#define CTL_SOURCE "toolboxctl"

/* The topic of an utterance for toolbox-agent. Its request may run tools, as a call does: it is not
 * sent again after a loss of the bus. */
#define CTL_CHAT_TOPIC "ovos.tools.chat"

/* Find the address of the service: --http, or TOOLBOXD_HTTP without --bus, else the bus's. Return 0
 * with *ret_session, which the caller closes, or an enum ctl_status after a complaint. */
int ctl_session_open(const struct ctl_options *options, struct ctl_session **ret_session);

/* A service on the bus, as of requests that get no answer. */
struct ctl_service {
	const char *kind;           /* "tool service" */
	const char *program;        /* "toolboxd" */
	const char *alive;          /* its topic `mycroft.NAME.is_alive` */
	const char *alive_response; /* the same with `.response` */
};

/* From now on, requests are for @service; NULL: toolboxd. The caller keeps it alive. */
void ctl_session_set_service(struct ctl_session *session, const struct ctl_service *service);

/* Return whether requests go over HTTP, by which there are no broadcasts. */
bool ctl_session_is_http(const struct ctl_session *session);

/* The same for the bus at @address. */
int ctl_session_open_at(const struct ctl_options *options, const struct bus_address *address,
	struct ctl_session **ret_session);

/* Close @session, which may be NULL. */
void ctl_session_close(struct ctl_session *session);

/* Send a request; @data is members of an object (ctl/request.h), or NULL. Return 0 with
 * @ret_response (zeroed, or used before) filled, or an enum ctl_status after a complaint. */
int ctl_session_ask(struct ctl_session *session, const char *topic, const struct buffer *data,
	struct ctl_response *ret_response);

/* As ctl_session_ask(), over a session of its own, opened by @options: for a command of one
 * request. */
int ctl_session_ask_once(const struct ctl_options *options, const char *topic,
	const struct buffer *data, struct ctl_response *ret_response);

/* Ask the service to read the configuration and the registration folders again (ovos.tools.reload).
 * Without --timeout, a live service has a minute: it starts a host for each changed toolbox, and
 * waits for its description. Return 0, or an enum ctl_status after a complaint. */
int ctl_session_ask_reload(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response);

/* Take a broadcast message: its topic, and its data at the root of @data. */
typedef void (*ctl_event_function)(void *data, const char *topic, const struct json_tape *event);

/* From now on, call @function for every message with one of the @n_topics @topics during a request
 * or ctl_session_wait(). The caller keeps @topics alive. */
void ctl_session_listen(struct ctl_session *session, const char *const *topics, size_t n_topics,
	ctl_event_function function, void *data);

/* Return whether the message of an event function is a response to this session. */
bool ctl_session_is_ours(const struct ctl_session *session);

/* Send a message with @data (NULL: none) beside the open request, without waiting for a response:
 * ctl_session_listen() may get it. */
void ctl_session_send(struct ctl_session *session, const char *topic, const struct buffer *data);

/* Let the context of the requests from now on have @trace, members of JSON or "" (copied). */
void ctl_session_set_trace(struct ctl_session *session, const char *trace);

/* The same with @number, an identifier for recognising its response, whatever the content. Return
 * 0, or -ENOTCONN when it is lost: the service is away (ctl_session_stay()). */
int ctl_session_send_numbered(struct ctl_session *session, const char *topic,
	const struct buffer *data, const char *number);

/* Return whether the message of an event function is a response to our request @number. */
bool ctl_session_has_number(const struct ctl_session *session, const char *number);

/* Cancel the call with the id @call_id, whose request is open. Over HTTP its connection is closed.
 * Return how long to wait for its response, or 0 for none: a request that was not sent yet ends. */
uint64_t ctl_session_cancel(struct ctl_session *session, const char *call_id);

/* Set the time of the requests from now on. */
void ctl_session_set_timeout(struct ctl_session *session, uint64_t timeout_ms);

/* Set the time for the response of a live service to the next request. */
void ctl_session_set_patience(struct ctl_session *session, uint64_t patience_ms);

/* Take a signal, or 0: the time of the open request is over. Return for how long to wait on, or 0:
 * the request ends, without a complaint when it was a signal. */
typedef uint64_t (*ctl_interrupt_function)(void *data, int signal_number);

/* From now on, call @interrupt for SIGINT, SIGTERM, SIGHUP (unless it is ignored) and the end of a
 * request's time, and @tick every half a second of a request. With NULL, a signal ends the request.
 * Return 0, or an enum ctl_status after a complaint. */
int ctl_session_interrupts(struct ctl_session *session, ctl_interrupt_function interrupt,
	void (*tick)(void *data), void *data);

/* Return the signal at the end of a request or a wait since ctl_session_interrupts(), or 0. */
int ctl_session_signal(const struct ctl_session *session);

/* Stop the clock of the open request for at most @most_ms, and let it go on; from an event. */
void ctl_session_pause(struct ctl_session *session, uint64_t most_ms);
void ctl_session_resume(struct ctl_session *session);

/* Begin the time of the open request anew; from an event. */
void ctl_session_restart(struct ctl_session *session);

/* From now on, call @function when @fd can be read, until it returns false. Return 0; -EPERM for a
 * file, always readable and without a call of @function; or an enum ctl_status after a
 * complaint. */
int ctl_session_read(struct ctl_session *session, int fd, bool (*function)(void *data), void *data);

/* From now on, call @function when all readers of @fd, a pipe or a socket, have gone; in the place
 * of what is read. Nothing happens for other descriptors. */
void ctl_session_watch_readers(
	struct ctl_session *session, int fd, bool (*function)(void *data), void *data);

/* End the present ctl_session_wait(), if there is one; from an event or a read function. */
void ctl_session_wake(struct ctl_session *session);

/* Stay from now on: a bus or a service that goes away is waited for, and reported once. */
void ctl_session_stay(struct ctl_session *session);

/* Serve the bus for @timeout_ms, or until the connection is there again after a loss. Return 0, or
 * an enum ctl_status after a complaint. */
int ctl_session_wait(struct ctl_session *session, uint64_t timeout_ms);

CLEANUP_DEFINE(ctl_session, struct ctl_session *, ctl_session_close)
