/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "json/reader.h"
#include "policy/filter.h"
#include "registry/folders.h"
#include "registry/manifest.h"
#include "util/clock.h"
#include "util/log.h"

/* Hosts that check libraries at the same time. */
#define LOADER_CHECKS_MAX 4

/* How long reading manifests may hold the loop at a time. */
#define LOADER_SLICE_MS 5

/* One file (or folder) that is registered. */
struct job {
	struct loader *loader;
	char *path;
	bool is_folder;
	struct toolbox *toolbox; /* NULL: it has failed */
	struct host *check;	 /* while its library is looked at */
	struct problems problems;
};

struct loader {
	struct loop *loop;
	struct loader_options options;
	loader_problem_function problem;
	loader_done_function done;
	void *data;
	struct manifest_reader *reader;
	struct job *jobs; /* by name */
	size_t n_jobs;
	size_t next; /* the first that was not begun */
	unsigned int n_checks;
	struct loop_timer work;
};

/* ── the toolboxes that were offered before ──────────────────────────────────────────────────── */

static struct toolbox *find_previous(const struct loader *loader, const char *path)
{
	const struct catalogue *previous = loader->options.previous;

	for (size_t i = 0; previous && i < catalogue_n_toolboxes(previous); i++) {
		struct toolbox *toolbox = catalogue_toolbox(previous, i, NULL, NULL);

		if (strcmp(toolbox->file, path) == 0)
			return toolbox;
	}
	return NULL;
}

static bool is_unchanged(const struct toolbox *toolbox)
{
	uint64_t digest;

	return manifest_digest(toolbox->file, &digest) == 0 && digest == toolbox->digest &&
		toolbox_library_is_unchanged(&toolbox->library);
}

/* ── one job ─────────────────────────────────────────────────────────────────────────────────── */

static void continue_later(struct loader *loader)
{
	loop_timer_arm(&loader->work, 0);
}

static void fail(struct job *job, const char *pointer, const char *text)
{
	struct problem *problem;

	problems_add(&job->problems, PROBLEM_ERROR, NULL, 0, "%s", text);
	problem = &job->problems.items[job->problems.n_items - 1];
	if (*pointer) {
		free(problem->pointer);
		problem->pointer = strdup(pointer);
		problem->line = manifest_line(job->path, pointer);
	}
	toolbox_unref(take_ptr(job->toolbox));
}

static void end_check(struct job *job)
{
	host_free(take_ptr(job->check));
	job->loader->n_checks--;
	continue_later(job->loader);
}

/* The host has told where the dynamic linker found the library. */
static void library_is_good(void *data, const char *loaded, size_t size)
{
	struct job *job = data;
	struct toolbox_library *library = &job->toolbox->library;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *file = NULL;
	uint32_t token;

	if (json_tape_read(&tape, loaded, size, JSON_DEPTH_DEFAULT, NULL) == 0 &&
		(token = json_find(&tape, 0, "library")) != JSON_NONE &&
		json_type_at(&tape, token) == JSON_STRING)
		file = json_string_dup(&tape, token, NULL);
	if (file && !library->file)
		toolbox_library_set_file(library, file);
	toolbox_library_look(library);
	end_check(job);
}

/* "/tools/3/symbol" of the LOAD frame is "/tools/3/native/symbol" of the manifest. */
static void manifest_pointer(const char *pointer, char *ret, size_t size)
{
	static const char tools[] = "/tools/";
	const char *rest = strncmp(pointer, tools, strlen(tools)) == 0
		? strchr(pointer + strlen(tools), '/')
		: NULL;

	if (rest)
		snprintf(ret, size, "%.*s/native%s", (int)(rest - pointer), pointer, rest);
	else
		snprintf(ret, size, "%s", pointer);
}

