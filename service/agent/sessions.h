/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/history.h"
#include "util/buffer.h"
#include "util/list.h"
#include "util/text/text_view.h"

/*
 * The conversations, by source and session: no source can read or end the conversation of another.
 * For a new one the conversation without a turn gives way that was used longest ago.
 */

/* The most conversations in memory. */
#define SESSIONS_MAX 256

/* The most bytes of all conversations together. */
#define SESSIONS_BYTES ((size_t)64 << 20)

struct chat;

struct session {
	struct list link;     /* the last used one is the last */
	struct buffer source; /* context.source as JSON; empty: none */
	struct buffer id;     /* the session_id as JSON */
	struct history history;
	bool has_told_away; /* the person knows of the absent server */
	struct chat *chat;  /* the turn that runs or waits; or NULL */
};

struct sessions {
	struct list items;
	size_t n_items;
};

void sessions_init(struct sessions *sessions);

/* Return the conversation of @source and @id, JSON texts, or NULL. */
struct session *sessions_find(
	struct sessions *sessions, struct text_view source, struct text_view id);

/* The same, but create it; NULL without memory, or when all have a turn. */
struct session *sessions_take(
	struct sessions *sessions, struct text_view source, struct text_view id);

/* Forget the conversations that were used longest ago until all have SESSIONS_BYTES at most. A
 * conversation with a turn stays. */
void sessions_trim(struct sessions *sessions);

/* Forget all. None has a turn. */
void sessions_deinit(struct sessions *sessions);
