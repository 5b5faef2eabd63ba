/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "core/answer.h"
#include "core/request.h"

/*
 * Find the tool that a request names, or write the error: missing_name, unknown_tool (with similar
 * names), ambiguous_tool.
 */

/* Find the tool in @catalogue. @last_wins: `duplicate_names` is "last". Returns true with *ret_tool
 * set; else false, with the error written to @answer. */
bool lookup_tool(const struct catalogue *catalogue, const struct request *request, bool last_wins,
	struct answer *answer, const struct tool **ret_tool);

/* Return whether the profile that @request names grants any tool. This version has one profile,
 * "default", which grants every tool; an unknown one grants none. */
bool lookup_profile_grants(const struct request *request);
