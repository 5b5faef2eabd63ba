/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/access.h"
#include "policy/approval.h"
#include "policy/names.h"
#include "policy/profile.h"

/*
 *   caller ──access rules──▶ profile that it was given ──┐
 *      │                                                 ├──▶ both have all: the catalogue itself
 *      └──request──────────▶ profile that it asks for  ──┘    one has all: the view of the other
 *                                                             else: what both have
 *
 * A name that no profile has grants nothing, wherever it comes from. Only `default` means
 * everything when it is not defined.
 */

/* The views of pairs of profiles that are kept: a request that asks for a profile takes one. */
#define PAIRS_MAX 16

/* The view of what two profiles have in common. */
struct pair {
	const struct profile *given; /* NULL: free */
	const struct profile *asked;
	struct catalogue *view;
	uint64_t used; /* the number of its last use */
};

struct policy {
	const struct catalogue *catalogue;
	struct catalogue *nothing; /* the view of a caller that may use no tool */
	struct profile *profiles;  /* by name, `default` among them */
	size_t n_profiles;
	struct access access;
	enum approval_mode mode;
	struct catalogue_set allowed; /* the tools that run without approval */
	struct pair pairs[PAIRS_MAX];
	uint64_t n_uses;
};

static int compare_profiles(const void *a, const void *b)
{
	return strcmp(((const struct profile *)a)->name, ((const struct profile *)b)->name);
}

/* Add the profile that @config describes. Return 0 or -ENOMEM. */
static int add_profile(struct policy *policy, const struct config_profile *config)
{
	return profile_init(&policy->profiles[policy->n_profiles++], config, policy->catalogue);
}

static int make_profiles(struct policy *policy, const struct config *config)
{
	static char name[] = ACCESS_DEFAULT;
	static const struct config_profile standard = {.name = name, .has_all = true};
	bool has_default = false;
	int r = 0;

	policy->profiles = calloc(config->n_profiles + 1, sizeof(*policy->profiles));
	if (!policy->profiles)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < config->n_profiles; i++) {
		has_default = has_default || strcmp(config->profiles[i].name, name) == 0;
		r = add_profile(policy, &config->profiles[i]);
	}
	if (r == 0 && !has_default)
		r = add_profile(policy, &standard);
	if (r == 0)
		qsort(policy->profiles, policy->n_profiles, sizeof(*policy->profiles),
			compare_profiles);
	return r;
}

static int make_allowed(struct policy *policy, const struct config *config)
{
	if (catalogue_set_init(&policy->allowed, policy->catalogue) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < config->approval_allow.n_items; i++)
		name_select(config->approval_allow.items[i], policy->catalogue, &policy->allowed);
	return 0;
}

struct policy *policy_new(const struct config *config, const struct catalogue *catalogue)
{
	cleanup(policy_cleanup) struct policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return NULL;
	policy->catalogue = catalogue;
	policy->mode = config->approval_mode;
	policy->nothing = catalogue_new(NULL, 0, NULL, NULL, catalogue_generation(catalogue));
	if (!policy->nothing || make_profiles(policy, config) < 0 ||
		access_init(&policy->access, config) < 0 || make_allowed(policy, config) < 0)
		return NULL;
	return take_ptr(policy);
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < PAIRS_MAX; i++)
		catalogue_free(policy->pairs[i].view);
	for (size_t i = 0; i < policy->n_profiles; i++)
		profile_deinit(&policy->profiles[i]);
	free(policy->profiles);
	access_deinit(&policy->access);
	catalogue_set_deinit(&policy->allowed);
	catalogue_free(policy->nothing);
	free(policy);
}

/* ── what a caller sees ──────────────────────────────────────────────────────────────────────── */

/* As strcmp, for the name of @profile and one with a length, which may hold U+0000. */
static int compare_name(const void *key, const void *profile)
{
	const struct text_view *wanted = key;
	const char *name = ((const struct profile *)profile)->name;
	size_t size = strlen(name);
	int order = memcmp(wanted->text, name, wanted->size < size ? wanted->size : size);

	return order != 0 ? order : (wanted->size > size) - (wanted->size < size);
}

/* Return the profile called @name; NULL: there is none. */
static const struct profile *find_profile(const struct policy *policy, struct text_view name)
{
	return bsearch(&name, policy->profiles, policy->n_profiles, sizeof(*policy->profiles),
		compare_name);
}

/* Return the place of the view that both profiles have: the one with it, or that of the one used
 * least lately, emptied. */
static struct pair *find_pair(
	struct policy *policy, const struct profile *given, const struct profile *asked)
{
	struct pair *oldest = &policy->pairs[0];

	for (size_t i = 0; i < PAIRS_MAX; i++) {
		struct pair *pair = &policy->pairs[i];

		if (pair->given == given && pair->asked == asked)
			return pair;
		if (pair->used < oldest->used)
			oldest = pair;
	}
	catalogue_free(oldest->view);
	*oldest = (struct pair){0};
	return oldest;
}

/* Return the catalogue of the tools that both have. Without memory it is empty. */
static const struct catalogue *view_both(
	struct policy *policy, const struct profile *given, const struct profile *asked)
{
	struct pair *pair;

	if (given->has_all && asked->has_all)
		return policy->catalogue;
	if (given->has_all || given == asked)
		return asked->view;
	if (asked->has_all)
		return given->view;
	pair = find_pair(policy, given, asked);
	if (!pair->view)
		*pair = (struct pair){
			.given = given,
			.asked = asked,
			.view = profile_intersect(given, asked, policy->catalogue),
		};
	pair->used = ++policy->n_uses;
	return pair->view ? pair->view : policy->nothing;
}

const struct catalogue *policy_view(struct policy *policy, const struct policy_caller *caller)
{
	const char *name = access_find(&policy->access, caller);
	const struct profile *given =
		name ? find_profile(policy, (struct text_view){name, strlen(name)}) : NULL;
	const struct profile *asked =
		caller->profile.text ? find_profile(policy, caller->profile) : given;

	return given && asked ? view_both(policy, given, asked) : policy->nothing;
}

const char *policy_profile(const struct policy *policy, const struct policy_caller *caller)
{
	return access_find(&policy->access, caller);
}

/* ── one call ────────────────────────────────────────────────────────────────────────────────── */

static struct policy_decision decide_approval(const struct policy *policy, const struct tool *tool)
{
	if (!approval_is_needed(policy->mode, tool->risk))
		return (struct policy_decision){POLICY_RUN, "its risk needs no approval"};
	if (catalogue_set_has(&policy->allowed, catalogue_index(policy->catalogue, tool)))
		return (struct policy_decision){POLICY_RUN, "approval.allow lists it"};
	return (struct policy_decision){POLICY_ASK, "its risk needs approval"};
}

struct policy_decision policy_decide(
	struct policy *policy, const struct policy_caller *caller, const struct tool *tool)
{
	const struct catalogue *view = caller->view ? caller->view : policy_view(policy, caller);

	if (catalogue_index(view, tool) == CATALOGUE_NONE)
		return (struct policy_decision){POLICY_HIDDEN, "the caller's profile lacks it"};
	return decide_approval(policy, tool);
}
