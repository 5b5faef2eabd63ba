/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "reply.h"

/* The time that is left for an answer, when a tool ends by itself. */
#define ANSWER_MS 500

uint64_t read_number(struct toolbox_call call, const char *key, uint64_t fallback, uint64_t max)
{
	uint64_t number = fallback;

	/* A number that is larger than any uint64_t is larger than @max. */
	if (toolbox_get_u64(call, key, &number) == TOOLBOX_E_RANGE)
		return max;
	return number < max ? number : max;
}

bool is_late(struct toolbox_call call)
{
	return toolbox_ms_left(call) < ANSWER_MS;
}

void fail_call(struct toolbox_call call, const struct text *why)
{
	toolbox_fail(call, why->has_failed ? "out of memory" : text_string(why));
}

void answer(struct toolbox_call call, const char *tool, bool is_good, const struct text *out,
	const struct text *why)
{
	struct text failure = {0};

	if (is_good && !out->has_failed) {
		reply_content(call, out, NULL);
		return;
	}
	text_printf(&failure, "%s failed: ", tool);
	text_add_lossy(&failure, text_string(why), why->size);
	if (out->has_failed || why->size == 0)
		text_put(&failure, "out of memory");
	toolbox_fail(call, failure.has_failed ? "out of memory" : text_string(&failure));
	text_free(&failure);
}
