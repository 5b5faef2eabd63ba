/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

struct lws;

/*
 * Frames on their way out: one copy of the text, however many clients it goes to.
 *
 *   malloc ──▶ ┌──────────────┬──────────┬──────────────────────────┐
 *              │ struct frame │ LWS_PRE  │ text                     │
 *              └──────────────┴──────────┴──────────────────────────┘
 *                references     room for   exactly as a buffer of bus_message_begin() holds it
 *                               a header
 *
 * A message is built behind that room from the start, so becoming a frame copies nothing.
 */
struct frame {
	uint32_t references;
	size_t size;
};

/* What a frame costs beside its text: a million tiny ones must not go unnoticed. */
#define FRAME_OVERHEAD_BYTES 128

/* Leave the room in front of the text in the empty buffer @message. */
void frame_begin(struct buffer *message);

/* The text behind the room, so far, and its size. */
const char *frame_message_text(const struct buffer *message, size_t *ret_size);

/* Make the contents of @message, which frame_begin() began, a frame with one reference. The buffer
 * is empty afterwards. */
struct frame *frame_take(struct buffer *message);

/* The text of the frame. */
const char *frame_text(const struct frame *frame);

struct frame *frame_ref(struct frame *frame);

/* Takes NULL. */
void frame_unref(struct frame *frame);

/*
 * The frames that one peer has still to get: a ring, first in first out. A zeroed struct is an
 * empty queue.
 *
 * A large frame is written in fragments of FRAME_FRAGMENT_BYTES: what the socket does not take of a
 * write, libwebsockets copies, and so that copy stays small.
 */
struct frame_queue {
	struct frame **frames;
	uint32_t first;
	uint32_t count;
	uint32_t capacity; /* a power of two, or 0 */
	size_t bytes;      /* of the queued frames, with their overhead */
	size_t written;    /* of the first frame's text */
};

#define FRAME_FRAGMENT_BYTES (64u << 10)

/* Append @frame, taking a reference of its own. 0, -ENOBUFS when the queue would hold more than
 * @bytes_max, or -ENOMEM. */
int frame_queue_push(struct frame_queue *queue, struct frame *frame, size_t bytes_max);

/* Take the first frame out, with the queue's reference to it; NULL when there is none. */
struct frame *frame_queue_take(struct frame_queue *queue);

/* Write to @wsi, from its writable callback, what its socket takes (perhaps nothing). How many
 * frames are done with it; negative when the connection is lost. */
int frame_queue_write(struct frame_queue *queue, struct lws *wsi);

/* Drop all. Returns how many frames that were. */
uint32_t frame_queue_clear(struct frame_queue *queue);
