/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/network.h"

/*
 * Wrong tokens, counted by address, or the /64 of an IPv6 address (http_peer_place()): from the
 * fifth in a minute on, the response is delayed by 250 ms, then by twice as much each time, up to 4
 * s. A request with a good token never waits.
 *
 * The last GUESSES_MAX addresses are known; the one that began longest ago is forgotten first.
 */
#define GUESSES_MAX          256
#define GUESSES_FREE         4
#define GUESSES_DELAY_MS     250
#define GUESSES_DELAY_MAX_MS 4000
#define GUESSES_WINDOW_MS    60000

/* Zeroed before use. */
struct guesses {
	struct guess {
		char address[NETWORK_BYTES];
		uint64_t since_ms;
		unsigned int count; /* 0: free */
	} items[GUESSES_MAX];
};

/* Count a wrong token from @address at @now_ms. Return the delay of the response, in ms. */
uint64_t guesses_count(struct guesses *guesses, const char *address, uint64_t now_ms);
