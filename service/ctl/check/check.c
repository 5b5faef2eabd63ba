/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/toolbox.h"
#include "config/config.h"
#include "ctl/check/advice.h"
#include "ctl/check/against_header.h"
#include "ctl/command.h"
#include "ctl/offline/test.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "loader/warn/open_bus.h"
#include "loader/offline.h"
#include "manifest/folders.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"
#include "util/diagnostic.h"
#include "util/file/file.h"

/*
 * toolboxctl check: report the problems that a daemon would find in these manifests, without one.
 * The same loader reads them, and a short-lived host loads each library and finds every symbol.
 * With --run their examples are called, too, and with --header native ones are held against the
 * declarations of their library.
 */

struct check {
	bool is_json;
	struct diagnostic_counts counts;
	struct buffer problems;  /* members of the JSON array */
	struct buffer toolboxes; /* the same, or lines: toolboxes that can be loaded */
	struct buffer examples;  /* JSON: the summary of --run; empty: there was none */
};

/* Print one finding, or add it to the JSON array. */
static void add_finding(void *data, const struct diagnostic *finding)
{
	struct check *check = data;
	struct buffer *out = &check->problems;
	const char *file = finding->file ? finding->file : "";
	const char *pointer = finding->pointer ? finding->pointer : "";

	if (!check->is_json) {
		terminal_print_finding(&check->counts, finding);
		return;
	}
	diagnostic_count(&check->counts, finding);
	buffer_append_string(out, out->size > 0 ? ",{" : "{");
	json_write_key(out, "severity");
	json_write_text(out, diagnostic_severity_name(finding->severity));
	buffer_append_string(out, ",\"file\":");
	json_write_bytes_lossy(out, file, strlen(file));
	buffer_printf(out, ",\"line\":%u,\"path\":", finding->line);
	json_write_bytes_lossy(out, pointer, strlen(pointer));
	buffer_append_string(out, ",\"text\":");
	json_write_bytes_lossy(out, finding->text, strlen(finding->text));
	buffer_append_char(out, '}');
}

static void on_config_finding(void *data, const struct diagnostic *finding)
{
	if (finding->severity == DIAGNOSTIC_ERROR)
		add_finding(data, finding);
}

/* Append how each library is loaded. */
static void describe_seals(const struct package *package, struct buffer *out)
{
	const struct toolbox_library *library = package->library.path ? &package->library : NULL;

	for (; library; library = library->next)
		buffer_printf(out, ", library %s",
			!toolbox_library_is_path(library) ? "loaded by its name"
			: !package->is_checked            ? "not looked at"
			: library->copy                   ? "sealed"
							  : "not sealed");
}

/* Return whether all libraries are sealed. */
static bool is_sealed(const struct toolbox_library *library)
{
	while (library && library->copy)
		library = library->next;
	return !library;
}

static void describe_toolbox(struct check *check, const struct toolbox *toolbox)
{
	const char *class = package_sandbox_name(toolbox->package);
	const char *kind = kind_facts(toolbox->package->kind)->name;
	const char *missing = toolbox->package->not_enforced;
	const char *refused = toolbox->package->refused;
	struct buffer *out = &check->toolboxes;

	if (!check->is_json) {
		buffer_printf(out, "%s: %s, %zu tool%s, %s%s%s", toolbox->id, kind,
			toolbox->n_tools, toolbox->n_tools == 1 ? "" : "s",
			class ? "sandbox " : "no process", class ? class : "", missing ? " (" : "");
		/* A host reports it. */
		terminal_append_line(out, missing ? missing : "", missing ? strlen(missing) : 0);
		buffer_append_string(out, missing ? ")" : "");
		describe_seals(toolbox->package, out);
		buffer_printf(out, "%s%s\n", refused ? ", refused while loading: " : "",
			refused ? refused : "");
		return;
	}
	buffer_printf(out,
		"%s{\"toolbox_id\":\"%s\",\"kind\":\"%s\",\"sandbox\":", out->size > 0 ? "," : "",
		toolbox->id, kind);
	json_write_text(out, class);
	buffer_printf(out, ",\"sealed\":%s,\"not_enforced\":",
		is_sealed(&toolbox->package->library) ? "true" : "false");
	json_write_text(out, missing);
	json_write_member_text(out, "refused_while_loading", refused);
	buffer_append_char(out, '}');
}

