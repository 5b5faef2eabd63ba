/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/loader_inside.h"
#include "core/settings.h"
#include "policy/filter.h"
#include "util/clock.h"
#include "util/log.h"

/* How long reading manifests may hold the loop at a time. */
#define LOADER_SLICE_MS 5

/* ── the toolboxes that were offered before ──────────────────────────────────────────────────── */

static int compare_files(const void *a, const void *b)
{
	return strcmp((*(struct toolbox *const *)a)->file, (*(struct toolbox *const *)b)->file);
}

static int compare_path_with_file(const void *path, const void *toolbox)
{
	return strcmp(path, (*(struct toolbox *const *)toolbox)->file);
}

/* Tell every job what its file was before. 0 or -ENOMEM. */
static int find_previous(struct loader *loader)
{
	const struct catalogue *previous = loader->options.previous;
	size_t n_toolboxes = previous ? catalogue_n_toolboxes(previous) : 0;
	cleanup_free struct toolbox **toolboxes = calloc(n_toolboxes + 1, sizeof(*toolboxes));

	if (!toolboxes)
		return -ENOMEM;
	for (size_t i = 0; i < n_toolboxes; i++)
		toolboxes[i] = catalogue_toolbox(previous, i, NULL, NULL);
	qsort(toolboxes, n_toolboxes, sizeof(*toolboxes), compare_files);
	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct toolbox **found = bsearch(loader->jobs[i].path, toolboxes, n_toolboxes,
			sizeof(*toolboxes), compare_path_with_file);

		loader->jobs[i].previous = found ? *found : NULL;
	}
	return 0;
}

/* What the configuration says of the toolbox, or NULL. */
static const struct config_toolbox *settings_of(
	const struct loader *loader, const struct toolbox *toolbox)
{
	return config_toolbox_find(loader->options.config, toolbox->id);
}

static bool is_unchanged(struct loader *loader, struct toolbox *toolbox)
{
	const struct config_toolbox *settings = settings_of(loader, toolbox);

	if (toolbox->settings != (settings ? settings->digest : 0))
		return false;
	if (!manifest_is_unchanged(toolbox))
		return false;
	if (!toolbox->library.path)
		return true;
	/* Of the many toolboxes over one library, the first one in a row looks for all. */
	if (loader->seen && toolbox_library_is_same(&toolbox->library, loader->seen))
		return true;
	if (!toolbox_library_is_unchanged(&toolbox->library))
		return false;
	loader->seen = &toolbox->library;
	return true;
}

/* ── one job ─────────────────────────────────────────────────────────────────────────────────── */

static void fail(struct job *job, const char *pointer, const char *text)
{
	unsigned int line = *pointer ? manifest_line(job->path, pointer) : 0;

	problems_add_line(&job->problems, PROBLEM_ERROR, line, pointer, "%s", text);
	toolbox_unref(take_ptr(job->toolbox));
}

static void refuse_library(void *item, const char *pointer, const char *text)
{
	fail(item, pointer, text);
}

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

static bool offers_any(const struct loader *loader, const struct toolbox *toolbox)
{
	if (told_is_awaited(toolbox))
		return config_toolbox_is_enabled(loader->options.config, toolbox->id);
	for (size_t i = 0; i < toolbox->n_tools; i++)
		if (offers((struct config *)loader->options.config, toolbox->id,
			    toolbox->tools[i].name))
			return true;
	return false;
}

static bool is_too_wide(const struct loader *loader, const struct toolbox *toolbox)
{
	return toolbox->sandbox.class > loader->options.config->sandbox_max;
}

static void refuse_too_wide(struct job *job)
{
	const struct config *config = job->loader->options.config;
	char text[192];

	if (!job->toolbox || !is_too_wide(job->loader, job->toolbox))
		return;
	snprintf(text, sizeof(text),
		"the sandbox class \"%s\" is wider than \"%s\", the widest that "
		"toolboxd.sandbox_max of the configuration allows",
		sandbox_class_name(job->toolbox->sandbox.class),
		sandbox_class_name(config->sandbox_max));
	fail(job, "/sandbox/class", text);
}

