/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/filter.h"

#include <string.h>

bool filter_pattern_matches(const char *pattern, const char *toolbox_id, const char *name)
{
	const char *slash = strchr(pattern, '/');
	size_t id_size = strlen(toolbox_id);

	if (!slash)
		return strcmp(pattern, name) == 0;
	if ((size_t)(slash - pattern) != id_size || memcmp(pattern, toolbox_id, id_size) != 0)
		return false;
	return strcmp(slash + 1, "*") == 0 || strcmp(slash + 1, name) == 0;
}

bool filter_names(
	const char *const *names, size_t n_names, const char *toolbox_id, const char *name)
{
	for (size_t i = 0; i < n_names; i++)
		if (filter_pattern_matches(names[i], toolbox_id, name))
			return true;
	return false;
}

bool filter_offers(const struct filter *filter, const char *toolbox_id, const char *name)
{
	if (filter->n_enabled > 0)
		return filter_names(filter->enabled, filter->n_enabled, toolbox_id, name);
	return !filter_names(filter->disabled, filter->n_disabled, toolbox_id, name);
}
