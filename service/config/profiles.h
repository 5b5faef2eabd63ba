/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/layers/file_shape.h"
#include "json/reader.h"
#include "util/text/text_list.h"

/*
 * `profiles`: named sets of tools (contract.md, Profiles).
 *
 *   {"kids": {"tool_names": ["get_time", "math_tools/add", …]}, …}
 *
 *   tool_names   absent, null or []: no tool;   "all" anywhere in it: every tool
 */

struct config_profile {
	char *name;
	bool has_all;                /* every tool, whatever else it names */
	struct text_list tool_names; /* names as in a filter */
	size_t order;                /* the profiles read before it */
};

struct config_profiles {
	struct config_profile *items; /* by name, once they are settled */
	size_t n_items;
};

/* Read the object at @value of @tape, which has the shape of a profile. Return 0 with @ret_profile,
 * whose name is still NULL, or -ENOMEM. */
int config_profile_read(
	const struct json_tape *tape, uint32_t value, struct config_profile *ret_profile);

/* As config_profile_read(), of the whole of a file in @tape, whose shape is checked. Return also
 * CONFIG_FILE_E_WRONG with @ret_mistake. */
int config_profile_read_file(const struct json_tape *tape, struct config_profile *ret_profile,
	struct config_mistake *ret_mistake);

/* Put @profile, with its name, after the others. It is taken over, even when this fails. Return
 * 0 or -ENOMEM. */
int config_profiles_put(struct config_profiles *profiles, struct config_profile *profile);

/* Sort the profiles by name, when all are there; the last of equal names stays. */
void config_profiles_settle(struct config_profiles *profiles);

/* Return the profile called @name of those that are settled, or NULL. */
const struct config_profile *config_profiles_find(
	const struct config_profiles *profiles, const char *name);

/* Read the object at @value (JSON_NONE: there is none). Return 0 or -ENOMEM. */
int config_profiles_read(
	const struct json_tape *tape, uint32_t value, struct config_profiles *profiles);

/* Free the texts of @profile. */
void config_profile_deinit(struct config_profile *profile);

void config_profiles_deinit(struct config_profiles *profiles);
