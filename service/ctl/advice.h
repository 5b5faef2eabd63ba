/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"

/* Warnings of `toolboxctl check` about a toolbox that can be loaded, and could be better. A daemon
 * has no reader for them. */

/* Take one warning: @pointer and @line in @file (0: unknown), and one line of @text that names the
 * fact, its effect and the remedy. */
typedef void (*advice_function)(
	void *data, const char *file, unsigned int line, const char *pointer, const char *text);

/* Call @advise for every warning about @toolbox. Return 0 or -ENOMEM. */
int advice_give(const struct toolbox *toolbox, advice_function advise, void *data);
