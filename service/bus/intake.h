/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/frame.h"
#include "util/buffer.h"

/*
 * Incoming frames. A frame arrives in pieces; an unwanted or too large frame is not kept.
 *
 *              ┌── the only piece ─────────────────────────────▶ delivered where it lies, no copy
 *   piece ──▶ NEW
 *              └── topic? ──┬─ wanted ───▶ GATHERING ──last────▶ delivered from the buffer
 *                           ├─ unknown: GATHERING, and another scan at twice the size
 *                           └─ foreign ──▶ SKIPPING ───last────▶ nothing
 *                                             ▲
 *                      over a limit ──────────┘
 */

struct intake;

/* The limits and the shared budget of all intakes of a bus. */
struct intake_rules {
	/* Return whether a frame with this topic is wanted. NULL: all frames are, and no topic is
	 * scanned. */
	bool (*wants)(void *data, const char *topic, size_t size);
	void *data;
	size_t frame_bytes;  /* the largest accepted frame */
	size_t gather_bytes; /* budget for all unfinished frames together */
	size_t gathered;     /* used part of the budget */

	/* Make room for @size more bytes of @intake: drop larger unfinished frames of others. NULL:
	 * there are none. */
	void (*make_room)(void *data, const struct intake *intake, size_t size);
};

enum intake_state {
	INTAKE_NEW,
	INTAKE_GATHERING,
	INTAKE_SKIPPING,
	INTAKE_DELIVERED, /* a frame is whole: intake_reset() must follow */
};

/* A zeroed struct is ready for its first frame. */
struct intake {
	enum intake_state state;
	bool is_wanted;        /* the topic was found */
	size_t next_look;      /* size for the next scan for the topic */
	size_t charged;        /* share of rules->gathered */
	struct buffer message; /* gathered text, after the room of bus_message_begin() */
};

enum intake_result {
	INTAKE_MORE,      /* nothing to do yet */
	INTAKE_WHOLE,     /* a wanted frame is complete */
	INTAKE_FOREIGN,   /* the frame is not wanted */
	INTAKE_NO_TOPIC,  /* the frame has no topic */
	INTAKE_OVERSIZED, /* the frame exceeds frame_bytes */
	INTAKE_CROWDED,   /* no room for the frame: gather_bytes is exhausted */
	INTAKE_SHORT,     /* no memory for the frame */
};

/*
 * Take the next @size bytes of a frame; @is_last marks its end. The results from INTAKE_FOREIGN on
 * are returned once per frame, as early as possible. After INTAKE_WHOLE, @ret_text and @ret_size
 * describe the frame, in @piece or in the intake until intake_reset(), which the caller must call.
 */
enum intake_result intake_take(struct intake *intake, struct intake_rules *rules, const char *piece,
	size_t size, bool is_last, const char **ret_text, size_t *ret_size);

/* After INTAKE_WHOLE: return the frame in a sendable form. A gathered frame is not copied. Return
 * NULL when memory is short. */
struct frame *intake_frame(struct intake *intake, const char *text, size_t size);

/* Drop the gathered bytes. The next piece begins a frame. */
void intake_reset(struct intake *intake, struct intake_rules *rules);

/* Drop the gathered bytes, and the rest of the frame as it arrives. Do nothing when no frame is
 * unfinished. */
void intake_abandon(struct intake *intake, struct intake_rules *rules);
