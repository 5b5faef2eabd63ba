/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"

/*
 * Advice on how the arguments of a tool of kind command reach its program.
 *
 *   "-t", "{seconds}"     an option left without its value takes the next word
 *   größe, a.b            names that no placeholder and no variable can have
 *   a-b, a_b              names of one variable
 */

/* Call @advise with the place, a JSON Pointer below the tool's entry, and a text for each of
 * them. */
void arguments_advise(const struct tool *tool,
	void (*advise)(void *data, const char *pointer, const char *text), void *data);
