/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/diagnostic.h"

/* Diagnostics about a place in a JSON text, given by its token or its JSON Pointer. All are added
 * to @problems. */

/* Add one about the value at @token of @tape. */
void diagnose(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void diagnose_with(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, va_list arguments)
	__attribute__((format(printf, 5, 0)));

/* Add one about the place @pointer, which need not exist. Its line is the line of the nearest value
 * in @tape. */
void diagnose_at(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, const char *pointer, const char *text);
