/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/reader.h"

/*
 * `profiles`: named sets of tools (contract.md, Profiles).
 *
 *   {"kids": {"tool_names": ["get_time", "math_tools/add", …]}, …}
 *
 *   tool_names   absent, null or []: no tool;   "all" anywhere in it: every tool
 *
 * Any other shape closes the configuration.
 */

/* A mistake in a profile: its token, and the text about it. */
struct config_profile_mistake {
	uint32_t token;
	const char *text;
};

/* A positive result. */
enum config_profile_status {
	CONFIG_PROFILE_E_WRONG = 1,
};

/* Read the value of a profile at @value of @tape: one of `profiles`, or the whole of a profile's
 * file. Return 0 with @ret_profile, whose name is still NULL; CONFIG_PROFILE_E_WRONG with
 * @ret_mistake; or -ENOMEM. */
int config_profile_read(const struct json_tape *tape, uint32_t value,
	struct config_profile *ret_profile, struct config_profile_mistake *ret_mistake);

/* Append @profile, with its name, to the profiles of @config. It is taken over, even when this
 * fails. Return 0 or -ENOMEM. */
int config_profiles_put(struct config *config, struct config_profile *profile);

/* Sort the profiles by name, when all are there; of a repeated name the last profile stays. */
void config_profiles_settle(struct config *config);

/* Return the profile called @name of @config, whose profiles are settled; or NULL. */
const struct config_profile *config_profile_find(const struct config *config, const char *name);

/* Read the object at @value (JSON_NONE: there is none) into reader->config. */
void config_profiles_read(struct config_reader *reader, uint32_t value);

/* Free the texts of @profile. */
void config_profile_deinit(struct config_profile *profile);

/* Free the profiles of @config. */
void config_profiles_deinit(struct config *config);
