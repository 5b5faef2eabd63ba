/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/skipped.h"
#include "catalogue/package.h"
#include "loader/checker.h"
#include "loader/describe_cache.h"
#include "loader/loader.h"
#include "loader/sandbox_max.h"
#include "manifest/manifest.h"
#include "manifest/diagnose.h"

/*
 * The jobs of one load: one for each registered file or folder, in the order of their names, then
 * one for each member toolbox described by a package.
 *
 *   path ── read, check ──▶ toolbox           it is offered
 *                       ├─▶ package           of kind python: its toolboxes are jobs of their own
 *                       ├─▶ problems          it has failed
 *                       └─▶ skipped           it, or some of its tools, are not offered on purpose
 */

/* The folder of the last manifest that was looked at (loader/warn/writable.h). */
struct writable_folder {
	char *path;          /* NULL: there was none yet */
	bool is_real;        /* no part of the path is a link */
	struct buffer lines; /* a warning if others may write it */
};

void writable_folder_deinit(struct writable_folder *folder);

struct load_job {
	struct load_jobs *jobs; /* its package */
	char *path;
	/* the registered folder around the manifest; NULL: the manifest is registered itself */
	char *folder;
	char *id;     /* the id of a member toolbox, or of a server in a list; else NULL */
	char *server; /* the server's key in its file; else NULL */
	bool is_folder;
	bool is_overlay;         /* the manifest overlays the programs of the folder beside it */
	char *overlay;           /* the overlay inside a folder of programs; or NULL */
	struct load_job *beside; /* the job of NAME.json for the folder NAME, and back; or NULL */
	struct package
		*previous; /* this file's package in the previous catalogue, borrowed; or NULL */
	struct failed
		*failed; /* the earlier trial of this file, borrowed; after failures_repeat(), only
	                        * one that is repeated; or NULL */
	bool is_refused; /* its manifest is refused by nothing but the bytes of @files */
	bool is_without_room; /* there is no room for its tools */
	/* the earlier trial of this file, borrowed, if it ended at its gate; or NULL */
	struct failed *closed;
	uint64_t gate;       /* failures_gate_digest() of what was at the gate */
	bool is_gate_closed; /* an example has failed */
	struct origins files;
	bool is_kept; /* it has failed, and what the previous package has is offered instead */
	struct package *package; /* held; NULL: it could not be read */
	struct toolbox *toolbox; /* the package's; NULL: the job has failed, or offers no toolbox
	                          * itself */
	struct diagnostics problems;
	struct skipped_list skipped;
	char key[DESCRIBE_CACHE_KEY_BYTES]; /* the key of its description; "": not known */
	struct buffer described;            /* the text of its host */
	bool is_described;
	bool asks;        /* its server is to be asked for its tools */
	int cache_error;  /* 0, or why the description could not be cached */
	int64_t asked_ns; /* when its host was asked for a description (CLOCK_REALTIME) */
};

struct load_jobs {
	struct loader_options options;
	struct manifest_reader *reader; /* owned */
	struct checker *checker;        /* owned */
	struct load_job **items;
	size_t n_items;
	size_t n_files; /* the first so many are files and folders, the others member toolboxes */
	struct text_list
		/* ids of packages with servers asked, or answered, since earlier loads */
		questioned;
	struct writable_folder near;
	uint64_t configuration;  /* digest of the configuration (failure/failures.h) */
	size_t n_kept_toolboxes; /* toolboxes that go on unchanged, and their tools */
	size_t n_kept_tools;
	bool has_deferred; /* a host is to be asked for a description later */
	bool has_unlisted; /* a server without a previous list could not be asked */
};

/* Free the jobs and what they share. */
void load_jobs_deinit(struct load_jobs *jobs);

/* Free what the jobs have read: only their reports stay. */
void load_jobs_drop(struct load_jobs *jobs);

/* Append a job for the file or folder at @path (copied). NULL without memory. */
struct load_job *load_jobs_add(struct load_jobs *jobs, const char *path, bool is_folder);

/* Set job->previous of each job to the package of its file in the previous catalogue, unless there
 * were several. 0 or -ENOMEM. */
int load_jobs_find_previous(struct load_jobs *jobs);

/* Return the package of the file at @path in the previous catalogue, borrowed; or NULL. */
struct package *load_jobs_find_package(const struct load_jobs *jobs, const char *path);

/* Return whether the previous package of @job was made of the same manifest and configuration as
 * @package, just read, and worked. */
bool load_job_is_same(const struct load_job *job, const struct package *package);

/* Return whether @package, the last good version of what @job has, may be offered in its place: not
 * with what the operator has forbidden or narrowed since, nor with tools that have not passed its
 * gate. Else the reason is in @ret_refusal; none, if @package is what has failed. */
bool load_job_may_keep(const struct load_job *job, const struct package *package,
	struct sandbox_refusal *ret_refusal);

/* Return the same for @job, which has failed, with a warning if the version is lost. */
bool load_job_keeps(struct load_job *job, const struct package *package);

/* Whether a job offers a toolbox called @id. */
bool load_jobs_have_id(const struct load_jobs *jobs, const char *id);

/* Make @package (may be NULL), by taking its reference over, the package of @job in place of
 * another. The previous package takes note of the files of the replaced package. If @package is of
 * a kind with one toolbox, the job offers the toolbox. */
void load_job_set_package(struct load_job *job, struct package *package);

/* Add the mistake @text to @job, about the place @pointer of its manifest: for a server of a list,
 * the manifest of its entry in the file. */
void load_job_report(struct load_job *job, enum diagnostic_severity severity, const char *pointer,
	const char *text);

/* Add the error @text, about the place @pointer of its manifest, to @job, which offers nothing
 * then. A lack of interpreters is no error if the manifest names none ("auto"): the package is
 * skipped with @text as the reason. */
void load_job_fail(struct load_job *job, const char *pointer, const char *text);
