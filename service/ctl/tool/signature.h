/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctl/options.h"
#include "ctl/response.h"
#include "ctl/session.h"
#include "json/reader.h"
#include "schema/schema.h"
#include "util/buffer.h"

/* The words of a tool's definition in a response, on one line each. */

/* Return the compiled schema in the member @key of the definition at @definition; NULL without a
 * usable schema or memory. */
struct schema *tool_schema_compile(
	const struct json_tape *tape, uint32_t definition, const char *key);

/* Append `add(a: integer, b: integer) → result: integer` (schema/words/signature.h). */
void tool_signature_append(const struct json_tape *tape, uint32_t definition, struct buffer *out);

/* Append a command for copying that calls the tool: `toolboxctl invoke math_tools/add a=3 b=4`,
 * with the arguments of the definition's first example, or with arguments made from its schema.
 * Return false for made arguments that do not satisfy the schema. */
bool tool_command_append(const struct json_tape *tape, uint32_t definition, struct buffer *out);

/* When @response refuses the arguments of the tool on the command line, complain once more with its
 * signature. */
void tool_signature_complain(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *response);

/* Complain about the error in @response to a request about the tool named by @options; where
 * several toolboxes have it, with the names to type, and where nothing near is known, with the
 * command for a list of all. */
void tool_error_complain(const struct ctl_response *response, const struct ctl_options *options);
