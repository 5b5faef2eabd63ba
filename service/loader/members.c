/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/described.h"
#include "loader/tool_settings.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/stamp.h"

/* Whether the previous package was made of the same manifest and configuration. */
static bool is_same_package(const struct load_job *job)
{
	const struct package *previous = job->previous;

	return previous && kind_facts(previous->kind)->has_members && previous->described &&
	       previous->digest == job->package->digest &&
	       previous->settings == job->package->settings;
}

/* ── members ───────────────────────────────────────────────────────────────────────────────────── */

/* Report the problems of a member with its name, since it is in no file. */
static void move_problems(const struct member_toolbox *member, struct load_job *job)
{
	for (size_t i = 0; i < member->problems.n_items; i++) {
		const struct diagnostic *problem = &member->problems.items[i];

		diagnostics_add(&job->problems, problem->severity, 0, "", "%s: %s%s%s",
			member->id ? member->id : "a ToolBox", problem->pointer,
			*problem->pointer ? ": " : "", problem->text);
	}
}

/* Report settings for the processes of a member, which has none of its own. A member with a sandbox in
 * the configuration is refused, because that sandbox would not be enforced. */
static void check_settings(struct load_job *job, const struct load_job *owner)
{
	const struct config_toolbox *settings =
		config_toolbox_find(job->jobs->options.config, job->id);
	bool is_refused = settings && settings->has_sandbox;

	if (!job->toolbox || !settings || (!is_refused && !settings->has_process))
		return;
	diagnostics_add(&job->problems, is_refused ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING, 0, "",
		"%s: \"%s\" of toolboxes.%s in the configuration has no effect, because all "
		"ToolBoxes of this manifest share their processes; set it for toolboxes.%s, or "
		"give this one a manifest of its own (\"plugins\")",
		job->id, is_refused ? "sandbox" : "limits\" or \"env", job->id, owner->package->id);
	if (is_refused)
		job->toolbox = NULL;
}

static int add_member(struct load_job *owner, struct member_toolbox *member)
{
	struct load_job *job = load_jobs_add(owner->jobs, owner->path, false);

	if (!job)
		return -ENOMEM;
	job->id = strdup(member->id ? member->id : owner->package->id);
	if (!job->id)
		return -ENOMEM;
	move_problems(member, job);
	job->toolbox = member->toolbox;
	job->package = member->toolbox ? package_ref(member->toolbox->package) : NULL;
	check_settings(job, owner);
	job->skipped = member->skipped;
	member->skipped = (struct skipped_list){0};
	return 0;
}

/* Make the previous package, with its processes, that of @job, and its toolboxes those of @members:
 * both were made of the same text. */
static void reuse_previous(struct load_job *job, struct member_toolboxes *members)
{
	struct package *previous = job->previous;

	check(previous->n_toolboxes == job->package->n_toolboxes);
	for (size_t i = 0; i < members->n_items; i++)
		if (members->items[i].toolbox)
			members->items[i].toolbox =
				previous->toolboxes[members->items[i].toolbox->index];
	previous->fingerprint = job->package->fingerprint;
	load_job_set_package(job, package_ref(previous));
}

/* Keep the text that the members are made of. */
static int keep_described(struct package *package, const char *described, size_t size)
{
	package->described = malloc(size + 1);
	if (!package->described)
		return -ENOMEM;
	memcpy(package->described, described, size);
	package->described_size = size;
	return 0;
}

/* Make the members of a description. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
static int take_described(
	struct load_job *job, const struct json_tape *tape, const char *described, size_t size)
{
	const struct package *previous = job->previous;
	cleanup(member_toolboxes_deinit) struct member_toolboxes members = {0};
	int r = keep_described(job->package, described, size);

	checker_note(job->package, tape);
	r = r ? r
	      : manifest_take_members(
			job->jobs->reader, tape, job->package, &members, &job->problems);
	if (r)
		return r;
	if (is_same_package(job) && previous->described_size == size &&
		memcmp(previous->described, described, size) == 0 &&
		tool_settings_hold_in(job->jobs->options.config, previous))
		reuse_previous(job, &members);
	for (size_t i = 0; r == 0 && i < members.n_items; i++)
		r = add_member(job, &members.items[i]);
	return r;
}

static int take_text(struct load_job *job, const char *described, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, described, size, JSON_DEPTH_DEFAULT, NULL);

	return r ? r : take_described(job, &tape, described, size);
}

/* ── which hosts to ask ───────────────────────────────────────────────────────────────────────── */

/* Whether the description of the previous package is still valid. */
static bool holds(const struct load_job *job)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct package *previous = job->previous;

	if (!is_same_package(job) || previous->fingerprint == 0 ||
		json_tape_read(&tape, previous->described, previous->described_size,
			JSON_DEPTH_DEFAULT, NULL) != 0)
		return false;
	job->package->fingerprint = described_fingerprint(job->package, &tape, INT64_MAX);
	return job->package->fingerprint == previous->fingerprint;
}

/* Make the members of a known description that is valid. 0, -ENOENT, or another negative errno. */
static int recall(struct load_job *job)
{
	cleanup(buffer_deinit) struct buffer described = {0};
	int r;

	if (job->jobs->options.asks_again)
		return -ENOENT;
	if (holds(job))
		return take_text(job, job->previous->described, job->previous->described_size);
	r = described_load_cached_text(job->package, job->key, &described);
	return r ? r : take_text(job, described.data, described.size);
}

static int ask(struct load_job *job)
{
	struct load_jobs *jobs = job->jobs;

	if (jobs->options.defers) {
		jobs->has_deferred = true;
		return skipped_list_add(
			&job->skipped, NULL, "a Python interpreter is describing its tools");
	}
	describe_cache_key(job->package, job->key);
	job->asked_ns = stamp_now_ns();
	checker_add(jobs->checker, job->package, job);
	return 0;
}

int members_begin(struct load_job *job)
{
	int r;

	if (!config_toolbox_is_enabled(job->jobs->options.config, job->package->id))
		return skipped_list_add(&job->skipped, NULL, "its toolbox is not enabled");
	r = recall(job);
	if (r == -ENOENT)
		r = ask(job);
	return r < 0 ? r : 0;
}

int members_accept(struct load_job *job, const char *described, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, described, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0) {
		job->package->fingerprint =
			described_fingerprint(job->package, &tape, job->asked_ns);
		if (job->package->fingerprint)
			job->cache_error = describe_cache_write(
				job->key, described, size, job->package->fingerprint);
		r = take_described(job, &tape, described, size);
	}
	return r < 0 ? r : 0;
}

int members_keep(struct load_job *job)
{
	const struct catalogue *previous = job->jobs->options.previous;
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(previous); i++) {
		struct toolbox *toolbox = catalogue_toolbox(previous, i, NULL, NULL);
		struct member_toolbox member = {.id = toolbox->id, .toolbox = toolbox};

		if (toolbox->package != job->previous ||
			load_jobs_have_id(job->jobs, toolbox->id) ||
			!tool_settings_hold(job->jobs->options.config, toolbox))
			continue;
		r = add_member(job, &member);
	}
	return r;
}
