/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "catalogue/package.h"

/* The time when each tool of a package ran last: its cooldown begins when a run ends, a failed one
 * too (contract.md, Cooldown). Zeroed before use. */
struct cooldowns {
	uint64_t *ended_ns; /* by the index of the tool; 0: never */
};

/* Make room for the tools of @package. Returns 0 or -ENOMEM. */
int cooldowns_init(struct cooldowns *cooldowns, const struct package *package);
void cooldowns_deinit(struct cooldowns *cooldowns);

/* Note the end of a run of the tool with the index @tool, which has a cooldown. */
void cooldowns_note_end(struct cooldowns *cooldowns, uint32_t tool);

/* Return the seconds until @tool, a tool with a cooldown, may run again; 0: now. */
double cooldowns_left_s(const struct cooldowns *cooldowns, const struct tool *tool);
