/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/problems.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"

static int compare_digests(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

void problems_log(struct problems *problems, enum log_level level, const char *text)
{
	uint64_t digest = digest_bytes(DIGEST_SEED, text, strlen(text));

	problems->rate.burst = PROBLEMS_LOGGED;
	/* Without memory for its digest, it is logged again in the next round. */
	if (array_grow(problems->found, problems->n_found) == 0)
		problems->found[problems->n_found++] = digest;
	if (!problems->before || !bsearch(&digest, problems->before, problems->n_before,
					 sizeof(digest), compare_digests))
		log_limited(&problems->rate, level, "%s", text);
}

void problems_log_diagnostic(void *data, const struct diagnostic *diagnostic)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	diagnostic_write(diagnostic, &line);
	problems_log(data,
		diagnostic->severity == DIAGNOSTIC_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
		buffer_terminate(&line) ? line.data : diagnostic->text);
}

void problems_end_round(struct problems *problems)
{
	free(problems->before);
	problems->before = take_ptr(problems->found);
	problems->n_before = problems->n_found;
	problems->n_found = 0;
	if (problems->n_before > 1)
		qsort(problems->before, problems->n_before, sizeof(*problems->before),
			compare_digests);
}

void problems_deinit(struct problems *problems)
{
	free(problems->before);
	free(problems->found);
	*problems = (struct problems){0};
}
