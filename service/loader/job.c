/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "loader/gate/gate.h"
#include "loader/operator/paths.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"

void writable_folder_deinit(struct writable_folder *folder)
{
	free(folder->path);
	buffer_deinit(&folder->lines);
	*folder = (struct writable_folder){0};
}

static void job_free(struct load_job *job)
{
	package_unref(job->package);
	buffer_deinit(&job->described);
	diagnostics_deinit(&job->problems);
	skipped_list_deinit(&job->skipped);
	origins_deinit(&job->files);
	free(job->folder);
	free(job->overlay);
	free(job->id);
	free(job->server);
	free(job->path);
	free(job);
}

void load_jobs_deinit(struct load_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_items; i++)
		job_free(jobs->items[i]);
	free(jobs->items);
	manifest_reader_free(jobs->reader);
	checker_free(jobs->checker);
	text_list_deinit(&jobs->questioned);
	writable_folder_deinit(&jobs->near);
	*jobs = (struct load_jobs){0};
}

void load_jobs_drop(struct load_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_items; i++) {
		load_job_set_package(jobs->items[i], NULL);
		buffer_deinit(&jobs->items[i]->described);
	}
	manifest_reader_free(take_ptr(jobs->reader));
}

struct load_job *load_jobs_add(struct load_jobs *jobs, const char *path, bool is_folder)
{
	cleanup_free struct load_job *job = calloc(1, sizeof(*job));

	if (!job || array_grow(jobs->items, jobs->n_items) < 0)
		return NULL;
	job->jobs = jobs;
	job->is_folder = is_folder;
	job->path = strdup(path);
	if (!job->path)
		return NULL;
	jobs->items[jobs->n_items++] = job;
	return take_ptr(job);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp((*(struct package *const *)a)->file, (*(struct package *const *)b)->file);
}

static int compare_path_with_file(const void *path, const void *package)
{
	return strcmp(path, (*(struct package *const *)package)->file);
}

int load_jobs_find_previous(struct load_jobs *jobs)
{
	const struct catalogue *previous = jobs->options.previous;
	size_t n_toolboxes = previous ? catalogue_n_toolboxes(previous) : 0;
	cleanup_free struct package **packages = calloc(n_toolboxes + 1, sizeof(struct package *));
	size_t n_packages = 0;

	if (!packages)
		return -ENOMEM;
	for (size_t i = 0; i < n_toolboxes; i++) {
		struct package *package = catalogue_toolbox(previous, i, NULL, NULL)->package;

		if (!package->is_entry)
			packages[n_packages++] = package;
	}
	qsort(packages, n_packages, sizeof(*packages), compare_files);
	for (size_t i = 0; i < jobs->n_items; i++) {
		struct package **found = bsearch(jobs->items[i]->path, packages, n_packages,
			sizeof(*packages), compare_path_with_file);

		jobs->items[i]->previous = found ? *found : NULL;
	}
	return 0;
}

struct package *load_jobs_find_package(const struct load_jobs *jobs, const char *path)
{
	const struct catalogue *previous = jobs->options.previous;

	for (size_t i = 0; previous && i < catalogue_n_toolboxes(previous); i++) {
		struct package *package = catalogue_toolbox(previous, i, NULL, NULL)->package;

		if (strcmp(package->file, path) == 0)
			return package;
	}
	return NULL;
}

bool load_job_is_same(const struct load_job *job, const struct package *package)
{
	const struct package *previous = job->previous;

	return previous && previous->is_checked && previous->digest == package->digest &&
	       previous->is_left_out == package->is_left_out &&
	       operator_settings_hold(job->jobs->options.config, previous);
}

bool load_job_may_keep(const struct load_job *job, const struct package *package,
	struct sandbox_refusal *ret_refusal)
{
	const struct loader_options *options = &job->jobs->options;
	const char *text = "";

	if (package != job->package && sandbox_max_refuses(options->config, package, ret_refusal))
		return false;
	if (package != job->package && !operator_settings_hold(options->config, package))
		text = "its configuration is another one now";
	else if (package != job->package && options->gate_ms > 0 && package->has_gate &&
		 gate_awaits(options->config, package))
		text = "a tool of it has not passed its gate";
	else if (package != job->package)
		return true;
	snprintf(ret_refusal->text, sizeof(ret_refusal->text), "%s", text);
	return false;
}

bool load_job_keeps(struct load_job *job, const struct package *package)
{
	const struct diagnostic *first = job->problems.items;
	struct sandbox_refusal refusal;
	bool is_said;

	if (load_job_may_keep(job, package, &refusal))
		return true;
	is_said = job->problems.n_items > 0 && strcmp(first->text, refusal.text) == 0;
	if (*refusal.text && !is_said)
		diagnostics_add(&job->problems, DIAGNOSTIC_WARNING, 0, "",
			"the last good version of '%s' does not go on: %s", package->id,
			refusal.text);
	return false;
}

bool load_jobs_have_id(const struct load_jobs *jobs, const char *id)
{
	for (size_t i = 0; i < jobs->n_items; i++)
		if (jobs->items[i]->toolbox && strcmp(jobs->items[i]->toolbox->id, id) == 0)
			return true;
	return false;
}

void load_job_set_package(struct load_job *job, struct package *package)
{
	if (package && package == job->previous && job->package && job->package != package)
		package_renew(package, job->package);
	package_unref(job->package);
	job->package = package;
	job->toolbox = NULL;
	if (!package || kind_facts(package->kind)->has_members)
		return;
	check(package->n_toolboxes == 1);
	job->toolbox = package->toolboxes[0];
}

/* Whether @job may fail at @pointer, since its manifest insists on no interpreter. */
static bool is_excused(const struct load_job *job, const char *pointer)
{
	return job->package && job->package->python.is_auto && strcmp(pointer, "/python") == 0;
}

/* Write the place in the file of @job for @pointer, a place of its manifest. */
static void write_place(const struct load_job *job, const char *pointer, struct buffer *out)
{
	static const char server[] = "/mcp";

	if (!job->server) {
		buffer_append_string(out, pointer);
		return;
	}
	buffer_append_string(out, "/mcpServers");
	json_pointer_append(out, job->server, strlen(job->server));
	if (strncmp(pointer, server, strlen(server)) == 0)
		buffer_append_string(out, pointer + strlen(server));
}

void load_job_report(struct load_job *job, enum diagnostic_severity severity, const char *pointer,
	const char *text)
{
	cleanup(buffer_deinit) struct buffer place = {0};

	write_place(job, pointer, &place);
	pointer = buffer_terminate(&place) ? place.data : "";
	diagnostics_add(&job->problems, severity, *pointer ? manifest_line(job->path, pointer) : 0,
		pointer, "%s", text);
}

void load_job_fail(struct load_job *job, const char *pointer, const char *text)
{
	if (is_excused(job, pointer) && skipped_list_add(&job->skipped, NULL, text) == 0)
		return;
	load_job_report(job, DIAGNOSTIC_ERROR, pointer, text);
	job->toolbox = NULL;
}
