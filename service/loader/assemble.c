/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "loader/failure/failures.h"
#include "loader/filtered.h"
#include "loader/members.h"
#include "loader/server_list.h"
#include "loader/settings.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/file/stamp.h"

/*
 * The last steps, when all jobs are done:
 *
 *   one id twice? ─▶ failed: the last good version? ─▶ too many? ─▶ catalogue ─▶ reports on
 *                                                                     toolboxes left out
 */

/* A package whose check has not failed is good. */
static void note_checked(struct load_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_items; i++) {
		struct toolbox *toolbox = jobs->items[i]->toolbox;

		if (toolbox && settings_offer_any(jobs->options.config, toolbox))
			toolbox->package->is_checked = true;
	}
}

/* Whether the manifest of @job takes everything from an interpreter. */
static bool is_auto_discovered(const struct load_job *job)
{
	return job->package->kind == KIND_PYTHON && !job->package->python.plugins;
}

/* Sort by id. Within one id: explicit manifests first, then files before folders, then by path.
 * Failed jobs come last. */
static int compare_ids(const void *a, const void *b)
{
	const struct load_job *left = *(struct load_job *const *)a;
	const struct load_job *right = *(struct load_job *const *)b;
	int order;

	if (!left->toolbox || !right->toolbox)
		return !left->toolbox - !right->toolbox;
	order = strcmp(left->toolbox->id, right->toolbox->id);
	if (order == 0)
		order = is_auto_discovered(left) - is_auto_discovered(right);
	if (order == 0)
		order = left->is_folder - right->is_folder;
	return order != 0 ? order : strcmp(left->path, right->path);
}

/* @owner already has the id of @job. An auto-discovered ToolBox gives way without an error, so that
 * an explicit manifest can override its risk, limits or sandbox; anything else fails. 0 or
 * -ENOMEM. */
static int yield_id(struct load_job *job, const struct load_job *owner)
{
	char text[512];

	if (is_auto_discovered(job) && !is_auto_discovered(owner)) {
		snprintf(text, sizeof(text), "%s provides it", owner->path);
		job->toolbox = NULL;
		return skipped_list_add(&job->skipped, NULL, text);
	}
	snprintf(text, sizeof(text), "the toolbox id '%s' is taken by %s", owner->toolbox->id,
		owner->path);
	load_job_fail(job, job->id ? "" : "/toolbox_id", text);
	return 0;
}

/* When two files claim one id, the first by path wins. 0 or -ENOMEM. */
static int refuse_duplicates(struct load_jobs *jobs)
{
	cleanup_free struct load_job **by_id = calloc(jobs->n_items + 1, sizeof(*by_id));
	const struct load_job *owner;
	int r = 0;

	if (!by_id)
		return -ENOMEM;
	for (size_t i = 0; i < jobs->n_items; i++)
		by_id[i] = jobs->items[i];
	qsort(by_id, jobs->n_items, sizeof(*by_id), compare_ids);
	owner = by_id[0];
	for (size_t i = 1; r == 0 && i < jobs->n_items && by_id[i]->toolbox; i++) {
		if (strcmp(owner->toolbox->id, by_id[i]->toolbox->id) != 0)
			owner = by_id[i];
		else
			r = yield_id(by_id[i], owner);
	}
	return r;
}

static void refuse_too_many(struct load_jobs *jobs)
{
	const struct config_limits *limits = &jobs->options.config->limits;
	size_t n_toolboxes = 0;
	size_t n_tools = 0;

	for (size_t i = 0; i < jobs->n_items; i++) {
		struct load_job *job = jobs->items[i];

		if (!job->toolbox)
			continue;
		if (n_toolboxes + 1 > limits->toolboxes ||
			n_tools + job->toolbox->n_tools > limits->tools) {
			failures_refuse_room(job);
			continue;
		}
		n_toolboxes++;
		n_tools += job->toolbox->n_tools;
	}
}

/* Offer the last good version of each job that has failed, if the configuration still holds. */
static int keep_last_good(struct load_jobs *jobs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < jobs->n_items; i++) {
		struct load_job *job = jobs->items[i];

		if (job->problems.n_errors > 0 && !job->package && !job->id)
			r = server_list_keep(job);
		if (r < 0 || job->toolbox || job->problems.n_errors == 0 || !job->previous ||
			!load_job_keeps(job, job->previous))
			continue;
		job->is_kept = true;
		/* The version is offered although its definition differs now. Its programs have to
		 * be the same. */
		if (job->package)
			package_renew(job->previous, job->package);
		else
			origins_accept(&job->previous->definition);
		if (kind_facts(job->previous->kind)->has_members)
			r = members_keep(job);
		else if (job->previous->is_checked && !load_jobs_have_id(jobs, job->previous->id))
			load_job_set_package(job, package_ref(job->previous));
	}
	return r;
}

