/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "core/request/answer.h"
#include "json/tape.h"
#include "policy/caller.h"
#include "util/text/text_view.h"

/*
 * The address of a request from outside of the bus: where its answer goes.
 *
 *   door ──topics_take_request──▶ request ─ call ─ answer_send ──▶ operations.answer
 *     │                              │       │                           ▲
 *     │                              │       └─ progress ─▶ operations.progress
 *     │                              └─ held, deferred: a reference      │
 *     └── its caller is gone: address_leave ───────────────▶ nothing is passed on any more
 *
 * The request is served as one of the bus (core/request/request_text.h). Only its answer has
 * another shape: the data of the response, alone.
 */
struct address;

/* The common part of the entries of a batch (core/call/batch.h). */
struct address_batch {
	struct text_view profile; /* the request's, or absent */
	bool wants_progress;      /* its caller gets the progress of each call */
};

struct address_operations {
	/* Take the complete @answer: the text of its message (bus_message_text) is a JSON object.
	 * The message may be taken over. Called once. */
	void (*answer)(struct address *address, struct answer *answer);

	/* Take the progress reported by the tool (worker frames, contract.md). NULL: not wanted. */
	void (*progress)(struct address *address, const struct json_tape *progress);

	/* Return whether the configuration in force still gives the caller the rights it came with.
	 * NULL: it does. */
	bool (*is_granted)(const struct address *address);

	/* Free @address: the last reference was dropped. */
	void (*free)(struct address *address);
};

/* A member of what its door keeps of one request. */
struct address {
	const struct address_operations *operations;
	unsigned int references;
	enum call_door door;
	/* The caller, as its door knows it (struct policy_caller); they live as long as the
	 * address. */
	struct text_view source;
	struct text_view session_id;
	const char *granted;
	uint64_t token;
	struct text_view trace;        /* members of JSON (core/request/trace.h) */
	const struct answer *response; /* on the bus, whose context messages aside have; or NULL */
	const struct address_batch *batch; /* borrowed; NULL: it is no entry of a batch */
	uint64_t due_ms; /* when a job has to end (clock_now_ms()); 0: it is for no job */
	bool has_left;   /* the caller is gone */
};

/* Return whether the answer to @address, which may be NULL, is for a job (core/job/job.h): its call
 * is in the background, and outlives its caller. */
static inline bool address_is_of_job(const struct address *address)
{
	return address && address->due_ms > 0;
}

/* Return the time that the job of @address has left at @now_ms, in ms: at least 1. */
static inline uint64_t address_left_ms(const struct address *address, uint64_t now_ms)
{
	return address->due_ms > now_ms ? address->due_ms - now_ms : 1;
}

/* Return whether the caller at @address, which may be NULL, wants progress of each call. */
static inline bool address_wants_progress(const struct address *address)
{
	return address && address->batch && address->batch->wants_progress;
}

/* Return whether @address, which may be NULL, names the caller of its request. Elsewhere the
 * context of a message of the bus does. */
static inline bool address_names_caller(const struct address *address)
{
	return address && address->door != CALL_DOOR_BUS;
}

/* Take a reference. @address may be NULL. */
static inline struct address *address_ref(struct address *address)
{
	if (address)
		address->references++;
	return address;
}

/* Drop a reference; the last one frees @address, which may be NULL. */
static inline void address_unref(struct address *address)
{
	if (address && --address->references == 0)
		address->operations->free(address);
}

/* Pass on @progress to @address, which may be NULL, if wanted there. */
static inline void address_progress(struct address *address, const struct json_tape *progress)
{
	if (address && !address->has_left && address->operations->progress)
		address->operations->progress(address, progress);
}

/* Return whether the caller at @address, which may be NULL, still has the rights it came with. */
static inline bool address_is_granted(const struct address *address)
{
	return !address || !address->operations->is_granted ||
	       address->operations->is_granted(address);
}

/* Note that the caller at @address is gone: neither the answer nor progress is passed on any
 * more. */
static inline void address_leave(struct address *address)
{
	address->has_left = true;
}
