/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"
#include "mcp/error.h"
#include "mcp/header_value.h"
#include "mcp/version.h"
#include "util/text/text_view.h"

/* The most bytes of the id of a request, or of a progress token, as JSON: they are kept with calls
 * and streams, and repeated in each of their messages. */
#define MCP_ID_BYTES_MAX 1024

/* The levels of a message. The arguments are judged with the call (limits.depth). */
#define MCP_DEPTH_MAX 1000

/*
 * A JSON-RPC message of a client, read and checked in two steps:
 *
 *   bytes ─read─▶ kind, id, method ─check─▶ era, parameters
 *                   │                 │
 *                   └─ −32700, −32600 └─ with HTTP the headers, then the version, `_meta`,
 *                                        the method, and the parameters: the first that is wrong
 */
enum mcp_kind {
	MCP_REQUEST,
	MCP_NOTIFICATION, /* has no response */
	MCP_RESPONSE,     /* to a request never sent by us */
};

enum mcp_method {
	MCP_UNKNOWN, /* not served; a notification with it is ignored */
	MCP_INITIALIZE,
	MCP_PING,
	MCP_DISCOVER,
	MCP_TOOLS_LIST,
	MCP_TOOLS_CALL,
	MCP_LISTEN,
	MCP_TASKS_GET,
	MCP_TASKS_UPDATE,
	MCP_TASKS_CANCEL,
	MCP_CANCELLED,
};

struct mcp_message;
struct mcp_server;
struct mcp_exchange;

/* A method of requests: its row in a table, whose last row has no name. */
struct mcp_method_row {
	const char *name;
	enum mcp_method method;
	unsigned int eras;    /* bits of enum mcp_era; 0: the method is not ours */
	const char *named_by; /* the parameter that Mcp-Name repeats, or NULL */

	/* Read the parameters. Return 0, or MCP_E_REFUSED with @ret_error filled. NULL: there are
	 * none. */
	int (*read)(struct mcp_message *message, struct mcp_error *ret_error);

	/* Serve the request: @write appends the whole response; else @serve does it
	 * (mcp/server/methods.h). */
	void (*write)(struct buffer *out, const struct mcp_message *message,
		const struct mcp_server *server);
	void (*serve)(struct mcp_exchange *exchange);
};

/* Zeroed, or used before; free with mcp_message_deinit(). Tokens are indices of the tape; the texts
 * point into the read text. */
struct mcp_message {
	struct json_tape tape;
	enum mcp_kind kind;
	enum mcp_method method;
	const struct mcp_method_row *row; /* the row of its method, or the last row */
	uint32_t method_name;             /* token */
	uint32_t params;                  /* token of the object, or JSON_NONE */
	bool has_wrong_params;
	struct text_view id; /* as JSON; absent: no usable id */

	enum mcp_era era;
	struct buffer header_version;    /* as JSON; empty, unless it is not supported */
	struct text_view progress_token; /* as JSON; absent: none */
	uint32_t name;                   /* tools/call: token of the tool's name */
	uint32_t arguments;          /* tools/call: token of an object or its text, or JSON_NONE */
	uint32_t cursor;             /* tools/list: token, or JSON_NONE */
	uint32_t requested_version;  /* initialize: token */
	struct text_view request_id; /* cancelled: of the request, as JSON; absent: ignore it */
	bool wants_tool_changes;     /* listen */
	bool has_tasks;              /* the client has declared the tasks (mcp/task.h) */
	uint32_t task;               /* tasks/…: token of the id of the task */
	uint32_t task_ids;           /* listen: token of an array of such ids, or JSON_NONE */
};

/*
 * Read the @size bytes at @text, which stay where they are, with at most @depth_max levels. The
 * table @methods has the methods. Return 0; MCP_E_REFUSED with @ret_error filled (kind and id are
 * filled as far as they could be read, the id also of a text that is not JSON); or -ENOMEM.
 */
int mcp_message_read(struct mcp_message *message, const struct mcp_method_row *methods,
	const char *text, size_t size, uint32_t depth_max, struct mcp_error *ret_error);

/*
 * Check the read @message against the headers @fields of its HTTP request (NULL: not over HTTP),
 * and read its parameters. Return 0, MCP_E_REFUSED with @ret_error filled, or -ENOMEM. A
 * notification is never refused.
 */
int mcp_message_check(
	struct mcp_message *message, const struct mcp_fields *fields, struct mcp_error *ret_error);

/* Return whether two ids, as JSON, are the same: 1 is 1.0, but not "1". */
bool mcp_ids_equal(struct text_view a, struct text_view b);

void mcp_message_deinit(struct mcp_message *message);
