/* SPDX-License-Identifier: Apache-2.0 */
#include "http/guesses.h"

#include <stdio.h>
#include <string.h>

/* Return the entry of @address at @now_ms: an empty one when it has none that still counts. */
static struct guess *find_guess(struct guesses *guesses, const char *address, uint64_t now_ms)
{
	struct guess *oldest = &guesses->items[0];

	for (unsigned int i = 0; i < GUESSES_MAX; i++) {
		struct guess *guess = &guesses->items[i];

		if (guess->count > 0 && strcmp(guess->address, address) == 0) {
			oldest = guess;
			if (now_ms - guess->since_ms < GUESSES_WINDOW_MS)
				return guess;
			break;
		}
		if (guess->since_ms < oldest->since_ms)
			oldest = guess;
	}
	*oldest = (struct guess){.since_ms = now_ms};
	snprintf(oldest->address, sizeof(oldest->address), "%s", address);
	return oldest;
}

uint64_t guesses_count(struct guesses *guesses, const char *address, uint64_t now_ms)
{
	struct guess *guess = find_guess(guesses, address, now_ms);
	uint64_t delay_ms = GUESSES_DELAY_MS;

	guess->count++;
	if (guess->count <= GUESSES_FREE)
		return 0;
	for (unsigned int i = GUESSES_FREE + 1; i < guess->count && delay_ms < GUESSES_DELAY_MAX_MS;
		i++)
		delay_ms *= 2;
	return delay_ms < GUESSES_DELAY_MAX_MS ? delay_ms : GUESSES_DELAY_MAX_MS;
}
