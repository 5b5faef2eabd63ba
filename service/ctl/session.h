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
 *                 └─ time is up: the service is there (is_alive was answered) but slow, or not
 * there
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

CLEANUP_DEFINE(ctl_session, struct ctl_session *, ctl_session_close)
