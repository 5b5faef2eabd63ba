/* SPDX-License-Identifier: Apache-2.0 */
#include "config/profiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* The word that means every tool. A tool of this name is `toolbox_id/all`. */
#define WORD_ALL "all"

void config_profile_deinit(struct config_profile *profile)
{
	free(profile->name);
	text_list_deinit(&profile->tool_names);
	*profile = (struct config_profile){0};
}

static int read_tool_name(
	const struct json_tape *tape, uint32_t token, struct config_profile *profile)
{
	cleanup_free char *text = json_string_dup(tape, token, NULL);
	const char *name = text ? text_trim(text) : NULL;

	if (!name)
		return -ENOMEM;
	if (strcmp(name, WORD_ALL) == 0)
		profile->has_all = true;
	else if (*name)
		return text_list_add(&profile->tool_names, name);
	return 0;
}

int config_profile_read(
	const struct json_tape *tape, uint32_t value, struct config_profile *ret_profile)
{
	cleanup(config_profile_deinit) struct config_profile profile = {0};
	uint32_t list = json_find(tape, value, "tool_names");

	if (list != JSON_NONE && json_type_at(tape, list) == JSON_ARRAY)
		json_each(name, tape, list)
			if (read_tool_name(tape, name, &profile) < 0)
				return -ENOMEM;
	*ret_profile = profile;
	profile = (struct config_profile){0};
	return 0;
}

int config_profile_read_file(const struct json_tape *tape, struct config_profile *ret_profile,
	struct config_mistake *ret_mistake)
{
	int r = config_file_check(tape, "profile", ret_mistake);

	return r == 0 ? config_profile_read(tape, 0, ret_profile) : r;
}

int config_profiles_put(struct config_profiles *profiles, struct config_profile *profile)
{
	if (array_grow(profiles->items, profiles->n_items) < 0) {
		config_profile_deinit(profile);
		return -ENOMEM;
	}
	profile->order = profiles->n_items;
	profiles->items[profiles->n_items++] = *profile;
	*profile = (struct config_profile){0};
	return 0;
}

static int compare_profiles(const void *a, const void *b)
{
	const struct config_profile *left = a;
	const struct config_profile *right = b;
	int order = strcmp(left->name, right->name);

	return order != 0 ? order : (left->order > right->order) - (left->order < right->order);
}

void config_profiles_settle(struct config_profiles *profiles)
{
	struct config_profile *items = profiles->items;
	size_t n = 0;

	if (profiles->n_items > 0)
		qsort(items, profiles->n_items, sizeof(*items), compare_profiles);
	for (size_t i = 0; i < profiles->n_items; i++) {
		if (i + 1 < profiles->n_items && strcmp(items[i].name, items[i + 1].name) == 0)
			config_profile_deinit(&items[i]);
		else
			items[n++] = items[i];
	}
	profiles->n_items = n;
}

static int compare_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct config_profile *)element)->name);
}

const struct config_profile *config_profiles_find(
	const struct config_profiles *profiles, const char *name)
{
	return profiles->n_items == 0 ? NULL
				      : bsearch(name, profiles->items, profiles->n_items,
						sizeof(*profiles->items), compare_name);
}

int config_profiles_read(
	const struct json_tape *tape, uint32_t value, struct config_profiles *profiles)
{
	if (value == JSON_NONE || json_type_at(tape, value) != JSON_OBJECT)
		return 0;
	json_each_key(key, tape, value) {
		struct config_profile profile;

		/* null withdraws the profile of a lower file. */
		if (json_type_at(tape, key + 1) != JSON_OBJECT)
			continue;
		if (config_profile_read(tape, key + 1, &profile) < 0)
			return -ENOMEM;
		profile.name = json_string_dup(tape, key, NULL);
		if (!profile.name) {
			config_profile_deinit(&profile);
			return -ENOMEM;
		}
		if (config_profiles_put(profiles, &profile) < 0)
			return -ENOMEM;
	}
	return 0;
}

void config_profiles_deinit(struct config_profiles *profiles)
{
	for (size_t i = 0; i < profiles->n_items; i++)
		config_profile_deinit(&profiles->items[i]);
	free(profiles->items);
	*profiles = (struct config_profiles){0};
}
