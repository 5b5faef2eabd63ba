/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/network.h"

/*
 * Wrong tokens, counted by address, or the /64 of an IPv6 address (http_peer_place()): from the
 * fifth in a minute on, the response is delayed by 250 ms, then by twice as much each time, up to 4
 * s. A request with a good token never waits.
 *
 * The last TOKEN_BACKOFF_MAX addresses are known; the oldest is forgotten first.
 */
#define TOKEN_BACKOFF_MAX          256
#define TOKEN_BACKOFF_FREE         4
#define TOKEN_BACKOFF_DELAY_MS     250
#define TOKEN_BACKOFF_DELAY_MAX_MS 4000
#define TOKEN_BACKOFF_WINDOW_MS    60000

/* Zeroed before use. */
struct token_backoff {
	struct token_guess {
		char address[NETWORK_BYTES];
		uint64_t since_ms;
		unsigned int count; /* 0: free */
	} items[TOKEN_BACKOFF_MAX];
};

/* Count a wrong token from @address at @now_ms. Return the delay of the response, in ms. */
uint64_t token_backoff_count(struct token_backoff *guesses, const char *address, uint64_t now_ms);