static void library_is_bad(void *data, const struct host_end *end)
{
	struct job *job = data;
	char pointer[256] = "/library";
	char text[512];

	if (end->reason == HOST_REFUSED) {
		manifest_pointer(end->pointer, pointer, sizeof(pointer));
		snprintf(text, sizeof(text), "%s", end->message);
	} else {
		int length = snprintf(text, sizeof(text), "loading the library failed: ");

		host_describe_end(end, text + length, sizeof(text) - (size_t)length);
	}
	fail(job, pointer, text);
	end_check(job);
}

static void begin_check(struct job *job)
{
	static const struct host_handler handler = {
		.loaded = library_is_good,
		.ended = library_is_bad,
	};
	const struct config *config = job->loader->options.config;
	struct host_options options = {
		.program = job->loader->options.host_program,
		.toolbox_id = job->toolbox->id,
		.load = job->toolbox->load,
		.load_size = job->toolbox->load_size,
		.output_max = config->limits.host_output_bytes,
		.stderr_max = config->limits.stderr_bytes,
		.start_timeout_ms = config->start_timeout_ms,
	};
	char text[512];
	int r = host_spawn(job->loader->loop, &options, &handler, job, &job->check);

	if (r == 0) {
		job->loader->n_checks++;
		return;
	}
	snprintf(text, sizeof(text), "the host program %s cannot be started: %s",
		options.program, strerror(-r));
	fail(job, "/library", text);
}

/* 0 or -ENOMEM. */
static int begin_job(struct job *job)
{
	struct toolbox *previous = find_previous(job->loader, job->path);
	int r;

	if (job->is_folder) {
		fail(job, "", "folders of drop-in programs are not supported by this version");
		return 0;
	}
	if (previous && is_unchanged(previous)) {
		job->toolbox = toolbox_ref(previous);
		return 0;
	}
	r = manifest_read(job->loader->reader, job->path, &job->toolbox, &job->problems);
	if (r == 0)
		begin_check(job);
	return r < 0 ? r : 0;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct job *)a)->path, ((const struct job *)b)->path);
}