/* The host of a toolbox that tells its tools has told them. */
static void hear(void *item, const char *told, size_t size)
{
	struct job *job = item;
	int r = told_hear(job->loader->reader, job->toolbox, told, size, job->key, &job->problems);

	if (r == -ENOMEM)
		fail(job, "", strerror(ENOMEM));
	else if (r)
		toolbox_unref(take_ptr(job->toolbox));
}

/* A folder is read anew each time: what it is depends on many files. 0 or a negative errno. */
static int begin_folder(struct job *job)
{
	const struct toolbox *previous = job->previous;
	int r = loader_read_folder(job);

	if (r == 0 && job->toolbox)
		r = settings_apply(settings_of(job->loader, job->toolbox), job->toolbox);
	if (r == 0 && job->toolbox && previous && previous->is_checked &&
		previous->digest == job->toolbox->digest &&
		previous->settings == job->toolbox->settings) {
		toolbox_unref(job->toolbox);
		job->toolbox = toolbox_ref(job->previous);
	}
	refuse_too_wide(job);
	return r;
}

/* 0 or -ENOMEM. */
static int begin_job(struct job *job)
{
	struct loader *loader = job->loader;
	int r;

	if (job->is_folder)
		return begin_folder(job);
	if (loader_is_frame(job))
		return 0;
	if (job->previous && job->previous->is_checked && is_unchanged(loader, job->previous)) {
		job->toolbox = toolbox_ref(job->previous);
		refuse_too_wide(job);
		return 0;
	}
	r = manifest_read(loader->reader, job->path, &job->toolbox, &job->problems);
	if (r == 0)
		r = settings_apply(settings_of(loader, job->toolbox), job->toolbox);
	refuse_too_wide(job);
	/* What nobody can call is never started, not even to look at it. */
	if (r || !job->toolbox || !job->toolbox->library.path || !offers_any(loader, job->toolbox))
		return r < 0 ? r : 0;
	r = told_is_awaited(job->toolbox) ? told_recall(loader->reader, job->toolbox, job->key)
					  : -ENOENT;
	if (r == -ENOENT)
		checker_add(loader->checker, job->toolbox, job);
	return r == -ENOMEM ? r : 0;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

/* What was to be checked and is still there is good. */
static void note_checked(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct toolbox *toolbox = loader->jobs[i].toolbox;

		if (toolbox && offers_any(loader, toolbox))
			toolbox->is_checked = true;
	}
}

/* By id, and of one id by path, folders behind files; those that have failed behind all others. */
static int compare_claims(const void *a, const void *b)
{
	const struct job *left = *(struct job *const *)a;
	const struct job *right = *(struct job *const *)b;
	int order;

	if (!left->toolbox || !right->toolbox)
		return !left->toolbox - !right->toolbox;
	order = strcmp(left->toolbox->id, right->toolbox->id);
	if (order == 0)
		order = left->is_folder - right->is_folder;
	return order != 0 ? order : strcmp(left->path, right->path);
}

/* Of two files that claim one id the first by path wins. 0 or -ENOMEM. */
static int refuse_twins(struct loader *loader)
{
	cleanup_free struct job **claims = calloc(loader->n_jobs + 1, sizeof(*claims));
	const struct job *owner;
	char text[512];

	if (!claims)
		return -ENOMEM;
	for (size_t i = 0; i < loader->n_jobs; i++)
		claims[i] = &loader->jobs[i];
	qsort(claims, loader->n_jobs, sizeof(*claims), compare_claims);
	owner = claims[0];
	for (size_t i = 1; i < loader->n_jobs && claims[i]->toolbox; i++) {
		if (strcmp(owner->toolbox->id, claims[i]->toolbox->id) != 0) {
			owner = claims[i];
			continue;
		}
		snprintf(text, sizeof(text), "the toolbox id '%s' is taken by %s",
			owner->toolbox->id, owner->path);
		fail(claims[i], "/toolbox_id", text);
	}
	return 0;
}

static void refuse_too_many(struct loader *loader)
{
	const struct config_limits *limits = &loader->options.config->limits;
	size_t n_toolboxes = 0;
	size_t n_tools = 0;
	char text[128];

	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct job *job = &loader->jobs[i];

		if (!job->toolbox)
			continue;
		if (n_toolboxes + 1 > limits->toolboxes ||
			n_tools + job->toolbox->n_tools > limits->tools) {
			snprintf(text, sizeof(text),
				"there is room for %u toolboxes and %u tools (limits.toolboxes, "
				"limits.tools)",
				limits->toolboxes, limits->tools);
			fail(job, "", text);
			continue;
		}
		n_toolboxes++;
		n_tools += job->toolbox->n_tools;
	}
}

