/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mcp/client/client.h"
#include "util/buffer.h"
#include "util/pace.h"
#include "worker/driver.h"
#include "worker/mcp/configuration.h"

/*
 * The session with a server, whatever carries its messages.
 *
 *                  ┌─ stdio.c  pipes of a process
 *     session.c ───┤
 *                  └─ http.c   requests of libcurl
 *
 * Callers see the list of an earlier session. So a tool is only called when the server still describes it as it
 * did then (mcp/client/pin.h).
 */

/* The time for the start, up to the list: less than the daemon gives (catalogue/kind.h), so that the reason
 * reaches it. */
#define MCP_START_MS 57000

struct mcp_session;

/* The part of a session that moves messages. Each embeds the session as its first member. */
struct mcp_transport {
	bool is_http;

	/* Carry out MCP_ACT_SEND or MCP_ACT_CLOSE. 0 or a negative errno, which ends the session. */
	int (*carry)(struct mcp_session *session, const struct mcp_action *action);

	/* Wait for the server until @due_ms, or until something can be read on @wire (-1: none), and act on it. Return
	 * 0, 1 for the wire, or a negative errno: -EPIPE when the server has ended or is to be. */
	int (*pump)(struct mcp_session *session, int wire, uint64_t due_ms);
};

enum mcp_call_state {
	MCP_CALL_NONE,
	MCP_CALL_RUNS,
	MCP_CALL_RESULT,
	MCP_CALL_FAILED,
	MCP_CALL_LOST,
};

struct mcp_session {
	struct mcp_configuration configuration;
	const struct mcp_transport *transport;
	struct mcp_client *client;
	int wire;
	const char *version;   /* the revision, once the session is ready; NULL before */
	enum mcp_era era;      /* likewise */
	bool was_legacy;       /* the server has decided for the legacy era */
	bool has_list;         /* the tools of this session are known */
	struct buffer list;    /* the array, if that is what was asked for */
	struct buffer reason;  /* why the list is not whole */
	struct buffer failure; /* why the session is over, or has no list */
	unsigned int n_notes;
	int error; /* a negative errno: the session cannot go on */

	enum mcp_call_state call;
	const struct listed_tool *tool;       /* the one that is called */
	const struct driver_call *invocation; /* likewise */
	struct buffer *out;                   /* its result is appended here */
	struct pace pace;                     /* for the reports of progress */
};

/* Read the LOAD frame into the zeroed @session. 0, DRIVER_E_REFUSED, or a negative errno. */
int mcp_session_init(struct mcp_session *session, const struct mcp_transport *transport,
	const struct driver_load *load, struct diagnostics *problems);

void mcp_session_deinit(struct mcp_session *session);

/* Begin a handshake, in place of any other session. 0 or a negative errno. */
int mcp_session_begin(struct mcp_session *session);

/* Pass the message @text of the server to the client. 0 or a negative errno. */
int mcp_session_take(struct mcp_session *session, const char *text, size_t size);

/* Let the client act on the time. 0 or a negative errno. */
int mcp_session_tick(struct mcp_session *session);

/* Return the time until @due_ms, or until the client has to act, for poll(). */
int mcp_session_timeout(const struct mcp_session *session, uint64_t due_ms);

/* Return whether the session is over, or has failed to list its tools. */
bool mcp_session_has_failed(const struct mcp_session *session);

/* Run @call until it ends in any way (session->call), or the transport has an error, which is returned. @out gets the
 * result or the text of a failure. */
int mcp_session_call(
	struct mcp_session *session, const struct driver_call *call, struct buffer *out);

/* The describe() of a driver. */
void mcp_session_describe(const void *data, struct buffer *out);
