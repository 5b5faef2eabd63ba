/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct runner_call;

/*
 * An executor runs the calls of a kind of package without host processes: by messages on the bus,
 * or in the process of a guest. It does for a runner what workers do otherwise
 * (runner/worker.h). The schedule of the runner stays the same for both.
 *
 *   runner.c   begin, cancel, note        an executor         messages
 *              ─────────────────────────▶            ───────────────────▶
 *              runner_finish
 *              ◀─────────────────────────            ◀───────────────────
 *
 * The runner owns the queue, deadlines, cooldowns, `parallel`, statistics, and the drain of a
 * reload or a stop. It begins each call at once, unless a tool with `"parallel": false` runs alone:
 * the only bound is limits.queue. Whatever has to wait beyond that (for its turn, or for a pace)
 * waits in the executor, while the deadline of the call runs.
 *
 * All runners of a kind share an executor. The owner embeds it.
 */

struct executor;

struct executor_operations {
	/* Run @call with the JSON text @arguments, which is valid during the call only. Later, from
	 * the loop, runner_finish() ends it, unless cancel() comes before. A call that cannot be
	 * run ends in this way, too. Returns 0, or -ENOMEM: the call has not begun. */
	int (*begin)(struct executor *executor, struct runner_call *call, const char *arguments,
		size_t size);

	/* Forget @call, which was begun and has not been finished. @is_late: its deadline has
	 * passed. */
	void (*cancel)(struct executor *executor, struct runner_call *call, bool is_late);

	/* Return why @call, which runs, has no result so far, as a clause for the error of its
	 * deadline, valid until it is cancelled; or NULL. */
	const char *(*note)(struct executor *executor, const struct runner_call *call);
};

struct executor {
	const struct executor_operations *operations;
};
