/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/command.h"
#include "ctl/response.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * One question to the service at a time, over the bus.
 *
 *   connect ─▶ request, and `mycroft.toolboxd.is_alive` behind it
 *                 │
 *                 ├─ its response: known by its topic, and by our own key in the context
 *                 ├─ the bus is gone: asked again once it is back, unless a tool may have run
 *                 └─ time is up: the service is there (is_alive was answered) but slow, or not
 *                    there
 *
 * What goes wrong is told on stderr here.
 */
struct ctl_session;

/* Find out where the bus is. 0 with *ret_session to be closed by the caller, or an enum ctl_status
 * that has been told. */
int ctl_session_open(const struct ctl_options *options, struct ctl_session **ret_session);

/* Takes NULL. */
void ctl_session_close(struct ctl_session *session);

/* Ask: @data is the text of an object. 0 with @ret_response (zeroed, or used before) filled, or an
 * enum ctl_status that has been told. */
int ctl_session_ask(struct ctl_session *session, const char *topic, const struct buffer *data,
	struct ctl_response *ret_response);

/* A broadcast message: its topic, and its data at the root of @data. */
typedef void (*ctl_event_function)(void *data, const char *topic, const struct json_tape *event);

/* From now on, call @function for every message with one of the @n_topics @topics (which stay the
 * caller's, and there) that comes while a question is asked or ctl_session_wait() waits. */
void ctl_session_listen(struct ctl_session *session, const char *const *topics, size_t n_topics,
	ctl_event_function function, void *data);

/* Serve for @timeout_ms, or until the bus is gone. 0 or an enum ctl_status that has been told. */
int ctl_session_wait(struct ctl_session *session, uint64_t timeout_ms);

CLEANUP_DEFINE(ctl_session, struct ctl_session *, ctl_session_close)
