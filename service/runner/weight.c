/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/weight.h"

bool weight_look(struct weight *weight, uint64_t used_ns)
{
	uint64_t judged_ns = weight->is_loading ? WEIGHT_LOADING_NS : WEIGHT_USED_NS;
	uint64_t counted_ns = used_ns - weight->begin_ns;
	uint64_t recent_ns = used_ns - weight->looked_ns;
	bool is_heavy;

	weight->looked_ns = used_ns;
	weight->recent_ns = recent_ns;
	weight->had_answered = weight->has_answered;
	weight->has_answered = false;
	if (counted_ns < judged_ns)
		return false;
	/* One more: the running call may be about to end. */
	is_heavy = weight->is_loading || counted_ns / (weight->n_answers + 1u) >= WEIGHT_ANSWER_NS;
	weight->begin_ns = used_ns;
	weight->n_answers = 0;
	return is_heavy;
}
