/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/diagnose.h"

/* Add an error about the value at @token of @tape: @expected ("must be …"), and the value. */
void diagnose_found(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *expected);
