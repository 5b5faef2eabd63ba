/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/names.h"
#include "util/cleanup.h"

int profile_init(struct profile *profile, const struct config_profile *config,
	const struct catalogue *catalogue)
{
	*profile = (struct profile){.name = strdup(config->name), .has_all = config->has_all};
	if (!profile->name)
		return -ENOMEM;
	if (profile->has_all)
		return 0;
	if (catalogue_set_init(&profile->set, catalogue) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < config->tool_names.n_items; i++)
		name_select(config->tool_names.items[i], catalogue, &profile->set);
	profile->view = catalogue_narrow(catalogue, &profile->set);
	return profile->view ? 0 : -ENOMEM;
}

void profile_deinit(struct profile *profile)
{
	free(profile->name);
	catalogue_set_deinit(&profile->set);
	catalogue_free(profile->view);
	*profile = (struct profile){0};
}

struct catalogue *profile_intersect(
	const struct profile *const *profiles, size_t n, const struct catalogue *catalogue)
{
	cleanup(catalogue_set_deinit) struct catalogue_set common = {0};

	if (catalogue_set_init(&common, catalogue) < 0)
		return NULL;
	for (size_t i = 0; i < common.n_words; i++) {
		common.words[i] = profiles[0]->set.words[i];
		for (size_t k = 1; k < n; k++)
			common.words[i] &= profiles[k]->set.words[i];
	}
	return catalogue_narrow(catalogue, &common);
}
