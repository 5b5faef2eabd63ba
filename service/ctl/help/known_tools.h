/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctl/options.h"
#include "ctl/response.h"

/*
 * The tools that a completion knows.
 *
 *   --offline, --standalone, --file     manifests that are read here
 *   --bus, --http, their variables      that service, or nothing
 *   neither                             the service; without one, manifests that are read here
 *
 * Reading here asks no interpreter and no server: of their tools only cached lists count.
 */

/* Fill @ret_response (zeroed), and set *ret_tools to the array of definitions in it. Return false
 * when nothing is known. */
bool known_tools_list(
	const struct ctl_options *options, struct ctl_response *ret_response, uint32_t *ret_tools);

/* Fill @ret_response (zeroed), and set *ret_tool to the definition of the tool @name, TOOL or
 * TOOLBOX/TOOL, in it. Return false when the tool is not known. */
bool known_tools_get(const struct ctl_options *options, const char *name,
	struct ctl_response *ret_response, uint32_t *ret_tool);
