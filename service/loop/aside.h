/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loop/loop.h"

/*
 * Work beside the loop: in a thread of its own, while the loop serves others.
 *
 *   loop     aside_start ─────── serves others ───────▶ reads the eventfd, joins ──▶ done()
 *   thread        └──▶ run() ──▶ writes to the eventfd
 *
 * Until done() is called, only run() may use what it works on; what both read must not change. The
 * thread has less priority than the loop, and takes no signals.
 */
struct aside;

typedef void (*aside_function)(void *data);

/* Call @run with @data in a thread, and then @done from the loop. *@ret_aside is freed by then. 0
 * or a negative errno: neither is called. */
int aside_start(struct loop *loop, aside_function run, aside_function done, void *data,
	struct aside **ret_aside);

/* Wait until run() has returned, and free @aside, which may be NULL; done() is not called. */
void aside_free(struct aside *aside);
