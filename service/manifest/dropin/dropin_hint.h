/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Comments at the top of a drop-in program that look like definitions, and are not
 * (manifest/dropin/dropin_definition.h): `parm x integer`, `Description: Rings.`, `risk level:
 * read`.
 */

/* Return the probably intended form of the comment, the @size bytes at @text after its mark; NULL
 * for plain text. */
const char *dropin_hint_find(const char *text, size_t size);
