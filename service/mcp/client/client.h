/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/version.h"
#include "util/text/text_view.h"

/*
 * A session with a server, without input and output: the caller moves the bytes, and brings the
 * time.
 *
 *   a message of the server ─▶ mcp_client_take() ──┐
 *   the time ────────────────▶ mcp_client_tick() ──┼─▶ actions: a message to send, the era, a list,
 *   a call, its end ───▶ mcp_client_call(), … ─────┘            the progress and the end of a call
 *
 * The handshake finds the era of the server (2026-07-28, Versioning; 2025-11-25, Lifecycle):
 *
 *             ┌─ an error, or stdio without a response for 2 s ─┐
 *   server/discover ◀─ refused, after such a silence: once ─ initialize
 *             │                                                 │
 *             ▼                                                 ▼
 *           modern ◀─── a late result of server/discover      legacy
 *
 * A server that ends on one of the two requests is started once more, and gets the other one alone
 * (ends_on_initialize).
 *
 * Then it lists the tools, in pages, and again when the server notifies it of a change (modern: for
 * which it subscribes), when the list expires, and when a call finds a tool to be unknown; at most
 * once a second. A list that fails is read again after 1 s, then after twice as long each time, up
 * to 60 s.
 *
 * A server that sends nothing any more is given up (mcp/client/silence.h), one that is slow is not.
 *
 * A server may send anything. An unexpected or unreadable message is reported as a note, and
 * ignored; but an unreadable response to a request in flight fails the request
 * (mcp/client/salvage.h). The memory of a client is bounded by the longest message, a list of
 * MCP_LIST_BYTES_MAX and the calls in flight. Its caller bounds the unsent bytes, since a server
 * may ask more than it reads.
 */
struct mcp_client;

/* The most calls in flight. */
#define MCP_CALLS_MAX 1024

#define MCP_PROBE_MS      2000
#define MCP_LIST_MS       30000 /* the time for one page */
#define MCP_LIST_LEAST_MS 1000  /* from the begin of a list to the next begin */
#define MCP_TTL_LEAST_MS  60000

enum mcp_action_kind {
	/* text: one message, without a line feed; request_id: 0 if it expects no response */
	MCP_ACT_SEND,
	/* HTTP: close the stream of the response to request_id, a cancel (modern) */
	MCP_ACT_CLOSE,
	/* era, version, has_changes, has_resources; is_verdict: the server has decided it, and not
	 * a silence */
	MCP_ACT_READY,
	/* text: the array of all tools; reason: the bound at its end, or NULL */
	MCP_ACT_TOOLS,
	MCP_ACT_NO_TOOLS, /* reason: the list could not be read. It will be tried again */
	MCP_ACT_PROGRESS, /* call, progress, text: the message; absent: none */
	MCP_ACT_RESULT,   /* call, text: {"content", "structured"?} */
	MCP_ACT_FAILED,   /* call, text: the reason, for a person or a model */
	MCP_ACT_LOST,     /* call: the session or its response has ended before the call */
	MCP_ACT_NOTE,     /* reason, for the log: the server breaks a rule, and may do so often */
	MCP_ACT_OVER,     /* reason: the session is over, and its server is to be ended */
};

/* Texts are valid until the receiving function returns. */
struct mcp_action {
	enum mcp_action_kind kind;
	struct text_view text;
	const char *reason;
	const char *method; /* MCP_ACT_SEND: the method of the message; NULL: it is a response */
	uint64_t request_id;
	uint64_t call;
	double progress;     /* from 0 to 1; -1: unknown */
	enum mcp_era era;    /* MCP_ACT_SEND, MCP_ACT_READY */
	const char *version; /* the revision, a constant */
	bool is_verdict;
	bool has_changes;   /* MCP_ACT_READY: the server notifies of changes of its list */
	bool has_resources; /* MCP_ACT_READY: the server has resources */
};

