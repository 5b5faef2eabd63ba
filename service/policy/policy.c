/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/access.h"
#include "policy/approval.h"
#include "policy/names.h"
#include "policy/profile.h"
#include "util/text/text.h"

/*
 *   caller ──access rules──▶ profile given to it      ──┐
 *      ├──door─────────────▶ profile of its token      ──┼──▶ all have all: the catalogue itself
 *      └──request──────────▶ profile asked for by it  ──┘    one has less: its view
 *                                                             else: their common tools
 *
 * A name without a profile grants nothing, wherever it comes from. Only `default` means everything
 * when undefined.
 */

/* The most profiles narrowing the view of one caller. */
#define NARROWING_MAX 3

/* The kept views of several profiles: a request with a profile takes one view. */
#define COMMON_MAX 16

/* Profiles without all tools, each once. */
struct narrowing {
	const struct profile *profiles[NARROWING_MAX];
	size_t n;
};

/* The view of the tools common to several profiles. */
struct common {
	struct narrowing of; /* n is 0: free */
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
	struct common common[COMMON_MAX];
	uint64_t n_uses;
};

/* Add the profile described by @config. Return 0 or -ENOMEM. */
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

	policy->profiles = calloc(config->profiles.n_items + 1, sizeof(*policy->profiles));
	if (!policy->profiles)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < config->profiles.n_items; i++) {
		has_default = has_default || strcmp(config->profiles.items[i].name, name) == 0;
		r = add_profile(policy, &config->profiles.items[i]);
	}
	if (r == 0 && !has_default)
		r = add_profile(policy, &standard);
	if (r == 0)
		qsort(policy->profiles, policy->n_profiles, sizeof(*policy->profiles),
			text_compare);
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
	for (size_t i = 0; i < COMMON_MAX; i++)
		catalogue_free(policy->common[i].view);
	for (size_t i = 0; i < policy->n_profiles; i++)
		profile_deinit(&policy->profiles[i]);
	free(policy->profiles);
	access_deinit(&policy->access);
	catalogue_set_deinit(&policy->allowed);
	catalogue_free(policy->nothing);
	free(policy);
}

/* ── what a caller sees ──────────────────────────────────────────────────────────────────────── */

/* As strcmp, for the name of @profile and a name with a length, perhaps with U+0000. */
static int compare_name(const void *key, const void *profile)
{
	const struct text_view *wanted = key;
	const char *name = ((const struct profile *)profile)->name;
	size_t size = strlen(name);
	int order = memcmp(wanted->text, name, wanted->size < size ? wanted->size : size);

	return order != 0 ? order : (wanted->size > size) - (wanted->size < size);
}

static bool is_same(const struct narrowing *a, const struct narrowing *b)
{
	return a->n == b->n && memcmp(a->profiles, b->profiles, a->n * sizeof(*a->profiles)) == 0;
}

/* Return the place of the view left by @narrowing: its present place, or the emptied place of the
 * view used least lately. */
static struct common *find_common(struct policy *policy, const struct narrowing *narrowing)
{
	struct common *oldest = &policy->common[0];

	for (size_t i = 0; i < COMMON_MAX; i++) {
		struct common *common = &policy->common[i];

		if (is_same(&common->of, narrowing))
			return common;
		if (common->used < oldest->used)
			oldest = common;
	}
	catalogue_free(oldest->view);
	*oldest = (struct common){0};
	return oldest;
}

/* Return the catalogue of the tools left by @narrowing. Without memory it is empty. */
static const struct catalogue *view_common(struct policy *policy, const struct narrowing *narrowing)
{
	struct common *common;

	if (narrowing->n == 0)
		return policy->catalogue;
	if (narrowing->n == 1)
		return narrowing->profiles[0]->view;
	common = find_common(policy, narrowing);
	if (!common->view)
		*common = (struct common){
			.of = *narrowing,
			.view = profile_intersect(
				narrowing->profiles, narrowing->n, policy->catalogue),
		};
	common->used = ++policy->n_uses;
	return common->view ? common->view : policy->nothing;
}

/* Narrow by the profile called @name. Return false without such a profile. */
static bool narrow_by(
	const struct policy *policy, struct text_view name, struct narrowing *narrowing)
{
	const struct profile *profile = bsearch(&name, policy->profiles, policy->n_profiles,
		sizeof(*policy->profiles), compare_name);

	if (!profile)
		return false;
	for (size_t i = 0; i < narrowing->n; i++)
		if (narrowing->profiles[i] == profile)
			return true;
	if (!profile->has_all)
		narrowing->profiles[narrowing->n++] = profile;
	return true;
}

/* Find the profiles narrowing the view of @caller. Return false when the caller sees nothing: one
 * of its profiles is not known. */
static bool find_narrowing(const struct policy *policy, const struct policy_caller *caller,
	struct narrowing *ret_narrowing)
{
	const char *given = access_find(&policy->access, caller);
	bool is_known = given && narrow_by(policy, TEXT_VIEW(given), ret_narrowing);

	if (caller->granted)
		is_known = is_known && narrow_by(policy, TEXT_VIEW(caller->granted), ret_narrowing);
	if (caller->profile.text)
		is_known = is_known && narrow_by(policy, caller->profile, ret_narrowing);
	return is_known;
}

const struct catalogue *policy_view(struct policy *policy, const struct policy_caller *caller)
{
	struct narrowing narrowing = {0};

	return find_narrowing(policy, caller, &narrowing) ? view_common(policy, &narrowing)
							  : policy->nothing;
}

void policy_write_profile(
	const struct policy *policy, const struct policy_caller *caller, struct buffer *out)
{
	struct narrowing narrowing = {0};
	const char *given =
		caller->granted ? caller->granted : access_find(&policy->access, caller);

	(void)find_narrowing(policy, caller, &narrowing);
	for (size_t i = 0; i < narrowing.n; i++)
		buffer_printf(out, "%s%s", i > 0 ? "+" : "", narrowing.profiles[i]->name);
	if (narrowing.n == 0 && given)
		buffer_append_string(out, given);
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

	if (!catalogue_has(view, tool))
		return (struct policy_decision){POLICY_HIDDEN, "the caller's profile lacks it"};
	return decide_approval(policy, tool);
}
