/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/package.h"
#include "loop/aside.h"
#include "loop/loop.h"

/*
 * The disposal of packages unused by any catalogue, runner or call. Freeing takes time in
 * proportion to their tools, so it is done beside the loop:
 *
 *   last reference ──▶ bin ──▶ disposal_begin ──▶ thread: free them, return memory to the system
 *        a call or a runner has ended: in the next turn of the loop
 */
struct disposal {
	struct loop *loop;
	struct package_bin bin;
	struct loop_timer soon;
	struct aside *aside; /* NULL: no thread is at work */
	bool is_wanted;      /* another one follows */
};

/* Returns 0 or -ENOMEM. */
int disposal_init(struct disposal *disposal, struct loop *loop);

/* Free the packages in the bin, and return free memory to the system: now, beside the loop. */
void disposal_begin(struct disposal *disposal);

/* Free everything in the bin. No package is put there afterwards. */
void disposal_deinit(struct disposal *disposal);
