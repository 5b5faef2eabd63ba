/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/config_log.h"
#include "core/loader.h"
#include "core/paths.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "registry/manifest.h"
#include "util/cleanup.h"

/*
 * toolboxctl check: what the daemon would say of these manifests, without one. The same loader
 * reads them, and a short-lived host loads each library and finds every symbol.
 */

/* Descriptors of the loop beside those of hosts. */
#define FD_MAX 64

struct check {
	struct loop *loop;
	bool is_json;
	unsigned int n_errors;
	unsigned int n_warnings;
	struct buffer problems;  /* members of the JSON array */
	struct buffer toolboxes; /* the same, or lines: those that can be loaded */
	int error;               /* of the loader */
};

/* Tell one finding. */
static void tell(struct check *check, enum config_severity severity, const char *file,
	unsigned int line, const char *path, const char *text)
{
	struct buffer *out = &check->problems;

	check->n_warnings += severity == CONFIG_WARNING;
	if (!check->is_json) {
		config_print(&check->n_errors, severity, file, line, path, text);
		return;
	}
	check->n_errors += severity == CONFIG_ERROR;
	buffer_append_string(out, out->size > 0 ? ",{" : "{");
	json_write_key(out, "severity");
	json_write_text(out, severity == CONFIG_ERROR ? "error" : "warning");
	buffer_append_string(out, ",\"file\":");
	json_write_bytes_lossy(out, file ? file : "", file ? strlen(file) : 0);
	buffer_printf(out, ",\"line\":%u,\"path\":", line);
	json_write_bytes_lossy(out, path ? path : "", path ? strlen(path) : 0);
	buffer_append_string(out, ",\"text\":");
	json_write_bytes_lossy(out, text, strlen(text));
	buffer_append_char(out, '}');
}

static void on_problem(void *data, const char *file, const struct problem *problem)
{
	tell(data, problem->severity == PROBLEM_ERROR ? CONFIG_ERROR : CONFIG_WARNING, file,
		problem->line, problem->pointer, problem->text);
}

static void on_report(void *data, enum config_severity severity, const char *file,
	unsigned int line, const char *path, const char *text)
{
	if (severity == CONFIG_ERROR)
		tell(data, severity, file, line, path, text);
}

/* Who does not know what a call may do has to be asked before it. */
static void warn_of_unrated(struct check *check, const struct toolbox *toolbox)
{
	static const char text[] =
		"the tool does not declare its \"risk\" (read, write or execute)";
	char pointer[32];

	for (size_t i = 0; i < toolbox->n_tools; i++) {
		if (toolbox->tools[i].risk != TOOL_UNRATED)
			continue;
		snprintf(pointer, sizeof(pointer), "/tools/%zu", i);
		tell(check, CONFIG_WARNING, toolbox->file, manifest_line(toolbox->file, pointer),
			pointer, text);
	}
}

/* How its library is loaded. */
static const char *seal_of(const struct toolbox *toolbox)
{
	if (!strchr(toolbox->library.path, '/'))
		return "loaded by its name";
	return toolbox->is_sealed ? "sealed" : "not sealed";
}

static void describe(struct check *check, const struct toolbox *toolbox)
{
	const char *class = sandbox_class_name(toolbox->sandbox.class);
	const char *missing = toolbox->not_enforced;
	struct buffer *out = &check->toolboxes;

	if (!check->is_json) {
		buffer_printf(out, "%s: %s, sandbox %s%s%s%s, library %s\n", toolbox->id,
			kind_facts(toolbox->kind)->name, class, missing ? " (" : "",
			missing ? missing : "", missing ? ")" : "", seal_of(toolbox));
		return;
	}
	buffer_printf(out, "%s{\"toolbox_id\":\"%s\",\"kind\":\"%s\",\"sandbox\":\"%s\",",
		out->size > 0 ? "," : "", toolbox->id, kind_facts(toolbox->kind)->name, class);
	buffer_printf(
		out, "\"sealed\":%s,\"not_enforced\":", toolbox->is_sealed ? "true" : "false");
	json_write_text(out, missing);
	buffer_append_char(out, '}');
}

static void on_done(void *data, struct catalogue *catalogue, int error)
{
	cleanup(catalogue_cleanup) struct catalogue *owned = catalogue;
	struct check *check = data;
	size_t first;
	size_t count;

	check->error = error;
	for (size_t i = 0; owned && i < catalogue_n_toolboxes(owned); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(owned, i, &first, &count);

		warn_of_unrated(check, toolbox);
		describe(check, toolbox);
	}
	loop_stop(check->loop);
}

/* Load the files. 0, or a negative errno. */
static int load(
	struct check *check, const struct config *config, const char *const *files, size_t n_files)
{
	cleanup(loop_cleanup) struct loop *loop = NULL;
	struct loader *loader;
	struct paths paths;
	int r = paths_find(&paths);
	const struct loader_options options = {
		.config = config,
		.host_program = paths.host_program,
		.library_dir = paths.library_dir,
	};

	if (r < 0) {
		terminal_complain(
			"cannot find toolbox-host, last looked for at %s", paths.host_program);
		return r;
	}
	r = loop_new(FD_MAX, &loop);
	if (r < 0)
		return r;
	check->loop = loop;
	r = loader_start_files(loop, &options, files, n_files, on_problem, on_done, check, &loader);
	if (r == 0)
		r = loop_run(loop, -1);
	return r < 0 ? r : check->error;
}

/* {"files": 1, "errors": 0, "warnings": 0, "problems": […], "toolboxes": […]}, or the same as lines
 * for people, but for the problems, which they have read. */
static void print_summary(const struct check *check, size_t n_files)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (check->is_json) {
		buffer_printf(&text, "{\"files\":%zu,\"errors\":%u,\"warnings\":%u,\"problems\":[",
			n_files, check->n_errors, check->n_warnings);
		buffer_append(&text, check->problems.data, check->problems.size);
		buffer_append_string(&text, "],\"toolboxes\":[");
		buffer_append(&text, check->toolboxes.data, check->toolboxes.size);
		buffer_append_string(&text, "]}\n");
	} else {
		buffer_append(&text, check->toolboxes.data, check->toolboxes.size);
		buffer_printf(&text, "%zu file%s: %u error%s, %u warning%s\n", n_files,
			n_files == 1 ? "" : "s", check->n_errors, check->n_errors == 1 ? "" : "s",
			check->n_warnings, check->n_warnings == 1 ? "" : "s");
	}
	terminal_print(&text);
}

int ctl_check(const struct ctl_options *options)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	struct check check = {.is_json = options->json};
	size_t n_files = options->n_positional - 1;
	int r = config_read(&flags, on_report, &check, &config);

	/* What is wrong with the configuration matters only if nothing can be done with it. */
	if (r == 0) {
		buffer_reset(&check.problems);
		check.n_errors = 0;
		r = load(&check, &config, options->positional + 1, n_files);
	}
	if (r < 0)
		terminal_complain("%s", strerror(-r));
	print_summary(&check, n_files);
	buffer_deinit(&check.problems);
	buffer_deinit(&check.toolboxes);
	return r != 0 || check.n_errors > 0 ? CTL_ERROR : CTL_DONE;
}
