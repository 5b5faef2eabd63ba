/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/writable.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/reader.h"
#include "util/cleanup.h"
#include "util/digest.h"

/* Append a line to @lines, ended by a NUL, if others may write @path, which has @status. */
static void judge_file(struct buffer *lines, const char *path, const struct stat *status)
{
	if (status->st_uid != 0 && status->st_uid != geteuid())
		buffer_printf(lines, "%s belongs to another user (uid %u)", path,
			(unsigned int)status->st_uid);
	else if (status->st_mode & (S_IWGRP | S_IWOTH))
		buffer_printf(lines, "%s may be written by other users (mode %04o)", path,
			(unsigned int)status->st_mode & 07777);
	else
		return;
	buffer_append_char(lines, '\0');
}

static void look_at_file(struct buffer *lines, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		judge_file(lines, path, &status);
}

/* Look at the file @path, and at its folder. */
static void look_with_folder(struct buffer *lines, const char *path)
{
	cleanup_free char *copy = strdup(path);

	look_at_file(lines, path);
	if (copy)
		look_at_file(lines, dirname(copy));
}

/* Let @near be the folder of @path. Most manifests in a row have one folder, which is looked at
 * once. Return whether there was memory. */
static bool come_near(struct writable_folder *near, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash - path) : 0;
	cleanup_free char *copy = NULL;
	cleanup_free char *real = NULL;
	const char *folder;

	if (near->path && size > 0 && slash[1] && strncmp(near->path, path, size) == 0 &&
		!near->path[size])
		return true;
	copy = strdup(path);
	folder = copy ? dirname(copy) : NULL;
	if (!folder || (near->path && strcmp(near->path, folder) == 0))
		return folder;
	writable_folder_deinit(near);
	near->path = strdup(folder);
	real = realpath(folder, NULL);
	near->is_real = real && strcmp(real, folder) == 0;
	look_at_file(&near->lines, folder);
	return near->path;
}

/* Look at the manifest or folder @path, and at what it is a link to. */
static void look_at_manifest(struct writable_folder *near, struct buffer *lines, const char *path)
{
	cleanup_free char *real = NULL;
	struct stat status;

	/* No link is on the way to the file: its folder is the real one. */
	if (come_near(near, path) && near->is_real && lstat(path, &status) == 0 &&
		!S_ISLNK(status.st_mode)) {
		judge_file(lines, path, &status);
		if (near->lines.size > 0)
			buffer_append(lines, near->lines.data, near->lines.size);
		return;
	}
	look_with_folder(lines, path);
	real = realpath(path, NULL);
	if (real && strcmp(real, path) != 0)
		look_with_folder(lines, real);
}

static void look_at_programs(struct buffer *lines, const struct package *package)
{
	const char *seen = "";

	for (size_t i = 0; package->kind == KIND_COMMAND && i < package->n_tools; i++) {
		const struct command *command = &package->tools[i]->command;
		const char *program = "";

		if (!command->is_shell && command->arguments.n_items > 0)
			program = command->arguments.items[0];
		/* Many tools in a row may have one program. */
		if (*program == '/' && strcmp(program, seen) != 0)
			look_at_file(lines, program);
		seen = program;
	}
}

static void look_at_interpreters(struct buffer *lines, const struct package *package)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *text = package->python.interpreters ? package->python.interpreters : "[]";

	if (json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return;
	json_each(i, &tape, 0) {
		cleanup_free char *path = json_string_dup(&tape, i, NULL);

		if (path && *path == '/')
			look_at_file(lines, path);
	}
}

void writable_report(struct load_job *job)
{
	cleanup(buffer_deinit) struct buffer lines = {0};
	struct package *package = job->package;
	const struct toolbox_library *library = &package->library;
	uint64_t before = job->previous ? job->previous->writable : 0;
	size_t size;

	look_at_manifest(&job->jobs->near, &lines, job->path);
	if (job->folder)
		look_at_manifest(&job->jobs->near, &lines, job->folder);
	do {
		if (toolbox_library_is_path(library))
			look_with_folder(&lines, library->path);
		library = library->next;
	} while (library);
	look_at_programs(&lines, package);
	look_at_interpreters(&lines, package);
	package->writable = digest_bytes(DIGEST_SEED, lines.data, lines.size);
	if (package->writable == before)
		return;
	for (size_t at = 0; at < lines.size; at += size + 1) {
		size = strlen(lines.data + at);
		diagnostics_add(&job->problems, DIAGNOSTIC_WARNING, 0, "", "%s", lines.data + at);
	}
}
