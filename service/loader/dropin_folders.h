/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "loader/job.h"
#include "manifest/dropin/dropins.h"

/*
 * Folders of drop-in programs, and the optional manifest beside a folder:
 *
 *   home/        alone, or overlaid by a home.json of kind command without tools: a toolbox
 *   home.json    offers nothing by itself then; any other home.json wins, and the folder fails
 *
 * Without one beside it, a folder may have a manifest inside (manifest/folder_manifest.h): it is
 * the registration then, or overlays the programs of its folder.
 */

/* Find the partner of the file or folder @path: the manifest of a folder, or the folder of an
 * overlay. *ret_given is @path without '/' at its end; *ret_other is NULL without a partner. The
 * caller owns both. 0 or -ENOMEM. */
int dropin_folders_find_other(const char *path, char **ret_given, char **ret_other);

/* Set load_job.beside of each folder and of the file with its name. */
void dropin_folders_pair(struct load_jobs *jobs);

/* Find the manifests inside the folders, which are paired, and set load_job.is_overlay of the
 * manifests beside them. 0 or -ENOMEM. */
int dropin_folders_enter(struct load_jobs *jobs);

/* Read the folder at @job: its toolbox (unless there are no programs), the toolboxes beside its
 * programs, which the caller deinits in any case, the skipped programs, or its problems. 0, or a
 * negative errno when memory or descriptors are short. */
int dropin_folders_read(struct load_job *job, struct dropin_toolboxes *toolboxes);
