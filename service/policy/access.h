/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "config/config.h"
#include "policy/caller.h"

/*
 * The access rules: which profile a caller has been given.
 *
 *   source kitchen*             ─▶ kids      the first rule matched by the caller counts;
 *   site_id guest_room          ─▶ guests    without one, the profile is `default`
 *   (nothing)                   ─▶ household
 */
struct access {
	struct config_access *rules; /* owned */
	size_t n_rules;
};

/* The profile of a caller without a matching rule. */
#define ACCESS_DEFAULT "default"

/* Make @access from @config, which is not kept. Return 0 or -ENOMEM; free @access in either
 * case. */
int access_init(struct access *access, const struct config *config);

/* Free the rules. */
void access_deinit(struct access *access);

/* As access_find(), when there are rules. */
const char *access_match(const struct access *access, const struct policy_caller *caller);

/* Return the name of the profile given to @caller; a profile of this name need not exist. NULL: a
 * text of the caller is too long or not whole, so the caller has no profile. */
static inline const char *access_find(
	const struct access *access, const struct policy_caller *caller)
{
	return access->n_rules == 0 ? ACCESS_DEFAULT : access_match(access, caller);
}
