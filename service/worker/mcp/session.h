/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcp/client/client.h"
#include "util/buffer.h"
#include "util/pace.h"
#include "wire/wire.h"
#include "worker/driver.h"
#include "worker/mcp/configuration.h"

/*
 * The session with a server, whatever carries its messages.
 *
 *                  ┌─ stdio.c  pipes of a process
 *     session.c ───┤
 *                  └─ http.c   requests of libcurl
 *
 * It carries up to WIRE_CALLS_MAX calls at a time, and sends their answers to the wire itself:
 *
 *   INVOKE ─▶ waits ─▶ sent ─▶ RESULT, FAILED or ERROR, once
 *               ▲       │
 *               └───────┘ once: lost with a session that the server has forgotten, or, if the tool
 *                         only reads, with its connection
 *
 *   waits: over HTTP, until the session is ready
 *
 * Callers see the list of an earlier session. So a tool is only called when the server still
 * describes it as it did then (mcp/client/pin.h).
 */

struct mcp_session;
struct mcp_flight;

/* The part of a session for moving messages. Each transport embeds the session as its first
 * member. */
struct mcp_transport {
	bool is_http;

	/* Return whether a message of @size bytes may be sent: the server reads those before it.
	 * NULL: it may. */
	bool (*has_room)(const struct mcp_session *session, size_t size);

	/* Act on a call that gets no response any more. NULL: its host ends. 0 or a negative
	 * errno. */
	int (*lose)(struct mcp_session *session, struct mcp_flight *flight);

	/* Carry out MCP_ACT_SEND or MCP_ACT_CLOSE. 0 or a negative errno, which ends the
	 * session. */
	int (*carry)(struct mcp_session *session, const struct mcp_action *action);

	/* Wait for the server until @due_ms, or until @wire (-1: none) is readable, and act on
	 * messages. Return 0, 1 for the wire, or a negative errno: -EPIPE when the server has ended
	 * or has to. */
	int (*pump)(struct mcp_session *session, int wire, uint64_t due_ms);
};

/* A call without an answer so far. */
struct mcp_flight {
	uint64_t id; /* 0: this place is free */
	const struct listed_tool *tool;
	uint32_t output_max;
	bool is_sent;
	bool is_again;           /* it was lost with a session or a connection before */
	struct buffer arguments; /* over HTTP, where they may be sent later, or again */
	struct buffer trace;     /* members for `_meta` */
	struct pace pace;        /* for its reports of progress */
};

struct mcp_session {
	struct mcp_configuration configuration;
	const struct mcp_transport *transport;
	struct mcp_client *client;
	int wire;
	const char *version;     /* the revision, once the session is ready; NULL before */
	enum mcp_era era;        /* likewise */
	bool has_resources;      /* the server has some */
	bool has_changes;        /* legacy: the server notifies of changes of its list */
	bool was_legacy;         /* the server has decided for the legacy era */
	bool ends_on_initialize; /* an earlier process of the server has ended on initialize */
	bool has_list;           /* the tools of this session are known */
	bool is_stale;           /* they differ from the tools seen by callers; not reported yet */
	struct buffer list;      /* the array, if a list was asked for */
	struct buffer reason;    /* why the list is not whole */
	struct buffer failure;   /* why the session is over, or has no list */
	unsigned int n_notes;
	struct buffer last_note; /* without the secrets */
	struct pace note_pace;   /* the pace of notes to the daemon */
	int error;               /* a negative errno: the session cannot go on */

	struct mcp_flight flights[WIRE_CALLS_MAX];
	const struct mcp_flight *sending; /* the flight whose request is on its way out */
	struct buffer frame;
};

/* Read the LOAD frame into the zeroed @session. 0, DRIVER_E_REFUSED, or a negative errno. */
int mcp_session_init(struct mcp_session *session, const struct mcp_transport *transport,
	const struct driver_load *load, struct diagnostics *problems);

void mcp_session_deinit(struct mcp_session *session);

/* Begin a handshake, in place of any other session. 0 or a negative errno. */
int mcp_session_begin(struct mcp_session *session);

/* Pass the message @text of the server to the client. @request_id: over HTTP, the request whose
 * response had the message; else 0. 0 or a negative errno. */
int mcp_session_take(
	struct mcp_session *session, uint64_t request_id, const char *text, size_t size);

/* End the call whose response begins with @text, of more than @size bytes, for its too large
 * result. 0; -EMSGSIZE when @text is not the response of a call, or another negative errno. */
int mcp_session_take_large(struct mcp_session *session, const char *text, size_t size);

/* Let the client act on the time. 0 or a negative errno. */
int mcp_session_tick(struct mcp_session *session);

/* Return the time until @due_ms, or until the client has to act, for poll(). */
int mcp_session_timeout(const struct mcp_session *session, uint64_t due_ms);

/* Return whether the session is over, or has failed to list its tools. */
bool mcp_session_has_failed(const struct mcp_session *session);

/* The begin() of a driver: send the call, or let it wait for mcp_session_resume(). */
int mcp_session_invoke(struct mcp_session *session, const struct driver_call *call);

/* Send the waiting calls, if the session is ready. 0 or a negative errno. */
int mcp_session_resume(struct mcp_session *session);

/* Report a list of the server with other tools than callers see to the daemon, once for each such
 * list. 0 or a negative errno. */
int mcp_session_report(struct mcp_session *session);

/* The cancel() of a driver. */
int mcp_session_cancel(struct mcp_session *session, uint64_t id, bool is_late);

/* Answer the call @flight as failed because of @text. 0 or a negative errno. */
int mcp_session_refuse(
	struct mcp_session *session, struct mcp_flight *flight, struct text_view text);

/* Answer the call @flight, whose result has at least @size bytes, as too large. 0 or a negative
 * errno. */
int mcp_session_refuse_large(struct mcp_session *session, struct mcp_flight *flight, size_t size);

/* Answer the call @flight as without a server because of @text. 0 or a negative errno. */
int mcp_session_miss(struct mcp_session *session, struct mcp_flight *flight, struct text_view text);

/* Return whether it has calls without an answer. */
bool mcp_session_has_calls(const struct mcp_session *session);

/* The describe() of a driver. */
void mcp_session_describe(const void *data, struct buffer *out);