/* Whether another job offers this id already. */
static bool is_taken(const struct loader *loader, const char *id)
{
	for (size_t i = 0; i < loader->n_jobs; i++)
		if (loader->jobs[i].toolbox && strcmp(loader->jobs[i].toolbox->id, id) == 0)
			return true;
	return false;
}

/* What fails now and was good before stays as it was, unless it may be so no longer. */
static void keep_last_good(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct job *job = &loader->jobs[i];

		if (!job->toolbox && job->problems.n_errors > 0 && job->previous &&
			job->previous->is_checked && !is_too_wide(loader, job->previous) &&
			!is_taken(loader, job->previous->id))
			job->toolbox = toolbox_ref(job->previous);
	}
}

static int add_failures(const struct loader *loader, struct catalogue *catalogue)
{
	int r = 0;

	for (size_t i = 0; i < loader->n_jobs && r == 0; i++) {
		struct job *job = &loader->jobs[i];
		cleanup(buffer_deinit) struct buffer text = {0};
		char id[MANIFEST_ID_BYTES];

		if (job->problems.n_errors == 0)
			continue;
		manifest_id(job->path, id);
		problems_write_first(&job->problems, job->path, &text);
		r = buffer_terminate(&text)
			    ? catalogue_add_failure(
				      catalogue, job->toolbox ? job->toolbox->id : id, text.data)
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
		const struct toolbox *toolbox = loader->jobs[i].toolbox;

		if (toolbox && told_is_awaited(toolbox))
			r = catalogue_add_absence(
				catalogue, toolbox->id, NULL, "its toolbox is not enabled");
		for (size_t j = 0; toolbox && j < toolbox->n_tools && r == 0; j++)
			if (!offers(config, toolbox->id, toolbox->tools[j].name))
				r = catalogue_add_absence(catalogue, toolbox->id,
					toolbox->tools[j].name,
					config_toolbox_is_enabled(config, toolbox->id)
						? "left out by tools_enabled or tools_disabled"
						: "its toolbox is not enabled");
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
		r = buffer_terminate(&why) ? catalogue_add_absence(catalogue, id, NULL, why.data)
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
		r = loader_add_left_out(loader, catalogue);
	return r ? r : add_masked(loader, catalogue);
}

static struct catalogue *make_catalogue(struct loader *loader)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	cleanup_free struct toolbox **toolboxes = calloc(loader->n_jobs + 1, sizeof(*toolboxes));
	size_t n_toolboxes = 0;

	if (!toolboxes)
		return NULL;
	note_checked(loader);
	if (refuse_twins(loader) < 0)
		return NULL;
	keep_last_good(loader);
	refuse_too_many(loader);
	for (size_t i = 0; i < loader->n_jobs; i++)
		if (loader->jobs[i].toolbox)
			toolboxes[n_toolboxes++] = loader->jobs[i].toolbox;
	catalogue = catalogue_new(toolboxes, n_toolboxes, offers,
		(struct config *)loader->options.config, loader->options.generation);
	if (!catalogue || add_notes(loader, catalogue) < 0)
		return NULL;
	return take_ptr(catalogue);
}

static void finish(void *data)
{
	struct loader *loader = data;
	struct catalogue *catalogue = make_catalogue(loader);
	loader_done_function done = loader->done;
	void *owner = loader->data;

	for (size_t i = 0; i < loader->n_jobs; i++)
		for (size_t j = 0; j < loader->jobs[i].problems.n_items; j++)
			loader->problem(
				owner, loader->jobs[i].path, &loader->jobs[i].problems.items[j]);
	loader_free(loader);
	done(owner, catalogue, catalogue ? 0 : -ENOMEM);
}

static void abandon(struct loader *loader, int error)
{
	loader_done_function done = loader->done;
	void *data = loader->data;

	loader_free(loader);
	done(data, NULL, error);
}

