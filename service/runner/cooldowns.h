/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "catalogue/toolbox.h"

/* When each tool of a toolbox has run last: it cools down from the end of a run, a failed one too
 * (contract.md, Cooldown). Zeroed before use. */
struct cooldowns {
	uint64_t *ended_ns; /* by the tool's index, 0: never; NULL: no tool cools down */
};

/* Make room for the tools of @toolbox. 0 or -ENOMEM. */
int cooldowns_init(struct cooldowns *cooldowns, const struct toolbox *toolbox);
void cooldowns_deinit(struct cooldowns *cooldowns);

/* A run of the tool with index @tool has ended now. */
void cooldowns_note_end(struct cooldowns *cooldowns, uint32_t tool);

/* Seconds until @tool may run again; 0: it may. */
double cooldowns_left_s(const struct cooldowns *cooldowns, const struct tool *tool);
