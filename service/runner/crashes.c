/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/crashes.h"

bool crashes_note(struct crashes *crashes, uint64_t now_ms, uint32_t limit, uint64_t window_ms)
{
	uint64_t first_ms;

	crashes->times_ms[crashes->n_crashes++ % CRASHES_MAX] = now_ms;
	if (limit > CRASHES_MAX)
		limit = CRASHES_MAX;
	if (limit == 0 || crashes->n_crashes < limit)
		return false;
	first_ms = crashes->times_ms[(crashes->n_crashes - limit) % CRASHES_MAX];
	return now_ms - first_ms <= window_ms;
}

uint64_t crashes_next_delay_ms(struct crashes *crashes)
{
	uint64_t delay_ms = crashes->backoff_ms;

	if (delay_ms == 0)
		crashes->backoff_ms = CRASHES_BACKOFF_FIRST_MS;
	else if (delay_ms < CRASHES_BACKOFF_LAST_MS / 2)
		crashes->backoff_ms = 2 * delay_ms;
	else
		crashes->backoff_ms = CRASHES_BACKOFF_LAST_MS;
	return delay_ms;
}

void crashes_forgive(struct crashes *crashes)
{
	crashes->n_crashes = 0;
	crashes->backoff_ms = 0;
}
