/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/history.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(sizeof(struct call_summary) <= 1024, "the ring takes at most 1,000 KiB");

int history_init(struct history *history)
{
	*history = (struct history){.slots = calloc(HISTORY_CALLS, sizeof(*history->slots))};
	for (size_t i = 0; i < ANSWER_CODES; i++)
		history->rates[i].burst = HISTORY_LINES;
	history->rates[ANSWER_BUSY].burst = HISTORY_SHORTAGE_LINES;
	history->rates[ANSWER_UNAVAILABLE].burst = HISTORY_SHORTAGE_LINES;
	return history->slots ? 0 : -ENOMEM;
}

void history_deinit(struct history *history)
{
	free(history->slots);
	history->slots = NULL;
}

const struct call_summary *history_at(const struct history *history, size_t index)
{
	if (index >= HISTORY_CALLS || index >= history->n_added)
		return NULL;
	return &history->slots[(history->n_added - 1 - index) % HISTORY_CALLS];
}
