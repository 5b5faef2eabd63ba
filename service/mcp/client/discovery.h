/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The responses of a server to server/discover and initialize, as far as the client decides by
 * them. @result: its object `result`, or JSON_NONE.
 */

/* Return whether the server supports the modern revision. */
bool mcp_discovery_has_modern(const struct json_tape *tape, uint32_t result);

/* Return whether the server notifies of changes of its list of tools. */
bool mcp_discovery_has_changes(const struct json_tape *tape, uint32_t result);

/* Return whether the server has resources. */
bool mcp_discovery_has_resources(const struct json_tape *tape, uint32_t result);

/* Return the code of the error in the response; 0 without an error. */
int64_t mcp_discovery_error_code(const struct json_tape *tape);

/* Return whether the response is an error by which a server names the modern revision as
 * supported. */
bool mcp_discovery_names_modern(const struct json_tape *tape);

/* Append `SUBJECT: MESSAGE`, with the message of the error at the root, if it has one. @out records
 * -ENOMEM. */
void mcp_discovery_write_error(
	const struct json_tape *tape, const char *subject, struct buffer *out);
