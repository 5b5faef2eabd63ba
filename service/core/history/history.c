/* SPDX-License-Identifier: Apache-2.0 */
#include "core/history/history.h"

#include <errno.h>
#include <sys/mman.h>

#define SLOTS_BYTES (HISTORY_CALLS * sizeof(struct call_summary))

_Static_assert(sizeof(struct call_summary) <= 1024, "the ring takes at most 1,000 KiB");

int history_init(struct history *history)
{
	/* The heap would write its zeros: mapped, a slot takes memory when it is first used. */
	void *slots =
		mmap(NULL, SLOTS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*history = (struct history){.slots = slots == MAP_FAILED ? NULL : slots};
	for (size_t i = 0; i < ANSWER_CODES; i++)
		history->rates[i].burst = HISTORY_LINES;
	history->rates[ANSWER_BUSY].burst = HISTORY_SHORTAGE_LINES;
	history->rates[ANSWER_UNAVAILABLE].burst = HISTORY_SHORTAGE_LINES;
	return history->slots ? 0 : -ENOMEM;
}

void history_deinit(struct history *history)
{
	if (history->slots)
		munmap(history->slots, SLOTS_BYTES);
	history->slots = NULL;
}

const struct call_summary *history_at(const struct history *history, size_t index)
{
	if (index >= HISTORY_CALLS || index >= history->n_added)
		return NULL;
	return &history->slots[(history->n_added - 1 - index) % HISTORY_CALLS];
}
