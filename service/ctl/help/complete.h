/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "ctl/command.h"

/*
 * Completion of a command line, for the scripts of the shells (completions/):
 *
 *   toolboxctl complete -- invoke math_to      math_tools/add, math_tools/factorial, …
 *   toolboxctl complete -- invoke add a=3 ''   b=
 *   toolboxctl complete -- invoke lamp to=     to=on, to=off
 *
 * The words come from the line up to the cursor; the last word is completed. Tools and toolboxes
 * come from the service, if it answers at once, or from manifests (known_tools.h). Nothing is ever
 * complained about, and no more than COMPLETE_MS pass.
 */
#define COMPLETE_MS 300

/* Print the words for the line in @options, one per line, for the @n_commands @commands. Return
 * CTL_DONE. */
int help_complete(
	const struct ctl_command *commands, size_t n_commands, const struct ctl_options *options);
