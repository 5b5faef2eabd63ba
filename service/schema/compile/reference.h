/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "schema/compile/library.h"

/* Find the target of the reference, the string at @token of @source, from within @resource (an
 * index). A registered or built-in document is added to @library. @ret_anchor (may be NULL) gets
 * the index of the anchor in the reference, or MAP_NONE. 0, SCHEMA_E_REFUSED with the error filled,
 * or -ENOMEM. */
int reference_resolve(struct library *library, uint32_t resource, const struct source *source,
	uint32_t token, struct place *ret_place, uint32_t *ret_anchor);
