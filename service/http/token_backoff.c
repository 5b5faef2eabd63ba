/* SPDX-License-Identifier: Apache-2.0 */
#include "http/token_backoff.h"

#include <stdio.h>
#include <string.h>

/* Return the entry of @address at @now_ms: an empty entry when no entry still counts. */
static struct token_guess *find_guess(
	struct token_backoff *guesses, const char *address, uint64_t now_ms)
{
	struct token_guess *oldest = &guesses->items[0];

	for (unsigned int i = 0; i < TOKEN_BACKOFF_MAX; i++) {
		struct token_guess *guess = &guesses->items[i];

		if (guess->count > 0 && strcmp(guess->address, address) == 0) {
			oldest = guess;
			if (now_ms - guess->since_ms < TOKEN_BACKOFF_WINDOW_MS)
				return guess;
			break;
		}
		if (guess->since_ms < oldest->since_ms)
			oldest = guess;
	}
	*oldest = (struct token_guess){.since_ms = now_ms};
	snprintf(oldest->address, sizeof(oldest->address), "%s", address);
	return oldest;
}

uint64_t token_backoff_count(struct token_backoff *guesses, const char *address, uint64_t now_ms)
{
	struct token_guess *guess = find_guess(guesses, address, now_ms);
	uint64_t delay_ms = TOKEN_BACKOFF_DELAY_MS;

	guess->count++;
	if (guess->count <= TOKEN_BACKOFF_FREE)
		return 0;
	for (unsigned int i = TOKEN_BACKOFF_FREE + 1;
		i < guess->count && delay_ms < TOKEN_BACKOFF_DELAY_MAX_MS; i++)
		delay_ms *= 2;
	return delay_ms < TOKEN_BACKOFF_DELAY_MAX_MS ? delay_ms : TOKEN_BACKOFF_DELAY_MAX_MS;
}
