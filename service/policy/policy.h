/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "policy/caller.h"
#include "util/cleanup.h"

/*
 * Policy: which tools a caller sees, and which of its calls a person is asked about.
 *
 *   caller ──▶ view: a catalogue of only the tools it may use
 *                │
 *                └─▶ every answer comes from it: lists, lookups, suggestions, counts, errors
 *
 * No request looks at the whole catalogue, so no answer depends on a tool forbidden to its caller.
 * A caller with every permission has the catalogue itself as its view.
 *
 * A policy is made whole from one configuration and one catalogue, and replaced with them.
 */
struct policy;

/* Make the policy of @config for @catalogue, which outlives it; @config is not kept. NULL without
 * memory. */
struct policy *policy_new(const struct config *config, const struct catalogue *catalogue);

/* Free @policy and its views. Takes NULL. */
void policy_free(struct policy *policy);

/* Return the catalogue of the tools that @caller may use: valid until the next call of a function
 * of @policy. */
const struct catalogue *policy_view(struct policy *policy, const struct policy_caller *caller);

/* Append the name of the profile deciding the view of @caller: of several, all names, with `+`
 * between them. Profiles with every tool are named only when no other decides. Nothing is appended
 * when no profile is known. */
void policy_write_profile(
	const struct policy *policy, const struct policy_caller *caller, struct buffer *out);

enum policy_verdict {
	POLICY_HIDDEN, /* for this caller there is no such tool */
	POLICY_ASK,    /* a call waits for the approval of a person */
	POLICY_RUN,
};

struct policy_decision {
	enum policy_verdict verdict;
	const char *reason; /* constant text */
};

/* Decide on a call of @tool by @caller. A tool outside of the catalogue of @policy is hidden. */
struct policy_decision policy_decide(
	struct policy *policy, const struct policy_caller *caller, const struct tool *tool);

CLEANUP_DEFINE(policy, struct policy *, policy_free)
