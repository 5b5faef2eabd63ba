/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/header/compiler.h"
#include "json/reader.h"
#include "util/buffer.h"
#include "util/diagnostic.h"

/*
 * toolboxctl check --header: hold the functions, structs and enums of a native manifest against the
 * headers of its library, as the C compiler reads them.
 *
 *   manifest ──▶ a value and its type ─┐
 *                                      ├─▶ ctl/header/hold ──▶ questions ──▶ cc ──▶ findings
 *   headers ──▶ the declaration ───────┘
 *
 * A manifest whose steps name what they do not have was refused before; here it is skipped.
 */

/* Report every mismatch of the manifest @tape in @file to @sink. Return 0; an enum compiler_status
 * with a text for a person in @messages; or a negative errno. */
int against_header(const char *file, const struct json_tape *tape, const struct compiler *compiler,
	const struct diagnostic_sink *sink, struct buffer *messages);
