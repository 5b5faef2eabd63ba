/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/checker.h"
#include "loader/loader.h"
#include "loader/described.h"
#include "manifest/dropins.h"
#include "manifest/folders.h"
#include "manifest/manifest.h"

/* What the parts of a loader share: loader.c reads files, dropin_folders.c folders of drop-in
 * programs, members.c makes the several toolboxes of one manifest, assemble.c makes
 * the catalogue of all. */

/* One file (or folder) that is registered; or a member of what such a file stands for. */
struct load_job {
	struct loader *loader;
	char *path;
	char *id; /* of a member; else NULL */
	bool is_folder;
	struct load_job
		*beside; /* of a folder NAME the job of NAME.json, and the other way round */
	struct toolbox *previous; /* what this file was before (borrowed), or NULL */
	struct toolbox *toolbox;  /* NULL: it has failed, or is nothing by itself */
	struct toolbox *package;  /* one with members, which are jobs of their own; else NULL */
	struct problems problems;
	struct skipped_list skipped;        /* what is not offered of it */
	char key[DESCRIBE_CACHE_KEY_BYTES]; /* of what its toolbox tells; "": not known */
	int64_t asked_ns; /* of what its host tells: since when (CLOCK_REALTIME) */
};

struct loader {
	struct loop *loop;
	struct loader_options options;
	loader_problem_function problem;
	loader_done_function done;
	void *data;
	struct manifest_reader *reader;
	struct folders_listing listing; /* what is registered; empty for given files */
	struct load_job **jobs;         /* by name; then the members */
	size_t n_jobs;
	size_t n_files;                     /* the first so many are those that are registered */
	size_t next;                        /* the first that was not begun */
	const struct toolbox_library *seen; /* the last one that was found unchanged */
	struct checker *checker;
	bool has_deferred; /* somebody was to be asked later */
	struct loop_timer work;
};

/* What belongs to the file or folder @path (*ret_given: the same without '/' at its end): the
 * manifest of a folder, or the folder of a manifest that is nothing without one; *ret_other is NULL
 * when nothing does. Both are the caller's. 0 or -ENOMEM. */
int loader_find_other(const char *path, char **ret_given, char **ret_other);

/* Tell each folder of drop-in programs which file has its name, and that file. */
void loader_pair_up(struct loader *loader);

/* Read the folder of drop-in programs at @job: its toolbox (none when there are no programs), its
 * skipped, or its problems. 0, or a negative errno when memory or descriptors are short. */
int loader_read_folder(struct load_job *job);

/* Whether @job is a manifest that says nothing but what frames the folder of its name. */
bool loader_is_overlay(const struct load_job *job);

/* What is wrong with @job: @text, at the place @pointer of its manifest. It offers nothing then. */
void loader_fail(struct load_job *job, const char *pointer, const char *text);

/* Whether the filter lets any tool of @toolbox be seen; of one whose tools are still to be told,
 * any at all. */
bool loader_offers_any(const struct loader *loader, const struct toolbox *toolbox);

/* Whether the configuration allows no sandbox as wide as that of @toolbox. */
bool loader_is_too_wide(const struct loader *loader, const struct toolbox *toolbox);

/* The catalogue of what all jobs have come to. NULL without memory. */
struct catalogue *loader_make_catalogue(struct loader *loader);

/* Whether a job offers the id @id already. */
bool loader_is_taken(const struct loader *loader, const char *id);

/* One more job for the file or folder at @path. NULL without memory. */
struct load_job *loader_add_job(struct loader *loader, const char *path, bool is_folder);

/*
 * Go on with @job, whose toolbox was just read and has members: it becomes the job's host, and the
 * members become jobs, at once if what the host has told before is known, else when it was asked. 0
 * or -ENOMEM.
 */
int loader_begin_members(struct load_job *job);

/* The host of such a @job has told its toolboxes. 0 or -ENOMEM. */
int loader_accept_members(struct load_job *job, const char *described, size_t size);

/* It could not: @text for the place @pointer of its manifest. True when that is no mistake, since
 * the manifest insists on nothing; it is told with what is not offered then. */
bool loader_excuses(struct load_job *job, const char *pointer, const char *text);

/* Offer the members that @job had before. 0 or -ENOMEM. */
int loader_keep_members(struct load_job *job);
