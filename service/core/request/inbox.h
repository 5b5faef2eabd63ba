/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bus/account.h"
#include "core/request/address.h"
#include "core/request/request_text.h"
#include "util/list.h"

/*
 * The inbox: requests received before the first catalogue was loaded.
 *
 *   frame ─▶ inbox_defer ─▶ oldest ⇄ … ⇄ newest ─▶ inbox_take_first, once they can be answered
 *
 * A request is kept as the received text, and is read again when its turn comes.
 */
struct inbox {
	struct list frames;
	uint32_t n_frames;
};

/* A waiting request. */
struct inbox_frame {
	struct list link;
	unsigned int references;
	struct account *account; /* charged with the frame: counted reference, or NULL */
	struct address *address; /* counted reference; NULL: its answer goes to the bus */
	struct request_text text;
	char bytes[]; /* to which the text points */
};

/* Positive results. */
enum inbox_status {
	INBOX_E_FULL = 1,
};

/* Make @inbox empty. */
void inbox_init(struct inbox *inbox);

/* Free the waiting requests. */
void inbox_deinit(struct inbox *inbox);

/* Make a frame with a copy of @text, charged to @account (NULL: none), with a reference to @address
 * (NULL: none). It has one reference. Returns 0, INBOX_E_FULL when @account has no room for it, or
 * -ENOMEM. */
int inbox_frame_new(struct account *account, struct address *address,
	const struct request_text *text, struct inbox_frame **ret_frame);

/* Append a frame made by inbox_frame_new() from the arguments. Returns 0; INBOX_E_FULL when @max
 * frames wait already, or @account has no room for it; or -ENOMEM. */
int inbox_defer(struct inbox *inbox, uint32_t max, struct account *account, struct address *address,
	const struct request_text *text);

/* Remove the oldest frame and hand over its reference; NULL when none waits. */
struct inbox_frame *inbox_take_first(struct inbox *inbox);

/* Take a reference. */
static inline struct inbox_frame *inbox_frame_ref(struct inbox_frame *frame)
{
	frame->references++;
	return frame;
}

/* Drop a reference to @frame, which may be NULL; the last frees it, and takes back the charge. */
void inbox_frame_unref(struct inbox_frame *frame);
