/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Comments at the top of a drop-in program that look like definitions, and are not
 * (manifest/dropin/head.h): `parm x integer`, `Description: Rings.`, `risk level: read`,
 * `author: Ann`.
 */

/* Return the probably intended form of the comment, the @size bytes at @text after its mark; NULL
 * for plain text. @is_at_top: it comes before the first line of code. */
const char *dropin_hint_find(const char *text, size_t size, bool is_at_top);

/* Return whether the comment begins with one lower-case word and a colon, like a definition, and is
 * for no other program (`vim: set …`, `shellcheck: …`). */
bool dropin_hint_is_unknown(const char *text, size_t size);
