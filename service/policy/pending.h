/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "policy/hex.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * The questions that wait for an answer.
 *
 *   pending_add ──▶ waits ── pending_find, by the id of an answer ──┬──▶ pending_drop
 *                         └─ pending_expired, when its time is over ┘
 */

struct pending_question {
	struct list link;
	char id[HEX_ID_CHARS + 1]; /* 128 random bits: never used again */
	uint64_t expires_ms;
	struct buffer members;   /* the question's members as JSON text, but for `expires_s` */
	struct buffer arguments; /* the arguments that its tool will get, as JSON text */
	void *call;              /* the call that waits: the owner's */
};

struct pending {
	struct list list; /* the oldest first */
	uint32_t n;
};

void pending_init(struct pending *pending);

/* Drop all questions. */
void pending_deinit(struct pending *pending);

/* Add a question about @call with a new id and empty texts; NULL without memory or random bytes. */
struct pending_question *pending_add(struct pending *pending, uint64_t expires_ms, void *call);

/* Return the question with the id of @size bytes at @id, or NULL. */
struct pending_question *pending_find(const struct pending *pending, const char *id, size_t size);

/* Return the question about @call, or NULL. */
struct pending_question *pending_find_call(const struct pending *pending, const void *call);

/* Return a question whose time is over at @now_ms, or NULL. */
struct pending_question *pending_expired(const struct pending *pending, uint64_t now_ms);

/* Return when the next question expires; UINT64_MAX without any. */
uint64_t pending_next_ms(const struct pending *pending);

/* Forget @question and free it. */
void pending_drop(struct pending *pending, struct pending_question *question);
