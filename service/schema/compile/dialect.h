/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schema/compile/keyword.h"
#include "schema/compile/library.h"

/*
 * Which language a schema is written in.
 *
 *   $schema ──▶ one of the two drafts ──▶ every vocabulary but format-assertion
 *           └─▶ a registered metaschema ──▶ the draft by its own $schema, the vocabularies by its
 *                                           $vocabulary (core section 8.1.2)
 *
 * Everything else is refused by name.
 */

/* The dialect named by the string at @token of @source, a `$schema`. 0, SCHEMA_E_REFUSED with the
 * error filled, or -ENOMEM. */
int dialect_find(struct library *library, const struct source *source, uint32_t token,
	struct dialect *ret_dialect);
