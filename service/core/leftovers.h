/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>

#include "loop/aside.h"
#include "loop/loop.h"

/*
 * The temporary folders that hosts of an earlier daemon have left, killed with their guards
 * (util/file/host_folder.h). They are removed once, a while after the start, beside the loop.
 */
struct leftovers {
	struct loop *loop;
	struct loop_timer due;
	struct aside *aside; /* NULL: no thread is at work */
	atomic_bool is_over; /* the thread is to end */
};

/* The time after the start. */
#define LEFTOVERS_MS 5000

/* Plan the removal. Return 0 or -ENOMEM. */
int leftovers_init(struct leftovers *leftovers, struct loop *loop);

/* End the removal. */
void leftovers_deinit(struct leftovers *leftovers);
