/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "core/request/answer.h"
#include "offer/reload.h"
#include "util/list.h"

/*
 * Requests for a reload (ovos.tools.reload), answered after the next reload to begin, each with its
 * caller's view then.
 *
 *   request ─▶ next ── a reload begins ─▶ current ── it is done ─▶ answered
 */
struct reload_requests {
	struct reload *reload;           /* borrowed */
	const struct audience *audience; /* borrowed; audience of the announcements */
	struct list current;             /* requests for the reload under way */
	struct list next;                /* requests for the reload after that */
	uint32_t n;                      /* in both */
};

/* Make @requests empty. @reload and @audience outlive it. */
void reload_requests_init(
	struct reload_requests *requests, struct reload *reload, const struct audience *audience);

/* Free the requests without an answer. Takes a zeroed struct. */
void reload_requests_deinit(struct reload_requests *requests);

/* Serve ovos.tools.reload for @caller (copied): take @answer over, and begin a reload. When too
 * many requests wait already, or memory is short, write the error to @answer. */
void reload_requests_take(struct reload_requests *requests, const struct policy_caller *caller,
	struct answer *answer);

/* A reload begins: all requests so far are for this reload. Return whether there are any. */
bool reload_requests_begin(struct reload_requests *requests);

/* The reload under way is done: answer its requests. */
void reload_requests_finish(struct reload_requests *requests);

/* Send `unavailable` to all requests: the service is stopping. */
void reload_requests_give_up(struct reload_requests *requests);

/* Write the member `configuration` of @answer (offer/mistakes.h), if there are mistakes. They may
 * name any tool, so only a caller whose @view has all tools receives them. */
void reload_write_mistakes(
	const struct reload *reload, const struct catalogue *view, struct answer *answer);

/* Send ovos.tools.changed with @members (JSON text) to @audience. */
void reload_announce(const struct audience *audience, const struct buffer *members);
