/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/checker.h"
#include "core/loader.h"
#include "core/told.h"
#include "registry/dropins.h"
#include "registry/folders.h"
#include "registry/manifest.h"

/* What the parts of a loader share: loader.c reads files, loader_folders.c folders of drop-in
 * programs. */

/* One file (or folder) that is registered. */
struct job {
	struct loader *loader;
	char *path;
	bool is_folder;
	struct job *beside; /* of a folder NAME the job of NAME.json, and the other way round */
	struct toolbox *previous; /* what this file was before (borrowed), or NULL */
	struct toolbox *toolbox;  /* NULL: it has failed, or is nothing by itself */
	struct problems problems;
	struct dropins_absences absences; /* of a folder: programs that are not offered */
	char key[TOLD_KEY_BYTES];         /* of what its toolbox tells; "": not known */
};

struct loader {
	struct loop *loop;
	struct loader_options options;
	loader_problem_function problem;
	loader_done_function done;
	void *data;
	struct manifest_reader *reader;
	struct folders_listing listing; /* what is registered; empty for given files */
	struct job *jobs;               /* by name */
	size_t n_jobs;
	size_t next;                        /* the first that was not begun */
	const struct toolbox_library *seen; /* the last one that was found unchanged */
	struct checker *checker;
	struct loop_timer work;
};

/* What belongs to the file or folder @path (*ret_given: the same without '/' at its end): the
 * manifest of a folder, or the folder of a manifest that is nothing without one; *ret_other is NULL
 * when nothing does. Both are the caller's. 0 or -ENOMEM. */
int loader_find_other(const char *path, char **ret_given, char **ret_other);

/* Tell each folder of drop-in programs which file has its name, and that file. */
void loader_pair_up(struct loader *loader);

/* Read the folder of drop-in programs at @job: its toolbox (none when there are no programs), its
 * absences, or its problems. 0, or a negative errno when memory or descriptors are short. */
int loader_read_folder(struct job *job);

/* Whether @job is a manifest that says nothing but what frames the folder of its name. */
bool loader_is_frame(const struct job *job);

/* Tell which drop-in programs are not offered. 0 or -ENOMEM. */
int loader_add_left_out(const struct loader *loader, struct catalogue *catalogue);
