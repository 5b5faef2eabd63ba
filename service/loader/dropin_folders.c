/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/dropin_folders.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/dropin/dropins.h"
#include "manifest/folder_manifest.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int dropin_folders_find_other(const char *path, char **ret_given, char **ret_other)
{
	cleanup_free char *given = strdup(path);
	cleanup_free char *other = NULL;
	size_t stem_size;
	const char *stem;
	int is_there;

	if (!given)
		return -ENOMEM;
	for (size_t size = strlen(given); size > 1 && given[size - 1] == '/'; size--)
		given[size - 1] = '\0';
	stem = manifest_stem(given, &stem_size);
	if (asprintf(&other, "%.*s%s", (int)(stem - given + (ptrdiff_t)stem_size), given,
		    stem[stem_size] ? "" : ".json") < 0) {
		other = NULL;
		return -ENOMEM;
	}
	if (stem[stem_size])
		is_there = is_folder(other) ? dropins_is_overlay(given) : 0;
	else
		is_there = is_folder(given) && access(other, F_OK) == 0;
	if (is_there < 0)
		return is_there;
	*ret_given = take_ptr(given);
	*ret_other = is_there ? take_ptr(other) : NULL;
	return 0;
}

/* Whether both have one name, but for the ".json" of the file. */
static bool are_beside(const struct load_job *folder, const struct load_job *file)
{
	size_t folder_size;
	size_t file_size;
	const char *folder_name = manifest_stem(folder->path, &folder_size);
	const char *file_name = manifest_stem(file->path, &file_size);

	return folder_size == file_size && file_name[file_size] != '\0' &&
	       memcmp(folder_name, file_name, file_size) == 0;
}

void dropin_folders_pair(struct load_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_items; i++)
		for (size_t j = 0; jobs->items[i]->is_folder && j < jobs->n_items; j++) {
			struct load_job *folder = jobs->items[i];
			struct load_job *file = jobs->items[j];

			if (file->is_folder || !are_beside(folder, file))
				continue;
			folder->beside = file;
			file->beside = folder;
		}
}

/* Make @job the job of the manifest in its folder, unless the manifest only overlays the programs
 * of the folder. 0 or -ENOMEM. */
static int enter_folder(struct load_job *job)
{
	cleanup_free char *path = NULL;
	int r = folder_manifest_find(job->path, &path, &job->problems);

	if (r != 0 || !path)
		return r < 0 ? r : 0;
	r = dropins_is_overlay(path);
	if (r != 0) {
		job->overlay = take_ptr(path);
		return r < 0 ? r : 0;
	}
	job->folder = job->path;
	job->path = take_ptr(path);
	job->is_folder = false;
	return 0;
}

int dropin_folders_enter(struct load_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n_items; i++) {
		struct load_job *job = jobs->items[i];
		int r = 0;

		if (job->is_folder && !job->beside)
			r = enter_folder(job);
		else if (!job->is_folder && job->beside)
			r = dropins_is_overlay(job->path);
		if (r < 0)
			return r;
		job->is_overlay = r > 0;
	}
	return 0;
}

int dropin_folders_read(struct load_job *job, struct dropin_toolboxes *toolboxes)
{
	const char *overlay = job->beside ? job->beside->path : job->overlay;
	struct package *package = NULL;
	int r;

	if (job->problems.n_errors > 0)
		return 0;
	if (job->beside && !job->beside->is_overlay) {
		diagnostics_add(&job->problems, DIAGNOSTIC_ERROR, 0, "",
			"%s has this name, and is not a manifest of kind \"command\" without "
			"tools: only it is used",
			overlay);
		return 0;
	}
	r = dropins_read(job->jobs->reader, job->path, overlay, &package, toolboxes, &job->skipped,
		&job->problems);
	load_job_set_package(job, package);
	return r < 0 ? r : 0;
}
