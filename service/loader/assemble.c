/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/filter.h"
#include "loader/inside.h"
#include "util/cleanup.h"

/*
 * What becomes of the jobs when all are done:
 *
 *   one id twice? ─▶ failed: the last good version? ─▶ too many? ─▶ catalogue ─▶ what it tells of
 *                                                                  those that are not in it
 */

static bool offers(void *data, const char *toolbox_id, const char *name)
{
	const struct config *config = data;
	struct filter filter = {
		.enabled = (const char *const *)config->tools_enabled.items,
		.n_enabled = config->tools_enabled.n_items,
		.disabled = (const char *const *)config->tools_disabled.items,
		.n_disabled = config->tools_disabled.n_items,
	};

	return config_toolbox_is_enabled(config, toolbox_id) &&
	       filter_offers(&filter, toolbox_id, name);
}

bool loader_offers_any(const struct loader *loader, const struct toolbox *toolbox)
{
	if (described_is_awaited(toolbox))
		return config_toolbox_is_enabled(loader->options.config, toolbox->id);
	for (size_t i = 0; i < toolbox->n_tools; i++)
		if (offers((struct config *)loader->options.config, toolbox->id,
			    toolbox->tools[i].name))
			return true;
	return false;
}

bool loader_is_too_wide(const struct loader *loader, const struct toolbox *toolbox)
{
	return toolbox->sandbox.class > loader->options.config->sandbox_max;
}

/* What was to be checked and is still there is good. */
static void note_checked(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct toolbox *toolbox = loader->jobs[i]->toolbox;

		if (toolbox && loader_offers_any(loader, toolbox))
			toolbox->is_checked = true;
	}
}

/* Whether it is brought by a manifest that takes whatever an interpreter has. */
static bool is_auto_discovered(const struct load_job *job)
{
	return job->toolbox->package && !job->toolbox->package->python.plugins;
}

/* By id, and of one id by path, folders behind files, what nobody has named behind all that; those
 * that have failed behind all others. */
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

/* The id of @job is @owner's. What nobody has named steps back without a word of blame: so are
 * single ToolBoxes given a risk, limits or a sandbox of their own. 0 or -ENOMEM. */
static int yield_id(struct load_job *job, const struct load_job *owner)
{
	char text[512];

	if (is_auto_discovered(job) && !is_auto_discovered(owner)) {
		snprintf(text, sizeof(text), "it is brought by %s", owner->path);
		toolbox_unref(take_ptr(job->toolbox));
		return skipped_list_add(&job->skipped, NULL, text);
	}
	snprintf(text, sizeof(text), "the toolbox id '%s' is taken by %s", owner->toolbox->id,
		owner->path);
	loader_fail(job, job->id ? "" : "/toolbox_id", text);
	return 0;
}

/* Of two files that claim one id the first by path wins. 0 or -ENOMEM. */
static int refuse_duplicates(struct loader *loader)
{
	cleanup_free struct load_job **by_id = calloc(loader->n_jobs + 1, sizeof(*by_id));
	const struct load_job *owner;
	int r = 0;

	if (!by_id)
		return -ENOMEM;
	for (size_t i = 0; i < loader->n_jobs; i++)
		by_id[i] = loader->jobs[i];
	qsort(by_id, loader->n_jobs, sizeof(*by_id), compare_ids);
	owner = by_id[0];
	for (size_t i = 1; r == 0 && i < loader->n_jobs && by_id[i]->toolbox; i++) {
		if (strcmp(owner->toolbox->id, by_id[i]->toolbox->id) != 0)
			owner = by_id[i];
		else
			r = yield_id(by_id[i], owner);
	}
	return r;
}

static void refuse_too_many(struct loader *loader)
{
	const struct config_limits *limits = &loader->options.config->limits;
	size_t n_toolboxes = 0;
	size_t n_tools = 0;
	char text[128];

	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct load_job *job = loader->jobs[i];

		if (!job->toolbox)
			continue;
		if (n_toolboxes + 1 > limits->toolboxes ||
			n_tools + job->toolbox->n_tools > limits->tools) {
			snprintf(text, sizeof(text),
				"there is room for %u toolboxes and %u tools (limits.toolboxes, "
				"limits.tools)",
				limits->toolboxes, limits->tools);
			loader_fail(job, "", text);
			continue;
		}
		n_toolboxes++;
		n_tools += job->toolbox->n_tools;
	}
}

bool loader_is_taken(const struct loader *loader, const char *id)
{
	for (size_t i = 0; i < loader->n_jobs; i++)
		if (loader->jobs[i]->toolbox && strcmp(loader->jobs[i]->toolbox->id, id) == 0)
			return true;
	return false;
}

