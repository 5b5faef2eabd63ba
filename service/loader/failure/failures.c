/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/failure/failures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/digest.h"

static int compare_files(const void *a, const void *b)
{
	return strcmp((*(const struct catalogue_failure *const *)a)->file,
		(*(const struct catalogue_failure *const *)b)->file);
}

static int compare_path_with_file(const void *path, const void *failure)
{
	return strcmp(path, (*(const struct catalogue_failure *const *)failure)->file);
}

/* Return the digest of all that a configuration does to manifests. */
static uint64_t digest_configuration(const struct config *config)
{
	uint64_t digest = digest_bytes(DIGEST_SEED, config->merged.data, config->merged.size);

	for (size_t i = 0; i < config->enabled.names.n_items; i++)
		digest = digest_text(digest, config->enabled.names.items[i]);
	digest = digest_text(digest, "");
	for (size_t i = 0; i < config->disabled.names.n_items; i++)
		digest = digest_text(digest, config->disabled.names.items[i]);
	return digest;
}

int failures_find(struct load_jobs *jobs)
{
	const struct catalogue *previous = jobs->options.previous;
	size_t n_all = previous ? catalogue_n_failures(previous) : 0;
	cleanup_free const struct catalogue_failure **failures =
		calloc(n_all + 1, sizeof(*failures));
	size_t n_failures = 0;

	if (!failures)
		return -ENOMEM;
	jobs->configuration = digest_configuration(jobs->options.config);
	for (size_t i = 0; i < n_all; i++)
		if (catalogue_failure(previous, i)->failed)
			failures[n_failures++] = catalogue_failure(previous, i);
	qsort(failures, n_failures, sizeof(*failures), compare_files);
	for (size_t i = 0; i < jobs->n_items; i++) {
		const struct catalogue_failure **found = bsearch(jobs->items[i]->path, failures,
			n_failures, sizeof(*failures), compare_path_with_file);

		if (found && (*found)->failed->gate)
			jobs->items[i]->closed = (*found)->failed;
		else
			jobs->items[i]->failed = found ? (*found)->failed : NULL;
	}
	return 0;
}

static bool is_room_for(const struct load_jobs *jobs, size_t n_tools)
{
	const struct config_limits *limits = &jobs->options.config->limits;

	return jobs->n_kept_toolboxes < limits->toolboxes &&
	       jobs->n_kept_tools + n_tools <= limits->tools;
}

int failures_repeat(struct load_job *job)
{
	struct failed *failed = job->failed;
	const struct load_jobs *jobs = job->jobs;

	job->failed = NULL;
	if (!failed || failed->configuration != jobs->configuration ||
		(failed->is_about_room && is_room_for(jobs, failed->n_tools)) ||
		!origins_hold(&failed->files))
		return 0;
	job->failed = failed;
	if (failed->is_about_room)
		failures_refuse_room(job);
	for (size_t i = 0; !failed->is_about_room && i < failed->problems->n_items; i++) {
		const struct diagnostic *problem = &failed->problems->items[i];

		diagnostics_add(&job->problems, problem->severity, problem->line, problem->pointer,
			"%s", problem->text);
	}
	/* Errors without room in the list are counted, too. */
	if (!failed->is_about_room)
		job->problems.n_errors = failed->problems->n_errors;
	return 1;
}

uint64_t failures_gate_digest(const struct package *package)
{
	uint64_t digest = digest_bytes(DIGEST_SEED, &package->digest, sizeof(package->digest));
	uint64_t libraries = toolbox_library_digest(&package->library);

	return digest_bytes(digest, &libraries, sizeof(libraries)) | 1;
}

bool failures_repeat_gate(struct load_job *job)
{
	struct failed *closed = job->closed;

	if (!closed || job->jobs->options.asks_servers ||
		closed->configuration != job->jobs->configuration ||
		closed->gate != failures_gate_digest(job->package) ||
		!origins_are_same(&closed->files, &job->package->programs))
		return false;
	for (size_t i = 0; i < closed->problems->n_items; i++)
		if (closed->problems->items[i].severity == DIAGNOSTIC_ERROR)
			load_job_fail(job, "", closed->problems->items[i].text);
	job->failed = job->toolbox ? NULL : closed;
	return job->failed;
}

void failures_count(struct load_job *job)
{
	if (!job->toolbox || !is_room_for(job->jobs, job->toolbox->n_tools))
		return;
	job->jobs->n_kept_toolboxes++;
	job->jobs->n_kept_tools += job->toolbox->n_tools;
}

void failures_refuse_room(struct load_job *job)
{
	const struct config_limits *limits = &job->jobs->options.config->limits;
	char text[128];

	job->is_without_room = true;
	snprintf(text, sizeof(text),
		"there is room for %u toolboxes and %u tools (limits.toolboxes, limits.tools)",
		limits->toolboxes, limits->tools);
	load_job_fail(job, "", text);
}

/* Return whether the same manifest would be refused the same way. */
static bool is_lasting(const struct load_job *job)
{
	const struct package *package = job->package;

	if (job->is_gate_closed)
		return !job->is_without_room;
	return job->is_refused ||
	       (job->is_without_room && !job->is_folder && !package->is_entry &&
		       (package->kind == KIND_NATIVE || package->kind == KIND_BUS));
}

/* Copy the files and the problems of @job to @failed. 0 or -ENOMEM. */
static int fill_trial(struct failed *failed, const struct load_job *job)
{
	const struct origins *files =
		job->is_refused || job->is_gate_closed ? &job->files : &job->package->definition;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->n_items; i++)
		r = origins_copy(&failed->files, &files->items[i]);
	if (r < 0 || failed->is_about_room)
		return r;
	failed->problems = calloc(1, sizeof(*failed->problems));
	if (!failed->problems)
		return -ENOMEM;
	for (size_t i = 0; i < job->problems.n_items; i++)
		diagnostics_add(failed->problems, job->problems.items[i].severity,
			job->problems.items[i].line, job->problems.items[i].pointer, "%s",
			job->problems.items[i].text);
	failed->problems->n_errors = job->problems.n_errors;
	return 0;
}

int failures_note(const struct load_job *job, const char *id, struct failed **ret_failed)
{
	cleanup(failed_cleanup) struct failed *failed = NULL;

	*ret_failed = failed_ref(job->failed);
	if (job->failed || !is_lasting(job))
		return 0;
	failed = failed_new(id);
	if (!failed)
		return -ENOMEM;
	failed->configuration = job->jobs->configuration;
	failed->is_about_room = job->is_without_room;
	failed->gate = job->is_gate_closed ? job->gate : 0;
	failed->n_tools = job->package ? job->package->n_tools : 0;
	if (fill_trial(failed, job) < 0)
		return -ENOMEM;
	*ret_failed = take_ptr(failed);
	return 0;
}
