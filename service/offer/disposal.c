/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/disposal.h"

#include <malloc.h>

#include "util/assert.h"
#include "util/cleanup.h"

/* Beside the loop. Reading has left free memory between blocks in use: trim it, too. */
static void dispose(void *data)
{
	struct disposal *disposal = data;

	package_bin_empty(&disposal->bin);
	malloc_trim(0);
}

static void finish_disposal(void *data)
{
	struct disposal *disposal = data;

	check(disposal->aside);
	disposal->aside = NULL;
	if (disposal->is_wanted || !package_bin_is_empty(&disposal->bin))
		disposal_begin(disposal);
}

void disposal_begin(struct disposal *disposal)
{
	disposal->is_wanted = disposal->aside;
	if (disposal->aside)
		return;
	/* Without a thread it takes its time here. */
	if (aside_start(disposal->loop, dispose, finish_disposal, disposal, &disposal->aside) < 0)
		dispose(disposal);
}

static void begin_soon(void *data)
{
	disposal_begin(data);
}

/* A call that ends, and its runner, may leave several packages at once. */
static void take_notice(void *data)
{
	struct disposal *disposal = data;

	loop_timer_arm(&disposal->soon, 0);
}

int disposal_init(struct disposal *disposal, struct loop *loop)
{
	*disposal = (struct disposal){
		.loop = loop,
		.bin = {.filled = take_notice, .data = disposal},
	};
	return loop_timer_init(&disposal->soon, loop, begin_soon, disposal);
}

void disposal_deinit(struct disposal *disposal)
{
	aside_free(take_ptr(disposal->aside));
	loop_timer_deinit(&disposal->soon);
	package_bin_empty(&disposal->bin);
}