/* What fails now and was good before stays as it was, unless it may be so no longer. */
static int keep_last_good(struct loader *loader)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < loader->n_jobs; i++) {
		struct load_job *job = loader->jobs[i];

		if (job->toolbox || job->problems.n_errors == 0 || !job->previous ||
			loader_is_too_wide(loader, job->previous))
			continue;
		if (kind_facts(job->previous->kind)->has_members)
			r = loader_keep_members(job);
		else if (job->previous->is_checked && !loader_is_taken(loader, job->previous->id))
			job->toolbox = toolbox_ref(job->previous);
	}
	return r;
}

/* What it is called where it is not offered. */
static void job_id(const struct load_job *job, char ret_id[MANIFEST_ID_BYTES])
{
	const char *id = job->toolbox ? job->toolbox->id : job->id;

	size_t size;
	const char *stem = manifest_stem(job->path, &size);

	if (id)
		snprintf(ret_id, MANIFEST_ID_BYTES, "%s", id);
	else if (job->package) /* its own id is not shown (contract.md, Python) */
		snprintf(ret_id, MANIFEST_ID_BYTES, "%.*s", (int)size, stem);
	else
		manifest_id(job->path, ret_id);
}

static int add_failures(const struct loader *loader, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < loader->n_jobs && r == 0; i++) {
		struct load_job *job = loader->jobs[i];
		cleanup(buffer_deinit) struct buffer text = {0};
		char id[MANIFEST_ID_BYTES];

		if (job->problems.n_errors == 0)
			continue;
		job_id(job, id);
		problems_write_first(&job->problems, job->path, &text);
		r = buffer_terminate(&text) ? catalogue_add_failure(catalogue, id, text.data)
					    : -ENOMEM;
	}
	return r;
}

/* The tools that the configuration leaves out. */
static int add_filtered(const struct loader *loader, struct catalogue *catalogue)
{
	struct config *config = (struct config *)loader->options.config;
	int r = 0;

	for (size_t i = 0; i < loader->n_jobs && r == 0; i++) {
		const struct toolbox *toolbox = loader->jobs[i]->toolbox;

		if (toolbox && described_is_awaited(toolbox))
			r = catalogue_add_skipped(
				catalogue, toolbox->id, NULL, "its toolbox is not enabled");
		for (size_t j = 0; toolbox && j < toolbox->n_tools && r == 0; j++)
			if (!offers(config, toolbox->id, toolbox->tools[j].name))
				r = catalogue_add_skipped(catalogue, toolbox->id,
					toolbox->tools[j].name,
					config_toolbox_is_enabled(config, toolbox->id)
						? "left out by tools_enabled or tools_disabled"
						: "its toolbox is not enabled");
	}
	return r;
}

/* What is left out of a folder, or by a host. */
static int add_left_out(const struct loader *loader, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < loader->n_jobs; i++) {
		const struct load_job *job = loader->jobs[i];
		char id[MANIFEST_ID_BYTES];

		if (job->skipped.n_items == 0)
			continue;
		job_id(job, id);
		for (size_t j = 0; r == 0 && j < job->skipped.n_items; j++)
			r = catalogue_add_skipped(catalogue, id, job->skipped.items[j].name,
				job->skipped.items[j].why);
	}
	return r;
}

static int add_masked(const struct loader *loader, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < loader->listing.n_masks && r == 0; i++) {
		const struct folders_mask *mask = &loader->listing.masks[i];
		cleanup(buffer_deinit) struct buffer why = {0};
		char id[MANIFEST_ID_BYTES];

		manifest_id(mask->path, id);
		buffer_printf(
			&why, "%s is masked by %s, a link to /dev/null", mask->path, mask->link);
		r = buffer_terminate(&why) ? catalogue_add_skipped(catalogue, id, NULL, why.data)
					   : -ENOMEM;
	}
	return r;
}

/* Tell what failed, and what is left out on purpose. */
static int add_notes(const struct loader *loader, struct catalogue *catalogue)
{
	int r = add_failures(loader, catalogue);

	if (r == 0)
		r = add_filtered(loader, catalogue);
	if (r == 0)
		r = add_left_out(loader, catalogue);
	return r ? r : add_masked(loader, catalogue);
}

struct catalogue *loader_make_catalogue(struct loader *loader)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	cleanup_free struct toolbox **toolboxes = calloc(loader->n_jobs + 1, sizeof(*toolboxes));
	size_t n_toolboxes = 0;

	if (!toolboxes)
		return NULL;
	note_checked(loader);
	if (refuse_duplicates(loader) < 0 || keep_last_good(loader) < 0)
		return NULL;
	refuse_too_many(loader);
	for (size_t i = 0; i < loader->n_jobs; i++)
		if (loader->jobs[i]->toolbox)
			toolboxes[n_toolboxes++] = loader->jobs[i]->toolbox;
	catalogue = catalogue_new(toolboxes, n_toolboxes, offers,
		(struct config *)loader->options.config, loader->options.generation);
	if (!catalogue || add_notes(loader, catalogue) < 0)
		return NULL;
	return take_ptr(catalogue);
}
