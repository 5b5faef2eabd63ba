/* SPDX-License-Identifier: Apache-2.0 */
#include "config/profiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
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

static int refuse_profile(struct config_profile_mistake *mistake, uint32_t token, const char *text)
{
	*mistake = (struct config_profile_mistake){token, text};
	return CONFIG_PROFILE_E_WRONG;
}

static int read_tool_name(const struct json_tape *tape, uint32_t token,
	struct config_profile *profile, struct config_profile_mistake *mistake)
{
	cleanup_free char *text = NULL;
	const char *name;
	size_t size;

	if (json_type_at(tape, token) != JSON_STRING)
		return refuse_profile(mistake, token, "must be the name of a tool");
	text = json_string_dup(tape, token, &size);
	if (!text)
		return -ENOMEM;
	if (strlen(text) != size)
		return refuse_profile(mistake, token, "must not contain the character U+0000");
	name = text_trim(text);
	if (strcmp(name, WORD_ALL) == 0)
		profile->has_all = true;
	else if (*name)
		return text_list_add(&profile->tool_names, name);
	return 0;
}

static int read_tool_names(const struct json_tape *tape, uint32_t list,
	struct config_profile *profile, struct config_profile_mistake *mistake)
{
	int r = 0;

	if (json_type_at(tape, list) == JSON_NULL)
		return 0;
	if (json_type_at(tape, list) != JSON_ARRAY)
		return refuse_profile(mistake, list, "must be a list of names of tools, or null");
	for (uint32_t at = json_first(tape, list); r == 0 && at < json_end(tape, list);
		at = json_next(tape, at))
		r = read_tool_name(tape, at, profile, mistake);
	return r;
}

int config_profile_read(const struct json_tape *tape, uint32_t value,
	struct config_profile *ret_profile, struct config_profile_mistake *ret_mistake)
{
	cleanup(config_profile_deinit) struct config_profile profile = {0};
	int r = 0;

	if (json_type_at(tape, value) != JSON_OBJECT)
		return refuse_profile(ret_mistake, value, "must be an object with \"tool_names\"");
	for (uint32_t key = json_first(tape, value); r == 0 && key < json_end(tape, value);
		key = json_next_key(tape, key)) {
		if (!json_string_equals(tape, key, "tool_names", 10))
			r = refuse_profile(ret_mistake, key,
				"is an unknown key; a profile has \"tool_names\"");
		else
			r = read_tool_names(tape, key + 1, &profile, ret_mistake);
	}
	if (r != 0)
		return r;
	*ret_profile = profile;
	profile = (struct config_profile){0};
	return 0;
}

int config_profiles_put(struct config *config, struct config_profile *profile)
{
	if (array_grow(config->profiles, config->n_profiles) < 0) {
		config_profile_deinit(profile);
		return -ENOMEM;
	}
	profile->order = config->n_profiles;
	config->profiles[config->n_profiles++] = *profile;
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

void config_profiles_settle(struct config *config)
{
	size_t n = 0;

	if (config->n_profiles > 0)
		qsort(config->profiles, config->n_profiles, sizeof(*config->profiles),
			compare_profiles);
	for (size_t i = 0; i < config->n_profiles; i++) {
		struct config_profile *profile = &config->profiles[i];

		if (i + 1 < config->n_profiles && strcmp(profile->name, profile[1].name) == 0)
			config_profile_deinit(profile);
		else
			config->profiles[n++] = *profile;
	}
	config->n_profiles = n;
}

static int compare_name(const void *key, const void *element)
{
	return strcmp(key, ((const struct config_profile *)element)->name);
}

const struct config_profile *config_profile_find(const struct config *config, const char *name)
{
	return config->n_profiles == 0 ? NULL
				       : bsearch(name, config->profiles, config->n_profiles,
						 sizeof(*config->profiles), compare_name);
}

/* Read the profile whose name is the key at @key. */
static void take_profile(struct config_reader *reader, uint32_t key)
{
	struct config_profile profile;
	struct config_profile_mistake mistake = {0};
	int r;

	/* null withdraws the profile of a lower file. */
	if (json_type_at(&reader->tape, key + 1) == JSON_NULL)
		return;
	r = config_profile_read(&reader->tape, key + 1, &profile, &mistake);
	if (r == CONFIG_PROFILE_E_WRONG)
		config_reader_close(reader, mistake.token, "%s", mistake.text);
	else if (r < 0)
		reader->error = r;
	if (r != 0)
		return;
	profile.name = config_reader_text_or_closes(reader, key);
	if (!profile.name)
		config_profile_deinit(&profile);
	else if (config_profiles_put(reader->config, &profile) < 0)
		reader->error = -ENOMEM;
}

void config_profiles_read(struct config_reader *reader, uint32_t value)
{
	const struct json_tape *tape = &reader->tape;

	if (!config_reader_is_object_or_closes(reader, value))
		return;
	json_each_key(key, tape, value)
		take_profile(reader, key);
}

void config_profiles_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_profiles; i++)
		config_profile_deinit(&config->profiles[i]);
	free(config->profiles);
}