/* Write the id for reports about a job without offers. */
static void job_id(const struct load_job *job, char ret_id[MANIFEST_ID_BYTES])
{
	const char *id = job->toolbox ? job->toolbox->id : job->failed ? job->failed->id : job->id;
	size_t size;
	const char *stem = manifest_stem(job->path, &size);

	if (id)
		snprintf(ret_id, MANIFEST_ID_BYTES, "%s", id);
	else if (job->package &&
		 kind_facts(job->package->kind)
			 ->has_members) /* its own id is not shown (contract.md, Python) */
		snprintf(ret_id, MANIFEST_ID_BYTES, "%.*s", (int)size, stem);
	else
		manifest_id(job->path, ret_id);
}

/* Order failures by their toolbox and error. */
static int compare_failures(const void *a, const void *b)
{
	const struct catalogue_failure *left = *(const struct catalogue_failure *const *)a;
	const struct catalogue_failure *right = *(const struct catalogue_failure *const *)b;
	int order = strcmp(left->toolbox_id, right->toolbox_id);

	return order != 0 ? order : strcmp(left->error, right->error);
}

/* The failures of the previous catalogue, sorted: a repeated error keeps its time. */
struct known_failures {
	const struct catalogue_failure **items;
	size_t n_items;
};

static void known_failures_deinit(struct known_failures *known)
{
	free(known->items);
}

/* Find the failures of @previous (NULL: none). 0 or -ENOMEM. */
static int find_known(const struct catalogue *previous, struct known_failures *ret_known)
{
	size_t n_items = previous ? catalogue_n_failures(previous) : 0;

	ret_known->items = calloc(n_items + 1, sizeof(*ret_known->items));
	if (!ret_known->items)
		return -ENOMEM;
	for (size_t i = 0; i < n_items; i++)
		ret_known->items[i] = catalogue_failure(previous, i);
	ret_known->n_items = n_items;
	qsort(ret_known->items, n_items, sizeof(*ret_known->items), compare_failures);
	return 0;
}

/* Give @failure the time of the same error in the previous catalogue, or now. */
static void date_failure(const struct known_failures *known, struct catalogue_failure *failure)
{
	const struct catalogue_failure **found = bsearch(
		&failure, known->items, known->n_items, sizeof(*known->items), compare_failures);

	failure->is_new = !found;
	failure->since_ns = found ? (*found)->since_ns : stamp_now_ns();
}

static int add_failures(const struct load_jobs *jobs, struct catalogue *catalogue)
{
	cleanup(known_failures_deinit) struct known_failures known = {0};
	int r = find_known(jobs->options.previous, &known);

	for (size_t i = 0; i < jobs->n_items && r == 0; i++) {
		struct load_job *job = jobs->items[i];
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(failed_cleanup) struct failed *failed = NULL;
		struct catalogue_failure failure;
		char id[MANIFEST_ID_BYTES];

		if (job->problems.n_errors == 0)
			continue;
		job_id(job, id);
		diagnostics_write_first(&job->problems, job->path, &text);
		failure = (struct catalogue_failure){
			.toolbox_id = id, .file = job->path, .error = buffer_terminate(&text)};
		if (!failure.error)
			return -ENOMEM;
		date_failure(&known, &failure);
		if (failures_note(job, id, &failed) < 0)
			return -ENOMEM;
		failure.failed = failed;
		r = catalogue_add_failure(catalogue, &failure, job->is_kept ? job->previous : NULL);
	}
	return r;
}

/* Add all tools left out by the configuration. 0 or -ENOMEM. */
static int add_filtered(const struct load_jobs *jobs, struct catalogue *catalogue)
{
	const struct config *config = jobs->options.config;
	int r = 0;

	for (size_t i = 0; i < jobs->n_items && r == 0; i++) {
		const struct toolbox *toolbox = jobs->items[i]->toolbox;
		const char *reason;

		if (toolbox && toolbox->n_tools > 0)
			r = filtered_note(config, toolbox, catalogue);
		reason = toolbox && toolbox->n_tools == 0
				 ? settings_toolbox_refusal(config, toolbox)
				 : NULL;
		if (!reason)
			continue;
		r = catalogue_disable(catalogue, toolbox->id, reason);
		r = r ? r : catalogue_add_skipped(catalogue, toolbox->id, NULL, reason);
	}
	return r;
}

