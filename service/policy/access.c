/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copy @text, which may be NULL, to *@ret. Return false without memory. */
static bool copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

int access_init(struct access *access, const struct config *config)
{
	*access = (struct access){.rules = calloc(config->n_access + 1, sizeof(*access->rules))};
	if (!access->rules)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_access; i++) {
		const struct config_access *from = &config->access[i];
		struct config_access *to = &access->rules[access->n_rules++];

		if (!copy_text(from->match.source, &to->match.source) ||
			!copy_text(from->match.session_id, &to->match.session_id) ||
			!copy_text(from->match.site_id, &to->match.site_id) ||
			!copy_text(from->profile, &to->profile))
			return -ENOMEM;
	}
	return 0;
}

void access_deinit(struct access *access)
{
	config_access_free(access->rules, access->n_rules);
	*access = (struct access){0};
}

const char *access_match(const struct access *access, const struct policy_caller *caller)
{
	if (!policy_caller_is_clear(caller))
		return NULL;
	for (size_t i = 0; i < access->n_rules; i++)
		if (policy_caller_matches(caller, &access->rules[i].match))
			return access->rules[i].profile;
	return ACCESS_DEFAULT;
}