/* Of two files that claim one id the first by path wins. */
static void refuse_twins(struct loader *loader)
{
	char text[512];

	qsort(loader->jobs, loader->n_jobs, sizeof(*loader->jobs), compare_paths);
	for (size_t i = 0; i < loader->n_jobs; i++)
		for (size_t j = 0; j < i && loader->jobs[i].toolbox; j++) {
			struct job *first = &loader->jobs[j];

			if (!first->toolbox ||
				strcmp(first->toolbox->id, loader->jobs[i].toolbox->id) != 0)
				continue;
			snprintf(text, sizeof(text), "the toolbox id '%s' is taken by %s",
				first->toolbox->id, first->path);
			fail(&loader->jobs[i], "/toolbox_id", text);
		}
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

/* What fails now and was good before stays as it was. */
static void keep_last_good(struct loader *loader)
{
	for (size_t i = 0; i < loader->n_jobs; i++) {
		struct job *job = &loader->jobs[i];
		struct toolbox *previous = find_previous(loader, job->path);

		if (!job->toolbox && previous && !is_taken(loader, previous->id))
			job->toolbox = toolbox_ref(previous);
	}
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

/* Tell what failed, and what is left out on purpose. */
static int add_notes(struct loader *loader, struct catalogue *catalogue)
{
	struct config *config = (struct config *)loader->options.config;
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
			? catalogue_add_failure(catalogue, job->toolbox ? job->toolbox->id : id, text.data)
			: -ENOMEM;
	}
	for (size_t i = 0; i < loader->n_jobs && r == 0; i++) {
		const struct toolbox *toolbox = loader->jobs[i].toolbox;

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

static struct catalogue *make_catalogue(struct loader *loader)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	cleanup_free struct toolbox **toolboxes =
		calloc(loader->n_jobs + 1, sizeof(*toolboxes));
	size_t n_toolboxes = 0;

	if (!toolboxes)
		return NULL;
	refuse_twins(loader);
	refuse_too_many(loader);
	keep_last_good(loader);
	for (size_t i = 0; i < loader->n_jobs; i++)
		if (loader->jobs[i].toolbox)
			toolboxes[n_toolboxes++] = loader->jobs[i].toolbox;
	catalogue = catalogue_new(toolboxes, n_toolboxes, offers,
		(struct config *)loader->options.config, loader->options.generation);
	if (!catalogue || add_notes(loader, catalogue) < 0)
		return NULL;
	return take_ptr(catalogue);
}

static void finish(struct loader *loader)
{
	struct catalogue *catalogue = make_catalogue(loader);
	loader_done_function done = loader->done;
	void *data = loader->data;

	for (size_t i = 0; i < loader->n_jobs; i++)
		for (size_t j = 0; j < loader->jobs[i].problems.n_items; j++)
			loader->problem(
				data, loader->jobs[i].path, &loader->jobs[i].problems.items[j]);
	loader_free(loader);
	done(data, catalogue, catalogue ? 0 : -ENOMEM);
}

static void abandon(struct loader *loader, int error)
{
	loader_done_function done = loader->done;
	void *data = loader->data;

	loader_free(loader);
	done(data, NULL, error);
}

/* Go on for a slice of time; the loop serves others in between. */
static void work(void *data)
{
	struct loader *loader = data;
	uint64_t end_ms = clock_now_ms() + LOADER_SLICE_MS;

	while (loader->next < loader->n_jobs && loader->n_checks < LOADER_CHECKS_MAX) {
		int r = begin_job(&loader->jobs[loader->next++]);

		if (r < 0) {
			abandon(loader, r);
			return;
		}
		if (clock_now_ms() >= end_ms && loader->next < loader->n_jobs) {
			continue_later(loader);
			return;
		}
	}
	if (loader->next == loader->n_jobs && loader->n_checks == 0)
		finish(loader);
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
	r = loop_timer_init(&loader->work, loop, work, loader);
	if (r < 0)
		return r;
	*ret_loader = take_ptr(loader);
	return 0;
}

static void set_going(struct loader *loader, loader_problem_function problem,
	loader_done_function done, void *data)
{
	loader->problem = problem;
	loader->done = done;
	loader->data = data;
	continue_later(loader);
}

int loader_start(struct loop *loop, const struct loader_options *options,
	loader_problem_function problem, loader_done_function done, void *data,
	struct loader **ret_loader)
{
	const struct config_list *folders = &options->config->toolbox_dirs;
	cleanup(folders_listing_deinit) struct folders_listing listing = {0};
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = folders_list(
		(const char *const *)folders->items, folders->n_items, &listing);

	if (r == 0)
		r = new_loader(loop, options, listing.n_entries, &loader);
	for (size_t i = 0; r == 0 && i < listing.n_entries; i++)
		r = add_job(loader, listing.entries[i].path, listing.entries[i].is_folder);
	if (r < 0)
		return r;
	set_going(loader, problem, done, data);
	*ret_loader = take_ptr(loader);
	return 0;
}

int loader_start_files(struct loop *loop, const struct loader_options *options,
	const char *const *files, size_t n_files, loader_problem_function problem,
	loader_done_function done, void *data, struct loader **ret_loader)
{
	cleanup(loader_cleanup) struct loader *loader = NULL;
	int r = new_loader(loop, options, n_files, &loader);

	for (size_t i = 0; r == 0 && i < n_files; i++)
		r = add_job(loader, files[i], false);
	if (r < 0)
		return r;
	set_going(loader, problem, done, data);
	*ret_loader = take_ptr(loader);
	return 0;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < loader->n_jobs; i++) {
		host_free(loader->jobs[i].check);
		toolbox_unref(loader->jobs[i].toolbox);
		problems_deinit(&loader->jobs[i].problems);
		free(loader->jobs[i].path);
	}
	free(loader->jobs);
	manifest_reader_free(loader->reader);
	loop_timer_deinit(&loader->work);
	free(loader);
}
