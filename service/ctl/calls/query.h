/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ctl/response.h"

struct ctl_session;
struct buffer;

/* The calls of a response of ovos.tools.calls, the oldest first, those in flight last. */
struct call_list {
	uint32_t *calls; /* tokens; owned */
	size_t n_calls;
};

/* Ask for calls with the fields @data (ctl/request.h), and list them. Return 0, or an enum
 * ctl_status after a complaint about the error in @ret_response. */
int call_list_ask(struct ctl_session *session, const struct buffer *data,
	struct ctl_response *ret_response, struct call_list *ret_list);

void call_list_deinit(struct call_list *list);