struct mcp_client_options {
	/* Receives each action, with @data. It must not call the client. */
	void (*act)(void *data, const struct mcp_action *action);
	void *data;
	const char *version;  /* the version of this program */
	unsigned int workers; /* the most calls in flight, 1 to MCP_CALLS_MAX */
	uint64_t start_ms;    /* the time for the handshake */
	unsigned int
		/* the percentage added to waits, random for each session; at most 100 */
		jitter_percent;
	bool is_http;   /* else stdio */
	bool is_legacy; /* the verdict of an earlier session */
	/* an earlier process of the server has ended on initialize: only server/discover is sent;
	 * not with is_legacy */
	bool ends_on_initialize;
};

/* Return a client; mcp_client_tick() begins its handshake. NULL without memory. */
struct mcp_client *mcp_client_new(const struct mcp_client_options *options);

/* Free the client, without an action. Takes NULL. */
void mcp_client_free(struct mcp_client *client);

/* Return the moment for mcp_client_tick(); UINT64_MAX: none. */
uint64_t mcp_client_due_ms(const struct mcp_client *client);

/* Act on the time. Return 0 or -ENOMEM; after that the client can only be freed, here and below. */
int mcp_client_tick(struct mcp_client *client, uint64_t now_ms);

/* Act on the @size bytes at @text, one message of the server. */
int mcp_client_take(struct mcp_client *client, const char *text, size_t size, uint64_t now_ms);

/* The same for a message received over HTTP in response to the request @request_id (0: to none). */
int mcp_client_take_response(struct mcp_client *client, uint64_t request_id, const char *text,
	size_t size, uint64_t now_ms);

/* Positive results of mcp_client_call(). */
#define MCP_E_BUSY    3 /* there are as many calls in flight as there may be */
#define MCP_E_UNREADY 4 /* the session is not ready, or over */

/* Let the calls from now on have @trace in their `_meta`: members of JSON, borrowed until the next
 * ones are set; absent: none. */
void mcp_client_set_trace(struct mcp_client *client, struct text_view trace);

/* Call @tool, by its name on the server, with @arguments, an object as checked JSON. @name: the
 * caller's name for this call, unique among those in flight. Return 0, one of the above, or
 * -ENOMEM. */
int mcp_client_call(struct mcp_client *client, uint64_t name, struct text_view tool,
	struct text_view arguments);

/* The same with a request of @method, a constant, with the object @params: its result object
 * becomes rich content. */
int mcp_client_ask(
	struct mcp_client *client, uint64_t name, const char *method, struct text_view params);

/* End the call @name, without a further action for it; nothing is done when it is not in flight.
 * Notify the server. @is_late: its deadline has passed. Return 0 or -ENOMEM. */
int mcp_client_cancel(struct mcp_client *client, uint64_t name, bool is_late, uint64_t now_ms);

/* HTTP: the response to the request @request_id has not come, because its stream broke (@status is
 * 0), or because of its @status. */
int mcp_client_lose(struct mcp_client *client, uint64_t request_id, long status, uint64_t now_ms);

/* HTTP: the server has forgotten the session of the legacy era (404). Begin another one. The calls
 * in flight still belong to the earlier session, until mcp_client_lose(). */
int mcp_client_renew(struct mcp_client *client, uint64_t now_ms);

/* HTTP: a stream of GET for notifications is open, so lists do not expire. Notifications between
 * two such streams are lost, so the list is read after the later one opens. */
void mcp_client_set_stream(struct mcp_client *client, bool is_open);

/* End the session: each call in flight is lost. */
void mcp_client_end(struct mcp_client *client);

/* Return whether server/discover or initialize was sent, and nothing has come: some servers exit on
 * what they do not know. */
bool mcp_client_is_probing(const struct mcp_client *client);

/* Return whether initialize was sent to a server that has answered server/discover since, as slow
 * servers do: the server may end on it. */
bool mcp_client_has_doubted(const struct mcp_client *client);

/* Return the id of the request of the call @name, or 0: it is not in flight. */
uint64_t mcp_client_request_id(const struct mcp_client *client, uint64_t name);
