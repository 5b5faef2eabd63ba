/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "json/reader.h"
#include "schema/schema.h"

/*
 * Check whether arguments that satisfy a tool's schema can be passed to its function or program,
 * which JSON Schema cannot express: types of C (native_check_value), texts of placeholders
 * (command_refusal). The examples and defaults of a manifest are checked like calls.
 */

/* Positive results. */
enum marshal_status {
	MARSHAL_E_REFUSED = 1, /* violations were added */
};

/* Check the object at @object of @tape. 0, MARSHAL_E_REFUSED with a violation added to @report for
 * each member that cannot be passed ("/name", "must be …") or is missing ("", "missing …"), or
 * -ENOMEM. */
int marshal_check(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct schema_report *report);

/* Append the object at @object with the defaults of the schema, as it is passed, to @text, and read it
 * into @ret_tape, which refers to @text. 0 or -ENOMEM. */
int marshal_fill(const struct tool *tool, struct schema_context *context,
	const struct json_tape *tape, uint32_t object, struct buffer *text,
	struct json_tape *ret_tape);

/* Return whether the function cannot be called without a value for @parameter, passed or a default. */
bool marshal_needs(const struct native_parameter *parameter);
