/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "policy/approval.h"
#include "policy/filter.h"
#include "util/text_list.h"

#define PROFILE_DEFAULT "default"

struct policy {
	const struct catalogue *catalogue;
	struct catalogue *nothing; /* the view of a caller that may use no tool */
	enum approval_mode mode;
	struct text_list allowed; /* names of tools that run without approval */
};

static int copy_texts(const struct text_list *from, struct text_list *to)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n_items; i++)
		r = text_list_add(to, from->items[i]);
	return r;
}

struct policy *policy_new(const struct config *config, const struct catalogue *catalogue)
{
	cleanup(policy_cleanup) struct policy *policy = calloc(1, sizeof(*policy));

	if (!policy || copy_texts(&config->approval_allow, &policy->allowed) < 0)
		return NULL;
	policy->nothing = catalogue_new(NULL, 0, NULL, NULL, catalogue_generation(catalogue));
	if (!policy->nothing)
		return NULL;
	policy->catalogue = catalogue;
	policy->mode = config->approval_mode;
	return take_ptr(policy);
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	text_list_deinit(&policy->allowed);
	catalogue_free(policy->nothing);
	free(policy);
}

const struct catalogue *policy_view(struct policy *policy, const struct policy_caller *caller)
{
	const struct text_view *profile = &caller->profile;
	bool is_default = !profile->text ||
			  (profile->size == strlen(PROFILE_DEFAULT) &&
				  memcmp(profile->text, PROFILE_DEFAULT, profile->size) == 0);

	return is_default ? policy->catalogue : policy->nothing;
}

static struct policy_decision decide_approval(const struct policy *policy, const struct tool *tool)
{
	if (!approval_is_needed(policy->mode, tool->risk))
		return (struct policy_decision){POLICY_RUN, "its risk needs no approval"};
	if (filter_names((const char *const *)policy->allowed.items, policy->allowed.n_items,
		    tool->toolbox->id, tool->name))
		return (struct policy_decision){POLICY_RUN, "approval.allow lists it"};
	return (struct policy_decision){POLICY_ASK, "its risk needs approval"};
}

struct policy_decision policy_decide(
	struct policy *policy, const struct policy_caller *caller, const struct tool *tool)
{
	if (!catalogue_has(policy_view(policy, caller), tool))
		return (struct policy_decision){POLICY_HIDDEN, "the caller's profile lacks it"};
	return decide_approval(policy, tool);
}
