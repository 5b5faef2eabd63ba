/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/cooldowns.h"

#include <errno.h>
#include <stdlib.h>

#include "util/assert.h"
#include "util/clock.h"

#define S_PER_NS 1e-9

int cooldowns_init(struct cooldowns *cooldowns, const struct package *package)
{
	/* To look at the tools would take longer than the room of all of them: a reload makes the
	 * runners of a thousand toolboxes in one turn of the loop. */
	cooldowns->ended_ns = calloc(package->n_tools + 1, sizeof(*cooldowns->ended_ns));
	return cooldowns->ended_ns ? 0 : -ENOMEM;
}

void cooldowns_deinit(struct cooldowns *cooldowns)
{
	free(cooldowns->ended_ns);
	*cooldowns = (struct cooldowns){0};
}

void cooldowns_note_end(struct cooldowns *cooldowns, uint32_t tool)
{
	check(cooldowns->ended_ns);
	cooldowns->ended_ns[tool] = clock_now_ns();
}

double cooldowns_left_s(const struct cooldowns *cooldowns, const struct tool *tool)
{
	double passed_s;

	if (cooldowns->ended_ns[tool->index] == 0)
		return 0;
	passed_s = (double)(clock_now_ns() - cooldowns->ended_ns[tool->index]) * S_PER_NS;
	return passed_s < tool->cooldown_s ? tool->cooldown_s - passed_s : 0;
}
