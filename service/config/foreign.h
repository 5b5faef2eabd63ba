/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * The sections of mycroft.conf that belong to other programs, which read them with Python's json.
 * That takes more than our reader: of a key that occurs twice the last one counts, NaN and Infinity
 * are numbers, and \u escapes need no partner. None of it may make a whole file unreadable:
 *
 *   text ─▶ reader ─▶ refused there? ─▶ mended in place ─▶ reader …
 *
 * Offsets and lines stay as they are. `toolboxd` and `websocket` are not mended.
 */

/* The most places of one file that are mended: each costs another reading. */
#define FOREIGN_MENDS_MAX 32

/* Mend the place where the reader has refused @text with @error, if Python's json takes it and it
 * is in the section of another program. Return what is there, for a warning; NULL: it is not
 * mended. */
const char *foreign_mend(struct buffer *text, const struct json_error *error);
