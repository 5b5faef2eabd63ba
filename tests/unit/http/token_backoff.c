/* SPDX-License-Identifier: Apache-2.0 */
#include "http/token_backoff.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct token_backoff guesses;

Test(guesses, are_slowed_from_the_fifth_in_a_minute)
{
	static const uint64_t delays_ms[] = {0, 0, 0, 0, 250, 500, 1000, 2000, 4000, 4000, 4000};

	for (size_t i = 0; i < sizeof(delays_ms) / sizeof(*delays_ms); i++)
		cr_expect_eq(token_backoff_count(&guesses, "10.0.0.1", 1000 + i), delays_ms[i],
			"%zu", i);
	cr_expect_eq(token_backoff_count(&guesses, "10.0.0.2", 2000), 0, "another address");
	cr_expect_eq(token_backoff_count(&guesses, "10.0.0.1", 1000 + TOKEN_BACKOFF_WINDOW_MS - 1),
		4000);
	cr_expect_eq(token_backoff_count(&guesses, "10.0.0.1", 1000 + TOKEN_BACKOFF_WINDOW_MS), 0);
}

Test(guesses, of_many_addresses_are_forgotten_the_oldest_first)
{
	char address[32];

	for (unsigned int i = 0; i < 5; i++)
		token_backoff_count(&guesses, "first", 1);
	for (unsigned int i = 0; i < TOKEN_BACKOFF_MAX - 1; i++) {
		snprintf(address, sizeof(address), "10.0.%u.%u", i / 256, i % 256);
		cr_expect_eq(token_backoff_count(&guesses, address, 2 + i), 0);
	}
	cr_expect_eq(token_backoff_count(&guesses, "first", 1000), 500);
	cr_expect_eq(token_backoff_count(&guesses, "one more", 1001), 0);
	cr_expect_eq(token_backoff_count(&guesses, "first", 1002), 0);
	cr_expect_eq(token_backoff_count(&guesses, "10.0.0.9", 1003), 0);
}
