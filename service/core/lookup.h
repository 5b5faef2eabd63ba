/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "core/answer.h"
#include "core/request.h"

/*
 * The tool that a request means, or the error that tells why there is none: missing_name,
 * unknown_tool (with names that are near), ambiguous_tool.
 */

/* Find it in @catalogue. @last_wins: `duplicate_names` is "last". True with *ret_tool set; else the
 * error is written to @answer. */
bool lookup_tool(const struct catalogue *catalogue, const struct request *request, bool last_wins,
	struct answer *answer, const struct tool **ret_tool);

/* Whether the profile that @request names lets anything through. Profiles are not configured in
 * this version: there is "default", which is everything; one that does not exist grants nothing. */
bool lookup_profile_grants(const struct request *request);