/* 0 or -ENOMEM. */
static int add_skipped(
	const char *id, const struct skipped_list *skipped, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < skipped->n_items; i++)
		r = catalogue_add_skipped(
			catalogue, id, skipped->items[i].name, skipped->items[i].reason);
	return r;
}

/* The skipped programs of a folder, and the skipped toolboxes and tools of a host. */
static int add_left_out(const struct load_jobs *jobs, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < jobs->n_items; i++) {
		const struct load_job *job = jobs->items[i];
		char id[MANIFEST_ID_BYTES];

		if (job->skipped.n_items == 0 &&
			!(job->package && job->package->left_out.n_items > 0))
			continue;
		job_id(job, id);
		r = add_skipped(id, &job->skipped, catalogue);
		if (r == 0 && job->package)
			r = add_skipped(id, &job->package->left_out, catalogue);
	}
	return r;
}

static int add_masked(const struct folders_listing *listing, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < listing->n_masks && r == 0; i++) {
		const struct folders_mask *mask = &listing->masks[i];
		cleanup(buffer_deinit) struct buffer reason = {0};
		char id[MANIFEST_ID_BYTES];

		manifest_id(mask->path, id);
		buffer_printf(&reason, "%s is %s by %s%s", mask->path,
			mask->is_replaced ? "replaced" : "masked", mask->link,
			mask->is_replaced ? "" : ", a link to /dev/null");
		r = buffer_terminate(&reason)
			    ? catalogue_add_skipped(catalogue, id, NULL, reason.data)
			    : -ENOMEM;
	}
	return r;
}

/* The scripts without a folder of their own. */
static int add_strays(const struct folders_listing *listing, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < listing->strays.n_items && r == 0; i++) {
		const char *path = listing->strays.items[i];
		cleanup(buffer_deinit) struct buffer reason = {0};
		char id[MANIFEST_ID_BYTES];

		manifest_id(path, id);
		buffer_printf(&reason,
			"%s: a program is a tool of its folder: move it into a folder beside it, "
			"named like the toolbox",
			path);
		r = buffer_terminate(&reason)
			    ? catalogue_add_skipped(catalogue, id, NULL, reason.data)
			    : -ENOMEM;
	}
	return r;
}

/* Hold the packages with a description, new or previous. 0 or -ENOMEM. */
static int hold_described(const struct load_jobs *jobs, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < jobs->n_files && r == 0; i++) {
		const struct load_job *job = jobs->items[i];
		struct package *package = job->is_kept ? job->previous : job->package;

		if (package && package->described)
			r = catalogue_hold(catalogue, package);
	}
	return r;
}

/* Add all failures and skipped tools. */
static int add_notes(const struct load_jobs *jobs, const struct folders_listing *listing,
	struct catalogue *catalogue)
{
	int r = add_failures(jobs, catalogue);

	if (r == 0)
		r = hold_described(jobs, catalogue);
	if (r == 0)
		r = add_filtered(jobs, catalogue);
	if (r == 0)
		r = add_left_out(jobs, catalogue);
	if (r == 0)
		r = add_masked(listing, catalogue);
	return r ? r : add_strays(listing, catalogue);
}

static bool offers(void *config, const struct tool *tool)
{
	return settings_offer(config, tool);
}

struct catalogue *assemble_catalogue(struct load_jobs *jobs, const struct folders_listing *listing)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	cleanup_free struct toolbox **toolboxes = NULL;
	size_t n_toolboxes = 0;

	note_checked(jobs);
	if (refuse_duplicates(jobs) < 0 || keep_last_good(jobs) < 0)
		return NULL;
	/* There is a job for each kept package. */
	toolboxes = calloc(jobs->n_items + 1, sizeof(*toolboxes));
	if (!toolboxes)
		return NULL;
	refuse_too_many(jobs);
	for (size_t i = 0; i < jobs->n_items; i++)
		if (jobs->items[i]->toolbox)
			toolboxes[n_toolboxes++] = jobs->items[i]->toolbox;
	catalogue = catalogue_new(toolboxes, n_toolboxes, offers,
		(struct config *)jobs->options.config, jobs->options.generation);
	if (!catalogue || add_notes(jobs, listing, catalogue) < 0)
		return NULL;
	return take_ptr(catalogue);
}
