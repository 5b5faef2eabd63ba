/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * Comments at the top of a drop-in program that look as if they define something, and do not
 * (manifest/dropin_definition.h): `parm x integer`, `Description: Rings.`, `risk level: read`.
 */

/* Return the form that the comment, the @size bytes at @text after its mark, seems to be meant as;
 * NULL: it is just text. */
const char *dropin_hint_find(const char *text, size_t size);
