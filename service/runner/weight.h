/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The weight of a host: the processor time used for an answer.
 *
 *            begin           look            look            look
 *   used ────┼───────────────┼───────────────┼───────────────┼────▶
 *             answer answer    a call runs …   runs …          100 ms used, 2 answers: heavy
 *
 * Where processors are short, a heavy host takes them from the daemon, which serves everybody, so
 * the host is made nicer. A light one is not: the daemon, woken by each of its answers, would
 * interrupt the host and halve the calls per second. A look costs two system calls, and comes every
 * WEIGHT_LOOK_MS at most: a short call costs none. A host that waits for a processor, or for
 * anything else, uses none, and stays light.
 */

/* The time between two looks at a host. */
#define WEIGHT_LOOK_MS 100

/* The processor time for a judgement: the least amount felt by others. */
#define WEIGHT_USED_NS UINT64_C(50000000)

/* The processor time for an answer of a heavy host. */
#define WEIGHT_ANSWER_NS UINT64_C(5000000)

/* The processor time for loading, of a heavy host: it links libraries and reads files. */
#define WEIGHT_LOADING_NS UINT64_C(500000000)

/* A host without calls and with no more use than this between two looks is at rest. */
#define WEIGHT_REST_NS UINT64_C(5000000)

struct weight {
	uint64_t begin_ns;  /* the processor time used before counting began */
	uint64_t looked_ns; /* the same at the last look */
	uint64_t recent_ns; /* used between the last two looks */
	uint32_t n_answers; /* since counting began */
	bool is_loading;
	bool has_answered; /* since the last look */
	bool had_answered; /* between the last two looks */
};

/* Begin to count for a host with @used_ns used so far. */
static inline void weight_begin(struct weight *weight, uint64_t used_ns, bool is_loading)
{
	*weight = (struct weight){
		.begin_ns = used_ns, .looked_ns = used_ns, .is_loading = is_loading};
}

/* Count an answer. */
static inline void weight_note_answer(struct weight *weight)
{
	weight->n_answers++;
	weight->has_answered = true;
}

/* Look at a host with @used_ns used by now. Return whether it is heavy; counting begins anew with
 * each judgement. */
bool weight_look(struct weight *weight, uint64_t used_ns);

/* Return whether the host may be at work: before the last look it has used more than a host at rest
 * does, or has answered, perhaps just before the look. A call may have begun a thread. */
static inline bool weight_is_at_work(const struct weight *weight)
{
	return weight->recent_ns > WEIGHT_REST_NS || weight->had_answered;
}
