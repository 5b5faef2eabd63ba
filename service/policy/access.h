/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "policy/caller.h"

/*
 * The access rules: which profile a caller has been given.
 *
 *   source kitchen*             ─▶ kids      the first rule that the caller matches counts;
 *   site_id guest_room          ─▶ guests    without one, the profile is `default`
 *   (nothing)                   ─▶ household
 */
struct access {
	struct config_access *rules; /* owned */
	size_t n_rules;
};

/* The profile of a caller that no rule matches. */
#define ACCESS_DEFAULT "default"

/* Make @access that of @config, of which nothing is kept. Return 0 or -ENOMEM; it is to be given
 * back in either case. */
int access_init(struct access *access, const struct config *config);

/* Free the rules. */
void access_deinit(struct access *access);

/* As access_find(), when there are rules. */
const char *access_match(const struct access *access, const struct policy_caller *caller);

/* Return the name of the profile that @caller has been given, which may not exist. NULL: it cannot
 * be found out, since a text of the caller is too long or not whole, so it has none. */
static inline const char *access_find(
	const struct access *access, const struct policy_caller *caller)
{
	return access->n_rules == 0 ? ACCESS_DEFAULT : access_match(access, caller);
}
