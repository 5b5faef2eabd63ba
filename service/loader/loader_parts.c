/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/loader_inside.h"
#include "util/cleanup.h"
#include "util/stamp.h"

/*
 * Manifests that stand for several toolboxes (kind python): the job of the file has the host, each
 * part is a job of its own, so that ids, filters and limits see toolboxes like any other.
 *
 *   told before, and still so ──┐
 *   kept from an earlier start ─┼─▶ parts ── the same text as before? ──▶ the parts of before
 *   a short-lived host ─────────┘                                         go on, with their hosts
 */

/* Whether the host of before was made of the same manifest and configuration. */
static bool is_same_host(const struct job *job)
{
	const struct toolbox *previous = job->previous;

	return previous && kind_facts(previous->kind)->has_parts && previous->told &&
	       previous->digest == job->host->digest && previous->settings == job->host->settings;
}

/* ── parts ───────────────────────────────────────────────────────────────────────────────────── */

/* What is wrong with a part is told with its name, since it stands in no file. */
static void move_problems(const struct part *part, struct job *job)
{
	for (size_t i = 0; i < part->problems.n_items; i++) {
		const struct problem *problem = &part->problems.items[i];

		problems_add_line(&job->problems, problem->severity, 0, "", "%s: %s%s%s",
			part->id ? part->id : "a ToolBox", problem->pointer,
			*problem->pointer ? ": " : "", problem->text);
	}
}

/* What the configuration says of the processes of a part, which has none of its own: a sandbox that
 * somebody counts on, and that would not hold, refuses it. */
static void check_settings(struct job *job, const struct job *host)
{
	const struct config_toolbox *settings =
		config_toolbox_find(job->loader->options.config, job->id);
	bool is_refused = settings && settings->has_sandbox;

	if (!job->toolbox || !settings || (!is_refused && !settings->has_process))
		return;
	problems_add_line(&job->problems, is_refused ? PROBLEM_ERROR : PROBLEM_WARNING, 0, "",
		"%s: \"%s\" of toolboxes.%s in the configuration cannot be heeded, since all "
		"ToolBoxes of this manifest share their processes; set it for toolboxes.%s, or "
		"bring this one by a manifest of its own (\"plugins\")",
		job->id, is_refused ? "sandbox" : "limits\" or \"env", job->id, host->host->id);
	if (is_refused)
		toolbox_unref(take_ptr(job->toolbox));
}

static int add_part(struct job *host, struct part *part)
{
	struct job *job = loader_add_job(host->loader, host->path, false);

	if (!job)
		return -ENOMEM;
	job->id = strdup(part->id ? part->id : host->host->id);
	if (!job->id)
		return -ENOMEM;
	move_problems(part, job);
	job->toolbox = take_ptr(part->toolbox);
	check_settings(job, host);
	job->absences = part->absences;
	part->absences = (struct absence_list){0};
	return 0;
}

/* The part @id of @host in the catalogue of before, or NULL. */
static struct toolbox *find_part(
	const struct loader *loader, const struct toolbox *host, const char *id)
{
	const struct catalogue *previous = loader->options.previous;
	long index = previous ? catalogue_find_toolbox(previous, id, strlen(id)) : -1;
	struct toolbox *found =
		index < 0 ? NULL : catalogue_toolbox(previous, (size_t)index, NULL, NULL);

	return found && found->host == host ? found : NULL;
}

/* Put the parts of before, with their processes, in the place of those in @parts. One that was not
 * offered before, since its id was taken, is new. */
static void reuse(struct job *job, struct parts *parts)
{
	struct toolbox *previous = job->previous;

	for (size_t i = 0; i < parts->n_items; i++) {
		struct part *part = &parts->items[i];
		struct toolbox *found;

		if (!part->toolbox)
			continue;
		found = find_part(job->loader, previous, part->id);
		if (found) {
			toolbox_unref(part->toolbox);
			part->toolbox = toolbox_ref(found);
		} else {
			toolbox_move_part(part->toolbox, previous);
		}
	}
	previous->depends = job->host->depends;
	toolbox_unref(job->host);
	job->host = toolbox_ref(previous);
}

