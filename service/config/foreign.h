/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * The sections of mycroft.conf for other programs, which read them with Python's json. It takes
 * more than our reader: of a repeated key the last one counts, NaN and Infinity are numbers, and \u
 * escapes need no partner. No such mistake may make a whole file unreadable:
 *
 *   text ─▶ reader ─▶ refused there? ─▶ mended in place ─▶ reader …
 *
 * Offsets and lines stay as they are. `toolboxd` and `websocket` are not mended.
 */

/* The most mended places of one file: each costs another reading. */
#define FOREIGN_MENDS_MAX 32

/* Mend the place where the reader has refused @text with @error, if Python's json takes it and it
 * is in the section of another program. Return what is there, for a warning; NULL: it is not
 * mended. */
const char *foreign_mend(struct buffer *text, const struct json_error *error);
