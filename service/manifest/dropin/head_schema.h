/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The schema of an object, written by the lines of a drop-in program, one for each of its members:
 *
 *   times integer? = 2 How often       ─▶  "times": {"type": "integer", "default": 2,
 *                                                    "description": "How often"}
 */

/* Zeroed before use. */
struct dropin_schema {
	struct buffer properties;
	struct buffer required;
};

/* Add the member that @line describes: `NAME TYPE[?] [= DEFAULT] TEXT`; the default only if
 * @may_default. Return 0; DROPIN_E_REFUSED with what was expected in @why; or a negative errno. */
int dropin_schema_add(
	struct dropin_schema *schema, struct text_view line, bool may_default, struct buffer *why);

/* Append the schema, JSON text. @is_closed: there are no other members. */
void dropin_schema_write(const struct dropin_schema *schema, bool is_closed, struct buffer *out);

/* Return 0, or the negative errno of the first failure to grow. */
int dropin_schema_status(const struct dropin_schema *schema);

void dropin_schema_deinit(struct dropin_schema *schema);
