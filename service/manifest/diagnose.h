/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/tape.h"
#include "util/diagnostic.h"

/* Diagnostics about a place in a manifest, which is given by its token or its JSON Pointer. All are
 * added to @problems. */

/* Add one about the value at @token of @tape. */
void diagnose(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Add an error about the value at @token: @expected ("must be …"), and the value. */
void diagnose_found(struct diagnostics *problems, const struct json_tape *tape, uint32_t token,
	const char *expected);

/* Add one about the place @pointer, which need not exist. Its line is that of the nearest value in
 * @tape. */
void diagnose_at(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, const char *pointer, const char *text);
