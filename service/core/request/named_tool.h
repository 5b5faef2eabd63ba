/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "core/request/answer.h"
#include "core/request/request.h"
#include "offer/offer.h"

/* The tool named by a request. */

/* Find the tool named by @request in @view, its caller's view. @last_wins: `duplicate_names` is
 * "last". Returns true with *ret_tool set; else false, with the error written to @answer:
 * missing_name, unavailable (closed), unknown_tool (with similar names) or ambiguous_tool. */
bool named_tool_find(const struct offer *offer, const struct catalogue *view,
	const struct request *request, bool last_wins, struct answer *answer,
	const struct tool **ret_tool);

/* Return the tool seen now by @caller under the name of @tool, which may be of an earlier
 * catalogue; NULL: none, with the error written to @answer unless @answer is NULL. */
const struct tool *named_tool_find_again(const struct offer *offer,
	const struct policy_caller *caller, const struct tool *tool, struct answer *answer);
