/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * An entry of a tool whose schema has a mistake, from an author who cannot be asked:
 *
 *   "exclusiveMinimum": true       a wrong keyword is left out
 *   "properties": {"a": "string"}  a value other than a schema becomes {}, which takes everything
 */

/* Positive result of manifest_mend(). */
#define MANIFEST_E_UNMENDABLE 1 /* the mistake is not in a schema of the tool */

/* Append the object @entry without the mistake at @pointer, a JSON Pointer in it, to @out. @pointer
 * is cut to the member left out. Return 0, MANIFEST_E_UNMENDABLE, or -ENOMEM. */
int manifest_mend(struct text_view entry, char *pointer, struct buffer *out);
