/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

struct account;
struct link;

/*
 * Outgoing messages: one copy of the text, however many clients receive it.
 *
 *   malloc ──▶ ┌──────────────┬──────────┬──────────────────────────┐
 *              │ struct frame │ room for │ text                     │
 *              └──────────────┴──────────┴──────────────────────────┘
 *                references     a header   the bytes of a buffer of bus_message_begin()
 *
 * A message is built after this room from the start, so turning it into a frame copies nothing:
 *
 *   bus_message_begin ─▶ buffer ─ bus_send ─▶ frame ─▶ queue of each peer ─▶ socket
 */
struct frame {
	uint32_t references;
	uint16_t share; /* the share of the queue to a bus of others (bus_send) */
	/* bytes of its memory, if that is small; 0: the memory after its text was never used */
	uint16_t small_bytes;
	size_t size;
	struct account *account; /* charged until the frame is freed; counted reference, or NULL */
	size_t charged;
};

/* The memory of a frame beside its text: a million tiny frames must count, too. */
#define FRAME_OVERHEAD_BYTES 128

/* Turn @message, begun by bus_message_begin(), into a frame with one reference. The buffer is empty
 * afterwards. */
struct frame *frame_take(struct buffer *message);

/* Charge @account with @frame and @n_queues places in queues, until @frame is freed. A frame is
 * charged once. */
void frame_charge(struct frame *frame, struct account *account, size_t n_queues);

/* Return the text of @frame. */
const char *frame_text(const struct frame *frame);

struct frame *frame_ref(struct frame *frame);

/* Drop a reference; the last one frees @frame, which may be NULL. */
void frame_unref(struct frame *frame);

/*
 * The unreceived frames of one peer: a first-in, first-out ring. A zeroed struct is an empty queue.
 *
 * A large frame is written in fragments of FRAME_FRAGMENT_BYTES. The link copies the unsent part of
 * a write, so small fragments keep the copy small.
 */
struct frame_queue {
	struct frame **frames;
	uint32_t first;
	uint32_t count;
	uint32_t capacity; /* a power of two, or 0 */
	size_t bytes;      /* size of the queued frames, each with its overhead */
	size_t written;    /* written bytes of the first frame */
	struct link *link; /* borrowed: the way to the peer; NULL: it is never written */
	/* borrowed: bytes of each share (bus_send), BUS_SHARES; NULL: not counted */
	size_t *shares;
};

#define FRAME_FRAGMENT_BYTES (64u << 10)

/* Append @frame and take a reference to it. Return 0, -ENOBUFS if the queue would exceed
 * @bytes_max, or -ENOMEM. */
int frame_queue_push(struct frame_queue *queue, struct frame *frame, size_t bytes_max);

/* Return the first frame, kept by @queue; NULL if the queue is empty. */
const struct frame *frame_queue_head(const struct frame_queue *queue);

/* Remove the first frame and hand over the queue's reference to it. Return NULL if the queue is
 * empty. */
struct frame *frame_queue_take(struct frame_queue *queue);

/* The bytes after which frame_queue_write() leaves the turn to other connections. They exceed, as a
 * rule, the output caused by a client's input in a turn: else the frames of a persistent sender
 * would gather here, and the frames of others would wait in line after them. */
#define FRAME_TURN_BYTES (2u << 20)

/* Write as much to the link as its socket takes, perhaps nothing, and no more after @frames_max
 * whole frames, or @bytes_max. Return how many frames were completed, or a negative number when the
 * connection is lost. */
int frame_queue_write(struct frame_queue *queue, int frames_max, size_t bytes_max);

/* Prepare for another connection: drop the first frame if a part of it was written. Return how many
 * frames were dropped. The peer cannot have received it whole, but its written bytes are masked. */
uint32_t frame_queue_restart(struct frame_queue *queue);

/* Drop all frames. Return how many there were. */
uint32_t frame_queue_clear(struct frame_queue *queue);

/* Fill @ret_bytes with bytes unpredictable for other programs, for keys and masks. Called by the
 * loop only. */
void frame_draw(unsigned char *ret_bytes, size_t size);
