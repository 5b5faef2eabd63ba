/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/mcp/tools.h"
#include "ctl/options.h"
#include "ctl/session.h"
#include "mcp/server/engine.h"
#include "policy/hex.h"

/*
 * The door of MCP on stdin and stdout: the requests of its one client go over the bus.
 *
 *   a line ─▶ mcp_take ─ tools/call ─▶ ovos.tools.invoke ─▶ its response ─────▶ stdout
 *                                       the bus           ─▶ its progress ────▶
 *   ovos.tools.changed ─▶ ovos.tools.list ─▶ another list? ─▶ list_changed ───▶
 *   from time to time  ─▶ ovos.tools.calls ─▶ a call that the service does not have any more ends
 */

/* The requests in flight. */
#define IN_FLIGHT_MAX 64

struct stdio_door {
	const struct ctl_options *options;
	struct ctl_session *session;
	struct mcp_engine engine;
	struct listed_tools listed;
	bool is_listing;              /* a list was asked for */
	bool is_stale;                /* the tools have changed since then */
	bool is_legacy;               /* the client has initialized */
	bool has_greeted;             /* it has sent a request by which clients begin */
	bool is_full_or_ending;       /* the loop waits for the end of requests */
	bool is_over;                 /* nothing is read or written any more */
	bool has_woken;               /* the loop was stopped by one of our functions */
	int status;                   /* enum ctl_status, once it is over */
	char asked[HEX_ID_CHARS + 1]; /* the number of the last request for calls */
};

/* Get the first list of tools, and listen to the service. Return 0 or an enum ctl_status after a
 * complaint. */
int stdio_door_open(
	struct stdio_door *door, const struct ctl_options *options, struct ctl_session *session);

/* Free the members of @door, which may be zeroed but for its options. */
void stdio_door_deinit(struct stdio_door *door);

/* Take the line @text of the client of the door @data; NULL: one that was too long. */
void stdio_door_take(void *data, const char *text, size_t size);

/* Stop the loop for a moment; for good, with the exit status @status. */
void stdio_door_wake(struct stdio_door *door);
void stdio_door_leave(struct stdio_door *door, int status);

/* Return whether a call is in flight. */
bool stdio_door_has_calls(const struct stdio_door *door);

/* Report to the client which calls wait for a person. Return whether there are any. */
bool stdio_door_report_asking(struct stdio_door *door);

/* Ask the service for its calls: a service that has started again has lost the calls in flight. */
void stdio_door_ask_calls(struct stdio_door *door);

/* End the calls in flight, whose responses were lost with a connection. */
void stdio_door_begin_again(struct stdio_door *door);

/* End all requests: calls without a response, a listen with its result. Return whether there were
 * calls, whose cancelling goes out. */
bool stdio_door_end(struct stdio_door *door);