/* Go on reading for a slice of time; the loop serves others in between. */
static void work(void *data)
{
	struct loader *loader = data;
	uint64_t end_ms = clock_now_ms() + LOADER_SLICE_MS;

	while (loader->next < loader->n_jobs) {
		int r = begin_job(&loader->jobs[loader->next++]);

		if (r < 0) {
			abandon(loader, r);
			return;
		}
		if (clock_now_ms() >= end_ms) {
			loop_timer_arm(&loader->work, 0);
			return;
		}
	}
	checker_start(loader->checker, refuse_library, hear, finish, loader);
}

static int add_job(struct loader *loader, const char *path, bool is_folder)
{
	struct job *job = &loader->jobs[loader->n_jobs];

	job->loader = loader;
	job->is_folder = is_folder;
	job->path = strdup(path);
	if (!job->path)
		return -ENOMEM;
	loader->n_jobs++;
	return 0;
}

static int new_loader(struct loop *loop, const struct loader_options *options, size_t n_jobs,
	struct loader **ret_loader)
{
	cleanup(loader_cleanup) struct loader *loader = calloc(1, sizeof(*loader));
	int r;

	if (!loader)
		return -ENOMEM;
	loader->loop = loop;
	loader->options = *options;
	loader->jobs = calloc(n_jobs + 1, sizeof(*loader->jobs));
	loader->reader = manifest_reader_new(options->library_dir);
	if (!loader->jobs || !loader->reader)
		return -ENOMEM;
	r = checker_new(loop, options->host_program, options->config, n_jobs, &loader->checker);
	if (r == 0)
		r = loop_timer_init(&loader->work, loop, work, loader);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

/* 0 or -ENOMEM. */
static int set_going(struct loader *loader, loader_problem_function problem,
	loader_done_function done, void *data)
{
	loader->problem = problem;
	loader->done = done;
	loader->data = data;
	loop_timer_arm(&loader->work, 0);
	loader_pair_up(loader);
	return find_previous(loader);
}

int loader_start(struct loop *loop, const struct loader_options *options,
	loader_problem_function problem, loader_done_function done, void *data,
	struct loader **ret_loader)
{
	const struct config_list *folders = &options->config->toolbox_dirs;
	cleanup(folders_listing_deinit) struct folders_listing listing = {0};
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = folders_list((const char *const *)folders->items, folders->n_items, &listing);

	if (r == 0)
		r = new_loader(loop, options, listing.n_entries, &loader);
	for (size_t i = 0; r == 0 && i < listing.n_entries; i++)
		r = add_job(loader, listing.entries[i].path, listing.entries[i].is_folder);
	if (r == 0) {
		loader->listing = listing;
		listing = (struct folders_listing){0};
		r = set_going(loader, problem, done, data);
	}
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

static int add_once(struct loader *loader, const char *path)
{
	struct stat status;

	for (size_t i = 0; i < loader->n_jobs; i++)
		if (strcmp(loader->jobs[i].path, path) == 0)
			return 0;
	return add_job(loader, path, stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* A file or folder that is named, and what belongs to it. */
static int add_given(struct loader *loader, const char *path)
{
	cleanup_free char *given = NULL;
	cleanup_free char *other = NULL;
	int r = loader_find_other(path, &given, &other);

	if (r == 0)
		r = add_once(loader, given);
	return r == 0 && other ? add_once(loader, other) : r;
}

int loader_start_files(struct loop *loop, const struct loader_options *options,
	const char *const *files, size_t n_files, loader_problem_function problem,
	loader_done_function done, void *data, struct loader **ret_loader)
{
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = new_loader(loop, options, 2 * n_files, &loader);

	for (size_t i = 0; r == 0 && i < n_files; i++)
		r = add_given(loader, files[i]);
	if (r == 0)
		r = set_going(loader, problem, done, data);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < loader->n_jobs; i++) {
		toolbox_unref(loader->jobs[i].toolbox);
		problems_deinit(&loader->jobs[i].problems);
		dropins_absences_deinit(&loader->jobs[i].absences);
		free(loader->jobs[i].path);
	}
	free(loader->jobs);
	folders_listing_deinit(&loader->listing);
	manifest_reader_free(loader->reader);
	checker_free(loader->checker);
	loop_timer_deinit(&loader->work);
	free(loader);
}
