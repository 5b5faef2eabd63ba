/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "mcp/client/client.h"
#include "mcp/client/client_state.h"
#include "mcp/client/given_up.h"
#include "mcp/client/pages.h"
#include "mcp/client/request.h"
#include "mcp/client/silence.h"
#include "mcp/message.h"
#include "util/buffer.h"

/*
 * The parts of a session (mcp/client/client.h), for the files of this folder alone. A file uses the
 * files to its right:
 *
 *            ┌─▶ handshake ──▶ subscription ─┐
 *   incoming ┤                               ├─▶ tool_list ─▶ actions
 *   life ────┴─▶ tool_calls ─────────────────┘
 *
 * A function that returns int returns 0 or -ENOMEM.
 */

#define MCP_CLIENT_NEVER UINT64_MAX

/* The memory that is kept for the next message. */
#define MCP_CLIENT_KEPT_TOKENS 4096
#define MCP_CLIENT_KEPT_BYTES  ((size_t)64 << 10)

struct mcp_open_call {
	uint64_t id;         /* the id of its request; 0: this place is free */
	uint64_t name;       /* the caller's */
	uint64_t n_messages; /* that the server had sent when the call began */
	bool is_plain;       /* it is no tools/call */
};

/* Requests that are not in flight have the id 0. */
struct mcp_client {
	struct mcp_client_options options;
	enum mcp_client_state state;
	enum mcp_era era;
	uint64_t last_id;
	struct text_view trace; /* for the next call, borrowed */
	struct mcp_silence silence;

	struct {
		uint64_t discover_id;
		uint64_t first_discover_id; /* while there is a later one */
		uint64_t initialize_id;
		bool was_silent; /* server/discover had no response in time, or was not sent */
		uint64_t probe_due_ms;
		uint64_t due_ms;
	} handshake;

	struct {
		struct mcp_pages pages;
		uint64_t id;
		uint64_t page_due_ms;
		uint64_t at_ms;    /* when to begin the next list */
		uint64_t began_ms; /* when the last list began */
		uint64_t listed_ms;
		uint64_t ttl_ms;
		uint64_t wait_ms; /* after the last failure */
		bool is_again;    /* the list is read again because a cursor was refused */
	} list;

	struct {
		uint64_t id;
		uint64_t at_ms; /* when to begin it again */
		uint64_t wait_ms;
		uint64_t began_ms; /* when it was acknowledged */
		bool is_open;      /* it is acknowledged */
		bool was_open;     /* it was, earlier in this session */
		bool has_stream;   /* a GET is open */
		bool had_stream;   /* earlier in this session */
	} listen;

	struct mcp_open_call *calls;
	struct mcp_given_up given_up;
	uint64_t answered_id; /* the request with whose response a message came over HTTP; or 0 */
	struct mcp_message message;
	struct buffer out;
	struct buffer text;
};

/* ── actions ─────────────────────────────────────────────────────────────────────────────────── */

/* Change the state, the only place where that is done. */
void mcp_client_move(struct mcp_client *client, enum mcp_client_state to);

void mcp_client_act(struct mcp_client *client, const struct mcp_action *action);

/* Begin a message. */
struct buffer *mcp_client_begin_message(struct mcp_client *client);

/* Send the message written. @id: of a request, else 0. */
int mcp_client_send(struct mcp_client *client, const char *method, uint64_t id);

/* Return the frame of a request with a new id. */
struct mcp_request mcp_client_new_request(struct mcp_client *client);

/* Give up the request *@id, and notify the server. */
int mcp_client_cancel_request(struct mcp_client *client, uint64_t *id, const char *reason);

/* Return the moment after the wait *@wait_ms, which is doubled for the next time. */
uint64_t mcp_client_back_off(const struct mcp_client *client, uint64_t *wait_ms, uint64_t now_ms);

/* Return `SUBJECT: MESSAGE` with the message of the received error; NULL without memory. */
const char *mcp_client_error_reason(struct mcp_client *client, const char *subject);

/* Return the object `result` of the message, or JSON_NONE: it is an error. */
uint32_t mcp_client_find_result(const struct mcp_client *client);

/* Report that the session is over because of @reason, and end it. */
void mcp_client_end_session(struct mcp_client *client, const char *reason);

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

/* Want the list again, as soon as it may be read. */
void mcp_client_want_list(struct mcp_client *client);

int mcp_client_begin_list(struct mcp_client *client, uint64_t now_ms);

/* The list could not be read, because of @reason. */
void mcp_client_fail_list(struct mcp_client *client, const char *reason, uint64_t now_ms);

/* Take the message, of @size bytes, as the next page. */
int mcp_client_take_page(struct mcp_client *client, size_t size, uint64_t now_ms);

/* Return the moment at which to read the list again. */
uint64_t mcp_client_list_due_ms(const struct mcp_client *client);

/* ── the subscription ────────────────────────────────────────────────────────────────────────── */

int mcp_client_begin_listen(struct mcp_client *client);

/* The subscription has ended. A server that refuses it is not asked again. */
void mcp_client_end_listen(struct mcp_client *client, bool is_refused, uint64_t now_ms);

void mcp_client_take_acknowledgement(struct mcp_client *client, uint64_t now_ms);

/* ── the handshake ───────────────────────────────────────────────────────────────────────────── */

int mcp_client_begin_handshake(struct mcp_client *client, uint64_t now_ms);
int mcp_client_tick_handshake(struct mcp_client *client, uint64_t now_ms);

/* Take the message as the response to server/discover; @id: the place of the id of its request. */
int mcp_client_take_discover(struct mcp_client *client, uint64_t *id, uint64_t now_ms);
int mcp_client_take_initialize(struct mcp_client *client, uint64_t now_ms);

/* The response to a request of the handshake has not come. @is_probe: server/discover. */
int mcp_client_lose_handshake(struct mcp_client *client, bool is_probe, long status);

/* Return whether a server refuses a request by @status. By 401 and 403 it wants other
 * credentials. */
static inline bool mcp_client_is_refusal(long status)
{
	return status >= 400 && status < 500 && status != 401 && status != 403;
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

/* Return the call whose request has @id, or NULL. */
struct mcp_open_call *mcp_client_find_request(const struct mcp_client *client, uint64_t id);

/* Take the message as the response to @call. */
int mcp_client_end_call(struct mcp_client *client, struct mcp_open_call *call);

/* Take the message as a notification of progress. */
int mcp_client_take_progress(struct mcp_client *client);
