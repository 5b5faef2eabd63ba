/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * Server-sent events (HTML, 9.2.6, Interpreting an event stream), for a server's answers over HTTP:
 *
 *   : keep-alive          a comment
 *   id: 7                 where to resume
 *   retry: 2000           when to connect again, in ms
 *   event: message
 *   data: {"jsonrpc": …   each further line of data is a line of the message
 *                         an empty line ends the event
 *
 * Lines end with LF, CR or CRLF, and bytes may be cut anywhere. An event without data is not
 * received, nor, unless takes_all, one of another type than message. An event cut off by the end of
 * the stream is dropped.
 */

/* The longest id; a longer one is ignored. */
#define MCP_EVENT_ID_BYTES 1024

/* The longest wait at a server's request. */
#define MCP_RETRY_MAX_MS 60000

/* The longest type of an event, with its NUL; an event of a longer one is not received. */
#define MCP_EVENT_TYPE_BYTES 64

/* Zero it before use, but for bytes_max and takes_all; free it with mcp_events_deinit(). */
struct mcp_events {
	size_t bytes_max; /* the most bytes of a line, and of the data of an event */
	bool takes_all;   /* events of every type are received */
	struct buffer line;
	struct buffer data;
	bool has_data;                   /* the event has a line of data */
	bool is_other;                   /* the event has an unwanted type */
	char type[MCP_EVENT_TYPE_BYTES]; /* the type of the event; "": message */
	bool was_cr;                     /* the last byte was a CR: a LF belongs to it */
	bool has_begun;    /* a line has ended: there is no byte order mark any more */
	struct buffer id;  /* the last id received */
	uint64_t retry_ms; /* 0: the server has not asked for a wait */
};

/* Receive the data of one event. It is valid until the function returns. Return 0 or an error,
 * which ends the stream. */
typedef int (*mcp_event_function)(void *context, const char *data, size_t size);

/* Take @size bytes of the stream, and pass the data of each event with its end there to @receive.
 * Return 0; -EMSGSIZE: a line or an event is too long; -ENOMEM; or the error of @receive. */
int mcp_events_take(struct mcp_events *events, const char *bytes, size_t size,
	mcp_event_function receive, void *context);

/* Begin another stream of the same server: id and retry_ms stay. */
void mcp_events_restart(struct mcp_events *events);

void mcp_events_deinit(struct mcp_events *events);
