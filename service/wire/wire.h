/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * What the daemon and a toolbox host say to each other, over one stream socketpair.
 *
 *   ┌────────────┬────────────┬────────────────────┬──────────────┐
 *   │ size (u32) │ kind (u32) │ id (u64)           │ size bytes   │   both ends are one machine:
 *   └────────────┴────────────┴────────────────────┴──────────────┘   its own byte order
 *
 *   daemon                              host
 *     LOAD    {"kind": "native", …}  ──▶        once, first
 *                                    ◀── LOADED  {…} | REFUSED {"pointer", "message"}
 *     INVOKE  id, tool, arguments    ──▶        run one after the other
 *                                    ◀── PROGRESS id, {"progress", "text"}      any number
 *                                    ◀── RESULT id, JSON | FAILED id, text | ERROR id, object
 *     (end of file)                  ──▶        its toolbox ends in order, and the host exits
 *
 * A host that was given the bus says at any time, and hears between its calls and in them:
 *
 *     MESSAGE  the frame of a topic that it has subscribed to  ──▶
 *                                    ◀── EMIT  a message for the bus | {"subscribe", "wanted"}
 *
 * ERROR tells a failure with its facts: {"code": "tool_failed", "message": text} and what else
 * contract.md, Errors, names for that code (core/errors.h has the list).
 *
 * What a host sends is hostile: a size over the limit, an unknown kind, an id that is not in
 * flight, a second answer, or bytes behind one, ends the host.
 */

/* Where a host finds its end of the socket. */
#define WIRE_FD 3

enum wire_kind {
	WIRE_LOAD = 1,
	WIRE_LOADED,
	WIRE_REFUSED,
	WIRE_INVOKE,
	WIRE_RESULT,
	WIRE_FAILED,
	WIRE_ERROR,
	WIRE_PROGRESS,
	WIRE_EMIT,
	WIRE_MESSAGE,
};
#define WIRE_LAST WIRE_MESSAGE

struct wire_header {
	uint32_t size; /* of the payload, in bytes */
	uint32_t kind; /* enum wire_kind */
	uint64_t id;   /* of the call; 0 outside of one */
};

/* INVOKE's payload: this, then who calls, then the arguments, both as JSON text. */
struct wire_invoke {
	uint32_t tool;        /* index in the toolbox's list */
	uint32_t timeout_ms;  /* left of its time */
	uint32_t output_max;  /* bytes of an answer's payload, at most */
	uint32_t stderr_max;  /* bytes that are kept of a call's stderr */
	uint32_t caller_size; /* bytes of {"call_id", "session_id", "lang"}; 0: the kind asks not */
};

/* A whole frame; @payload is good until the reader is used again. */
struct wire_frame {
	enum wire_kind kind;
	uint64_t id;
	const char *payload;
	size_t size;
};

enum wire_status {
	WIRE_E_MORE = 1,  /* not a whole frame yet */
	WIRE_E_MALFORMED, /* an unknown kind */
	WIRE_E_TOO_LARGE, /* a payload over the limit: the frame's header is given, no payload */
};

/* Gathers frames from a stream. A zeroed reader with @payload_max set is ready. */
struct wire_reader {
	struct buffer bytes;
	size_t used; /* bytes at the front that were given out */
	size_t payload_max;
};

/* Give the bytes back; payload_max stays. */
void wire_reader_deinit(struct wire_reader *reader);

/* Where to put up to *ret_size received bytes (at least one page), or NULL without memory; then
 * say how many came. Memory grows with what arrives, never with what a header promises. */
char *wire_reader_space(struct wire_reader *reader, size_t *ret_size);
void wire_reader_received(struct wire_reader *reader, size_t size);

/* Take the next frame: 0, WIRE_E_MORE, WIRE_E_MALFORMED or WIRE_E_TOO_LARGE. Behind the latter two
 * the stream is of no more use. */
int wire_reader_next(struct wire_reader *reader, struct wire_frame *ret_frame);

/* Whether bytes are left behind the frames that were taken. */
static inline bool wire_reader_has_more(const struct wire_reader *reader)
{
	return reader->used < reader->bytes.size;
}

/* Append a frame; the payload in two parts, either of which may be empty. A payload that a header
 * cannot tell leaves -EMSGSIZE in the buffer's status. */
void wire_write(struct buffer *out, enum wire_kind kind, uint64_t id, const void *head,
	size_t head_size, const void *body, size_t body_size);

/* The same in place: begin a frame, append its payload to @out, finish it. wire_begin returns where
 * the frame starts, for wire_finish. */
size_t wire_begin(struct buffer *out);
void wire_finish(struct buffer *out, size_t start, enum wire_kind kind, uint64_t id);
