/* SPDX-License-Identifier: Apache-2.0 */
#include "core/leftovers.h"

#include "util/cleanup.h"
#include "util/file/host_folder.h"

static bool has_to_end(void *data)
{
	struct leftovers *leftovers = data;

	return atomic_load(&leftovers->is_over);
}

/* Beside the loop. */
static void remove_folders(void *data)
{
	host_folder_remove_left(HOST_FOLDER_PARENT "/", has_to_end, data);
}

static void finish_removal(void *data)
{
	struct leftovers *leftovers = data;

	leftovers->aside = NULL;
}

/* A timer. Without a thread they stay until a guard removes them. */
static void begin_removal(void *data)
{
	struct leftovers *leftovers = data;

	(void)aside_start(
		leftovers->loop, remove_folders, finish_removal, leftovers, &leftovers->aside);
}

int leftovers_init(struct leftovers *leftovers, struct loop *loop)
{
	int r;

	leftovers->loop = loop;
	r = loop_timer_init(&leftovers->due, loop, begin_removal, leftovers);
	if (r == 0)
		loop_timer_arm(&leftovers->due, LEFTOVERS_MS);
	return r;
}

void leftovers_deinit(struct leftovers *leftovers)
{
	atomic_store(&leftovers->is_over, true);
	aside_free(take_ptr(leftovers->aside));
	loop_timer_deinit(&leftovers->due);
}
