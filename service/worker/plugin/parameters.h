/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <toolbox.h>

#include "util/buffer.h"

/* The argument schema of a tool that has parameters in place of JSON text (toolbox.h, struct
 * toolbox_parameter). */

/* The most parameters of a tool: more mean that the last entry has a name. */
#define PLUGIN_PARAMETERS_MAX 256u

enum plugin_parameters_status {
	PLUGIN_PARAMETERS_E_WRONG = 1, /* a mistake of the author's */
};

/* Append the schema for @parameters, which an entry without a name ends. Return 0;
 * PLUGIN_PARAMETERS_E_WRONG with the mistake in @why, as part of a sentence; or a negative
 * errno. */
int plugin_parameters_write(
	const struct toolbox_parameter *parameters, struct buffer *out, struct buffer *why);
