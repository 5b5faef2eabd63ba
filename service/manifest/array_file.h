/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "json/reader.h"
#include "manifest/diagnose.h"
#include "util/buffer.h"

/*
 * An array file (contract.md, Array files): a list of shell lines instead of a manifest, read as
 * the manifest that it means.
 *
 *   [{"name": "lights",                 {"kind": "command", "tools": [{"name": "lights",
 *     "command": "light on",       ──▶      "command": {"shell": "light on"},
 *     "timeout": 2}]                        "timeout_ms": 2000, "cooldown_s": 30}]}
 *
 * Problems with that manifest are reported at their place in the array: array_file_pointer().
 */

/* Write to @out the manifest that the array at the root of @tape means. Values that it cannot have
 * are added to @problems; reading the manifest finds the others. 0 or -ENOMEM. */
int array_file_translate(
	const struct json_tape *tape, struct diagnostics *problems, struct buffer *out);

/* Write to @ret, of @size bytes, the place in the array that the place @pointer of the manifest
 * comes from. */
void array_file_pointer(const char *pointer, char *ret, size_t size);
