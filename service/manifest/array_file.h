/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "json/reader.h"
#include "manifest/diagnose.h"
#include "util/buffer.h"

/*
 * An array file (contract.md, Array files): a list of shell lines instead of a manifest, read as
 * the equivalent manifest.
 *
 *   [{"name": "lights",                 {"kind": "command", "tools": [{"name": "lights",
 *     "command": "light on",       ──▶      "command": {"shell": "light on"},
 *     "timeout": 2}]                        "timeout_ms": 2000, "cooldown_s": 30}]}
 *
 * Problems with the manifest are reported at their place in the array: array_file_pointer().
 */

/* Write to @out the manifest meant by the array at the root of @tape. Values impossible in an array
 * are added to @problems; reading the manifest finds the others. 0 or -ENOMEM. */
int array_file_translate(
	const struct json_tape *tape, struct diagnostics *problems, struct buffer *out);

/* Write to @ret, of @size bytes, the place in the array from which the place @pointer of the
 * manifest comes. */
void array_file_pointer(const char *pointer, char *ret, size_t size);
