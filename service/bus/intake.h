/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/frame.h"
#include "util/buffer.h"

/*
 * Frames on their way in: a frame arrives in pieces, and what is not wanted, or is too large, is
 * not kept.
 *
 *              ┌── the only piece ─────────────────────────────▶ taken where it lies, no copy
 *   piece ──▶ NEW
 *              └── topic? ──┬─ wanted ───▶ GATHERING ──last────▶ the gathered frame
 *                           ├─ not yet known: GATHERING, looked for again at twice the size
 *                           └─ foreign ──▶ SKIPPING ───last────▶ nothing
 *                                             ▲
 *                      over a limit ──────────┘
 */

/* What holds for all intakes of a bus, and what they hold together. */
struct intake_rules {
	/* Whether a frame with this topic is taken. NULL: all are, without a look at them. */
	bool (*wants)(void *data, const char *topic, size_t size);
	void *data;
	size_t frame_bytes;  /* the largest frame that is taken */
	size_t gather_bytes; /* the most that unfinished frames may hold together */
	size_t gathered;     /* what they hold now */
};

enum intake_state {
	INTAKE_NEW,
	INTAKE_GATHERING,
	INTAKE_SKIPPING,
};

/* A zeroed struct is ready for the first frame. */
struct intake {
	enum intake_state state;
	bool is_wanted;        /* the topic was seen */
	size_t next_look;      /* bytes at which the topic is looked for again */
	size_t charged;        /* our share of rules->gathered */
	struct buffer message; /* gathered so far, behind the room of frame_begin() */
};

enum intake_result {
	INTAKE_MORE,      /* nothing to do yet */
	INTAKE_WHOLE,     /* a frame that is wanted */
	INTAKE_FOREIGN,   /* the frame is not wanted */
	INTAKE_NO_TOPIC,  /* the frame names no topic */
	INTAKE_OVERSIZED, /* the frame is larger than frame_bytes */
	INTAKE_CROWDED,   /* no room for it: gather_bytes, or the memory, is used up */
};

/*
 * Take the next @size bytes of a frame; @is_last says that they are its end. The results from
 * INTAKE_FOREIGN on come once per frame, as soon as it is known. With INTAKE_WHOLE, @ret_text and
 * @ret_size are the frame, in @piece or in the intake, until intake_reset(), which must follow.
 */
enum intake_result intake_take(struct intake *intake, struct intake_rules *rules, const char *piece,
	size_t size, bool is_last, const char **ret_text, size_t *ret_size);

/* After INTAKE_WHOLE: the frame as one that can be sent, without a copy where it was gathered. NULL
 * without memory. */
struct frame *intake_frame(struct intake *intake, const char *text, size_t size);

/* Forget what was gathered; the next piece begins a frame. */
void intake_reset(struct intake *intake, struct intake_rules *rules);
