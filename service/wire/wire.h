/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * The frames between the daemon and a toolbox host, over one stream socketpair; answers go through
 * a ring in memory, too (wire/ring.h).
 *
 *   ┌────────────┬────────────┬────────────────────┬──────────────┐
 *   │ size (u32) │ kind (u32) │ id (u64)           │ size bytes   │   in the byte order of
 *   └────────────┴────────────┴────────────────────┴──────────────┘   the machine
 *
 *   daemon                              host
 *     ENVIRONMENT  util/environment.h ──▶       at most once, first
 *     LOAD    {"kind": "native", …}  ──▶        once, then
 *                                    ◀── LISTENER    before anything of the toolbox runs
 *                                    ◀── LOADED  {…} | REFUSED {"pointer", "message"}
 *     INVOKE  id, tool, arguments    ──▶        run one after the other
 *     CHECK   as INVOKE              ──▶        asks only whether the tool takes the arguments
 *                                    ◀── PROGRESS id, {"progress", "text"}      any number
 *                                    ◀── RESULT id, JSON | FAILED id, text | ERROR id, object
 *     (end of file)                  ──▶        the toolbox ends in order, and the host exits
 *
 * A host for several calls runs up to WIRE_CALLS_MAX at a time, and answers them in any order:
 *
 *     INVOKE  id, tool, arguments    ──▶        begun at once
 *     CANCEL  id, struct wire_cancel ──▶        ended; its one answer follows, and is dropped
 *                                    ◀── STALE {}   its toolbox is not as LOAD has it any more
 *                                    ◀── NOTE text  a fault of its toolbox, reported by calls that
 *                                                   time out
 *                                    ◀── USE {"is_in_use": true}   it is not to be stopped for
 *                                                   being idle
 *     REPLACED                       ──▶        no further call comes: a changed toolbox gets them
 *
 * A host with the bus also sends and receives at any time, during calls and between them:
 *
 *     MESSAGE  the frame of a topic that it has subscribed to  ──▶
 *                                    ◀── EMIT  a message for the bus | {"subscribe", "wanted"}
 *
 * ENVIRONMENT has the configured variables. They may be secrets, and other processes of the user
 * can read the initial environment of a process until it is not dumpable (worker/confine).
 *
 * ERROR reports a failure with its facts: {"code": "tool_failed", "message": text} and the other
 * members that contract.md, Errors, names for that code (core/request/errors.h lists them).
 *
 * LISTENER has no payload. With it comes the descriptor from which the daemon reads the system
 * calls that the sandbox refuses (host/refusal.h), if there is one. The daemon takes no other
 * descriptor: a foreign descriptor could block at a read or close. No LISTENER comes before a
 * REFUSED whose sandbox could not be entered.
 *
 * Frames of a host are hostile: a size over the limit, an unknown kind, an id that is not in
 * flight, a second answer, or bytes after an answer end the host.
 */

/* The descriptor of the socket in a host. */
#define WIRE_FD 3

/* The descriptor of the sealed copy of its first library (util/file/sealed_file.h), in a host that
 * is started with one. The copies of further libraries have the next descriptors, in their order,
 * and a library without a copy leaves its own unused. */
#define WIRE_LIBRARY_FD 4

/* The most libraries of a toolbox. */
#define WIRE_LIBRARIES_MAX 8

/* The descriptors of a ring (wire/ring.h), in a host with a ring: its memory, and its eventfd. All
 * descriptors of a host are below WIRE_FDS_END. */
#define WIRE_RING_FD (WIRE_LIBRARY_FD + WIRE_LIBRARIES_MAX)
#define WIRE_WAKE_FD (WIRE_RING_FD + 1)
#define WIRE_FDS_END (WIRE_WAKE_FD + 1)

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
	WIRE_LISTENER,
	WIRE_CANCEL,
	WIRE_CHECK,
	WIRE_STALE,
	WIRE_ENVIRONMENT,
	WIRE_NOTE,
	WIRE_USE,
	WIRE_REPLACED,
};
#define WIRE_LAST WIRE_REPLACED

/* The calls of a host at a time, if it carries several. */
#define WIRE_CALLS_MAX 64

struct wire_header {
	uint32_t size; /* size of the payload, in bytes */
	uint32_t kind; /* enum wire_kind */
	uint64_t id;   /* the call's; 0 outside a call */
};

/* The payload of INVOKE and CHECK: this, then the caller, then the arguments, both as JSON text. */
struct wire_invoke {
	uint64_t program;     /* kind command: stamp_fold() of the files to start; 0: any */
	uint32_t tool;        /* index in the toolbox's list */
	uint32_t timeout_ms;  /* left of its time */
	uint32_t output_max;  /* bytes of the payload of an answer, at most */
	uint32_t stderr_max;  /* logged bytes of stderr per call */
	uint32_t caller_size; /* bytes of {"call_id", "session_id", "lang", "source"}; 0: none
			       */
} __attribute__((packed));

/* The payload of CANCEL. */
struct wire_cancel {
	uint32_t is_late; /* its deadline has passed; else its caller does not want it any more */
};

/* A whole frame; payload is valid until the reader is used again. */
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

/* A reader of frames from a stream. Zeroed, with payload_max set, it is ready. */
struct wire_reader {
	struct buffer bytes;
	size_t used; /* bytes given out at the front */
	size_t payload_max;
};

/* Free the bytes; payload_max stays. */
void wire_reader_deinit(struct wire_reader *reader);

/* Free the memory of a large frame, if each received frame was taken. The last frame of
 * wire_reader_next() ends with it. */
void wire_reader_recycle(struct wire_reader *reader);

/* Return where up to *ret_size received bytes (at least one page) may be written, or NULL when
 * memory is short. Memory grows with the received bytes, never with the size promised by a
 * header. */
char *wire_reader_space(struct wire_reader *reader, size_t *ret_size);

/* Count @size bytes, written to wire_reader_space(), as received. */
void wire_reader_received(struct wire_reader *reader, size_t size);

/* Take the next frame. Returns 0, WIRE_E_MORE, WIRE_E_MALFORMED or WIRE_E_TOO_LARGE. After the last
 * two the stream cannot be read any further. */
int wire_reader_next(struct wire_reader *reader, struct wire_frame *ret_frame);

/* Return whether there are bytes after the taken frames. */
static inline bool wire_reader_has_more(const struct wire_reader *reader)
{
	return reader->used < reader->bytes.size;
}

/* Append a frame to @out. Its payload comes in two parts, either of which may be empty. A payload
 * too large for a header leaves -EMSGSIZE in the status of @out. */
void wire_write(struct buffer *out, enum wire_kind kind, uint64_t id, const void *head,
	size_t head_size, const void *body, size_t body_size);

/* Begin a frame whose payload the caller appends to @out, and finish it. wire_begin returns where
 * the frame starts, for wire_finish. */
size_t wire_begin(struct buffer *out);
void wire_finish(struct buffer *out, size_t start, enum wire_kind kind, uint64_t id);