/* Keep the text that the parts were made of. */
static int keep_told(struct toolbox *host, const char *told, size_t size)
{
	host->told = malloc(size + 1);
	if (!host->told)
		return -ENOMEM;
	memcpy(host->told, told, size);
	host->told_size = size;
	return 0;
}

/* Make the parts of what was told. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
static int take(struct job *job, const struct json_tape *tape, const char *told, size_t size)
{
	const struct toolbox *previous = job->previous;
	cleanup(parts_deinit) struct parts parts = {0};
	int r = keep_told(job->host, told, size);

	checker_note(job->host, tape);
	r = r ? r
	      : manifest_take_parts(job->loader->reader, tape, job->host, &parts, &job->problems);
	if (r)
		return r;
	if (is_same_host(job) && previous->told_size == size &&
		memcmp(previous->told, told, size) == 0)
		reuse(job, &parts);
	for (size_t i = 0; r == 0 && i < parts.n_items; i++)
		r = add_part(job, &parts.items[i]);
	return r;
}

static int take_text(struct job *job, const char *told, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, told, size, JSON_DEPTH_DEFAULT, NULL);

	return r ? r : take(job, &tape, told, size);
}

/* ── who is to be asked ──────────────────────────────────────────────────────────────────────── */

/* Whether what the host of before has told still holds. */
static bool holds(const struct job *job)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct toolbox *previous = job->previous;

	if (!is_same_host(job) || previous->depends == 0 ||
		json_tape_read(
			&tape, previous->told, previous->told_size, JSON_DEPTH_DEFAULT, NULL) != 0)
		return false;
	job->host->depends = told_depends(job->host, &tape, INT64_MAX);
	return job->host->depends == previous->depends;
}

/* Make the parts of what is known. 0, -ENOENT, or another negative errno. */
static int recall(struct job *job)
{
	cleanup(buffer_deinit) struct buffer told = {0};
	int r;

	if (job->loader->options.asks_again)
		return -ENOENT;
	if (holds(job))
		return take_text(job, job->previous->told, job->previous->told_size);
	r = told_recall_text(job->host, job->key, &told);
	return r ? r : take_text(job, told.data, told.size);
}

static int ask(struct job *job)
{
	struct loader *loader = job->loader;

	if (loader->options.defers) {
		loader->has_deferred = true;
		return absence_list_add(
			&job->absences, NULL, "a Python interpreter is being asked for its tools");
	}
	told_cache_key(job->host, job->key);
	job->asked_ns = stamp_now_ns();
	checker_add(loader->checker, job->host, job);
	return 0;
}

int loader_begin_parts(struct job *job)
{
	int r;

	job->host = take_ptr(job->toolbox);
	if (!config_toolbox_is_enabled(job->loader->options.config, job->host->id))
		return absence_list_add(&job->absences, NULL, "its toolbox is not enabled");
	r = recall(job);
	if (r == -ENOENT)
		r = ask(job);
	return r < 0 ? r : 0;
}

int loader_hear_parts(struct job *job, const char *told, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, told, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0) {
		job->host->depends = told_depends(job->host, &tape, job->asked_ns);
		if (job->host->depends)
			told_cache_write(job->key, told, size, job->host->depends);
		r = take(job, &tape, told, size);
	}
	return r < 0 ? r : 0;
}

bool loader_excuses(struct job *job, const char *pointer, const char *text)
{
	return job->host->python.is_auto && strcmp(pointer, "/python") == 0 &&
	       absence_list_add(&job->absences, NULL, text) == 0;
}

int loader_keep_parts(struct job *job)
{
	const struct catalogue *previous = job->loader->options.previous;
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(previous); i++) {
		struct toolbox *toolbox = catalogue_toolbox(previous, i, NULL, NULL);
		struct part part = {.id = toolbox->id};

		if (toolbox->host != job->previous || loader_is_taken(job->loader, toolbox->id))
			continue;
		part.toolbox = toolbox_ref(toolbox);
		r = add_part(job, &part);
		toolbox_unref(part.toolbox);
	}
	return r;
}
