/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/response.h"
#include "ctl/session.h"

/* The names by which a command line means tools (policy/names.h), and their present meaning. */

/* Complain unless @name can be one. Return 0 or CTL_USAGE. */
int tool_names_check(const char *name);

/* Ask for the list of tools, of the profile @profile or, for NULL, of all. Return 0 or an enum
 * ctl_status after a complaint. */
int tool_names_list(
	struct ctl_session *session, const char *profile, struct ctl_response *ret_response);

/* Ask for the status, with the tools that are not offered. Return likewise. */
int tool_names_ask_status(struct ctl_session *session, struct ctl_response *ret_response);

/* Return whether @name means the tool of the entry at @entry, an object with `toolbox_id` and
 * `name`. The entry of a toolbox that is left out has no `name`: then return whether @name names
 * this toolbox, and may mean a tool. */
bool tool_names_mean(const struct ctl_response *response, uint32_t entry, const char *name);

/* Return whether @name means a tool of the list in the member @list of @response. */
bool tool_names_mean_any(const struct ctl_response *response, const char *list, const char *name);

/* Complain about each of the @n_names that means no tool, offered or not. With @is_enabled also
 * about each tool meant by a name, but not offered for another reason. Return 0, or an enum
 * ctl_status when the service does not answer. */
int tool_names_complain(
	struct ctl_session *session, const char *const *names, size_t n_names, bool is_enabled);
