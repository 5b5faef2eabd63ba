/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <time.h>

#include "loop/loop.h"

/*
 * A timer of the clock of people (CLOCK_REALTIME): it is due at a time of the day, also when the
 * clock was set or the system slept meanwhile. It is for the next end of an entry of disabled.json.
 */
struct expiry {
	int fd; /* a timerfd */
	struct loop_source *source;
	loop_timer_function function;
	void *data;
};

/* Prepare a timer that calls @function with @data. 0 or a negative errno. */
int expiry_init(struct expiry *expiry, struct loop *loop, loop_timer_function function, void *data);

/* Call the function once, at @moment, or at once after it; 0: never. This replaces an earlier
 * call. */
void expiry_set(struct expiry *expiry, time_t moment);

/* Takes a zeroed one. */
void expiry_deinit(struct expiry *expiry);