/* A tool that the configuration hides was read, but is not offered. A tool that its author has
 * disabled needs no warning. */
static void warn_of_skipped(struct check *check, const struct catalogue *catalogue)
{
	char text[512];

	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (strncmp(skipped->reason, OFF_BY_MANIFEST, strlen(OFF_BY_MANIFEST)) == 0)
			continue;
		snprintf(text, sizeof(text), "%s%s%s is not offered: %s", skipped->toolbox_id,
			skipped->name ? "/" : "", skipped->name ? skipped->name : "",
			skipped->reason);
		add_finding(
			check, &(struct diagnostic){.severity = DIAGNOSTIC_WARNING, .text = text});
	}
}

static int describe_all(struct check *check, const struct catalogue *catalogue)
{
	const struct diagnostic_sink sink = {add_finding, check};

	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, NULL);

		if (advice_give(toolbox, &sink) < 0)
			return -ENOMEM;
		describe_toolbox(check, toolbox);
	}
	warn_of_skipped(check, catalogue);
	return 0;
}

/* Print {"files": 1, "errors": 0, "warnings": 0, "problems": […], "toolboxes": […]}, or the same as
 * text without the problems, which are printed already. */
static void print_summary(const struct check *check, size_t n_files)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (check->is_json) {
		buffer_printf(&text, "{\"files\":%zu,\"errors\":%u,\"warnings\":%u,\"problems\":[",
			n_files, check->counts.n_errors, check->counts.n_warnings);
		buffer_append(&text, check->problems.data, check->problems.size);
		buffer_append_string(&text, "],\"toolboxes\":[");
		buffer_append(&text, check->toolboxes.data, check->toolboxes.size);
		buffer_append_char(&text, ']');
		if (check->examples.size > 0) {
			buffer_append_string(&text, ",\"examples\":");
			buffer_append_buffer(&text, &check->examples);
		}
		buffer_append_string(&text, "}\n");
	} else {
		buffer_append(&text, check->toolboxes.data, check->toolboxes.size);
		buffer_printf(&text, "%zu file%s: ", n_files, n_files == 1 ? "" : "s");
		diagnostic_counts_write(&check->counts, &text);
		buffer_append_char(&text, '\n');
	}
	if (check->is_json)
		terminal_print_json_text(&text);
	else
		terminal_print(&text);
}

/* Load the manifests @files, or, for NULL, what the folders of @config have, and describe it. */
static int load_and_describe(
	struct check *check, const struct config *config, const char *const *files, size_t n_files)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	char reason[OFFLINE_WHY_BYTES];
	int r = offline_load(config, files, n_files, add_finding, check, &catalogue,
		OFFLINE_ASKS_SERVERS, reason);

	if (r < 0) {
		terminal_complain("%s", reason);
		return r;
	}
	warn_open_bus(config, catalogue, add_finding, check);
	warn_open_bus_sockets(config, catalogue, add_finding, check);
	r = describe_all(check, catalogue);
	if (r < 0)
		terminal_complain("%s", strerror(-r));
	return r;
}

