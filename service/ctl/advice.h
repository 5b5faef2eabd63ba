/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"

/* What a toolbox that can be loaded could do better, for `toolboxctl check`: warnings that a daemon
 * has nobody to tell to. */

/* A piece of advice: @pointer and @line of @toolbox's file (0: unknown), and a line of text that
 * says what is so, what comes of it, and what to do. */
typedef void (*advice_function)(
	void *data, const char *file, unsigned int line, const char *pointer, const char *text);

/* Tell all of it. 0 or -ENOMEM. */
int advice_give(const struct toolbox *toolbox, advice_function advise, void *data);