/* Hold a native manifest against the headers. Return 0, or a negative errno after a message. */
static int hold_file(struct check *check, const struct compiler *compiler, const char *file)
{
	const struct diagnostic_sink sink = {add_finding, check};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer messages = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = file_read(file, MANIFEST_BYTES_MAX, &text);

	/* A folder of programs or of toolboxes. */
	if (r == -EISDIR)
		r = json_tape_set_empty(&tape);
	else if (r == 0)
		r = json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r == 0 && json_type_at(&tape, 0) == JSON_OBJECT &&
		(json_find(&tape, 0, "library") != JSON_NONE ||
			json_find(&tape, 0, "libraries") != JSON_NONE))
		r = against_header(file, &tape, compiler, &sink, &messages);
	else if (r == 0)
		diagnostic_report(&sink, DIAGNOSTIC_ERROR, file, 0, "",
			"only a manifest of kind native is held against a header");
	if (r > 0) {
		size_t size;
		const char *reason = compiler_reason(&messages, &size);

		diagnostic_report(&sink, DIAGNOSTIC_ERROR, file, 0, "",
			"not held against the header: %.*s", (int)size, reason);
		r = 0;
	}
	if (r < 0)
		terminal_complain("%s: %s", file, strerror(-r));
	return r;
}

/* Hold the manifests @files, which could be loaded, against the headers of the command line. */
static int hold_files(struct check *check, const struct ctl_options *options)
{
	const struct compiler compiler = {
		options->headers, options->n_headers, options->pkg, options->cflags};
	int r = 0;

	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		r = hold_file(check, &compiler, options->positional[i]);
	return r;
}

/* Check everything that is registered in @folder, and count its files and folders. */
static int check_folder(struct check *check, const char *folder, size_t *n_files)
{
	const struct config_flags flags = {.toolbox_dirs = &folder, .n_toolbox_dirs = 1};
	cleanup(config_deinit) struct config config = {0};
	cleanup(folders_listing_deinit) struct folders_listing listing = {0};
	int r = config_read(&flags, on_config_finding, check, &config);

	if (r == 0)
		r = folders_list(&folder, 1, &listing);
	if (r < 0)
		terminal_complain("%s: %s", folder, strerror(-r));
	*n_files += listing.n_entries;
	return r == 0 ? load_and_describe(check, &config, NULL, 0) : r;
}

/* Check each registration folder among @paths by itself, and all other manifests and folders
 * together. */
static int check_paths(struct check *check, const struct config *config, const char *const *paths,
	size_t n_paths, size_t *ret_n_files)
{
	cleanup_free const char **files = calloc(n_paths, sizeof(*files));
	size_t n_files = 0;
	int r = files ? 0 : -ENOMEM;

	*ret_n_files = 0;
	for (size_t i = 0; r == 0 && i < n_paths; i++) {
		if (folders_is_registration(paths[i]))
			r = check_folder(check, paths[i], ret_n_files);
		else
			files[n_files++] = paths[i];
	}
	*ret_n_files += n_files;
	return r == 0 && n_files > 0 ? load_and_describe(check, config, files, n_files) : r;
}

int ctl_check(const struct ctl_options *options)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	struct check check = {.is_json = options->json};
	size_t n_files = options->n_positional - 1;
	int examples = CTL_DONE;
	int r;

	if (options->n_headers == 0 && (options->pkg || options->cflags)) {
		terminal_complain("--pkg and --cflags are for --header");
		return CTL_USAGE;
	}
	r = config_read(&flags, on_config_finding, &check, &config);

	if (r < 0)
		terminal_complain("%s", strerror(-r));
	/* A mistake in the configuration matters only when it cannot be used at all. */
	if (r == 0 && !config.closed) {
		buffer_reset(&check.problems);
		check.counts = (struct diagnostic_counts){0};
		r = check_paths(&check, &config, options->positional + 1, n_files, &n_files);
	}
	if (options->n_headers > 0 && r == 0 && check.counts.n_errors == 0)
		r = hold_files(&check, options);
	if (options->run && r == 0 && check.counts.n_errors == 0)
		examples = test_examples(options, &check.examples);
	print_summary(&check, n_files);
	buffer_deinit(&check.problems);
	buffer_deinit(&check.toolboxes);
	buffer_deinit(&check.examples);
	if (examples != CTL_DONE)
		return examples;
	return r != 0 || check.counts.n_errors > 0 ? CTL_ERROR : CTL_DONE;
}
