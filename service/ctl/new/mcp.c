/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/mcp.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "ctl/command.h"
#include "ctl/new/given.h"
#include "ctl/new/tools.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "loader/offline.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* ── the manifest ────────────────────────────────────────────────────────────────────────────── */

/* Return whether a word of the command line is the path of something from here on. */
static bool is_relative_path(const char *word)
{
	return word[0] != '/' && word[0] != '-' && access(word, F_OK) == 0;
}

/* Write the folder that relative paths of the command begin in. @is_trial: even if there are
 * none. */
static void write_folder(const struct ctl_options *options, bool is_trial, struct buffer *out)
{
	char folder[PATH_MAX];
	bool is_wanted = is_trial;

	for (size_t i = 1; i < options->n_command; i++)
		is_wanted = is_wanted || is_relative_path(options->command[i]);
	if (!is_wanted || !getcwd(folder, sizeof(folder)))
		return;
	buffer_append_string(out, ",\n    \"cwd\": ");
	json_write_bytes_lossy(out, folder, strlen(folder));
}

/* Write the program: a path from here on becomes one from the root on. */
static void write_program(const char *program, struct buffer *out)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];

	if (program[0] != '/' && strchr(program, '/') && getcwd(folder, sizeof(folder))) {
		snprintf(path, sizeof(path), "%s/%s", folder,
			strncmp(program, "./", 2) == 0 ? program + 2 : program);
		program = path;
	}
	json_write_bytes_lossy(out, program, strlen(program));
}

static void write_command(const struct ctl_options *options, bool is_trial, struct buffer *out)
{
	buffer_append_string(out, "\n    \"command\": [");
	write_program(options->command[0], out);
	for (size_t i = 1; i < options->n_command; i++) {
		buffer_append_string(out, ", ");
		json_write_bytes_lossy(out, options->command[i], strlen(options->command[i]));
	}
	buffer_append_char(out, ']');
	write_folder(options, is_trial, out);
}

/* Write the risk of each tool, by the server's name for the tool. */
static void write_risks(const struct toolbox *toolbox, struct buffer *out)
{
	buffer_append_string(out, ",\n  \"tools\": {");
	for (size_t i = 0; i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];

		buffer_append_string(out, i > 0 ? ",\n    " : "\n    ");
		json_write_text(out, tool->server_name);
		buffer_printf(out, ": {\"risk\": \"%s\"}", tool_risk_names[tool->risk]);
	}
	buffer_append_string(out, toolbox->n_tools > 0 ? "\n  }" : "}");
}

/* Write the manifest; @toolbox: NULL for the trial, before the server has answered. */
static void write_manifest(const char *id, const struct ctl_options *options,
	const struct toolbox *toolbox, struct buffer *out)
{
	buffer_append_string(out, "{\n  \"kind\": \"mcp\",\n  \"mcp\": {");
	if (options->url) {
		buffer_append_string(out, "\n    \"url\": ");
		json_write_bytes_lossy(out, options->url, strlen(options->url));
	} else {
		write_command(options, !toolbox, out);
	}
	new_given_write(id, options, !toolbox, out);
	buffer_append_string(out, "\n  }");
	if (toolbox)
		write_risks(toolbox, out);
	buffer_append_string(out, "\n}\n");
}

/* Write the manifest of @id into @folder. Returns 0 or a negative errno. */
static int save_manifest(const char *folder, const char *id, const struct ctl_options *options,
	const struct toolbox *toolbox)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char name[TOOLBOX_ID_BYTES + sizeof(".json")];
	int r;

	snprintf(name, sizeof(name), "%s.json", id);
	write_manifest(id, options, toolbox, &text);
	r = buffer_status(&text);
	return r ? r : file_replace(folder, name, text.data, text.size, 0644);
}

/* ── what was found ──────────────────────────────────────────────────────────────────────────── */

/* Append the tools that are left out, with the reasons. */
static void append_skipped(const struct catalogue *catalogue, struct buffer *out)
{
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		buffer_append_string(out, i == 0 ? "\nNot offered:\n" : "");
		buffer_append_string(out, "  ");
		if (skipped->name)
			terminal_append_line(out, skipped->name, strlen(skipped->name));
		buffer_append_string(out, skipped->name ? ": " : "");
		terminal_append_line(out, skipped->reason, strlen(skipped->reason));
		buffer_append_char(out, '\n');
	}
}

/* @secrets: the folder of the files with secrets, or NULL. */
static void print_found(
	const char *id, const char *path, const char *secrets, const struct catalogue *catalogue)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	new_print_tools(catalogue_toolbox(catalogue, 0, NULL, NULL));
	append_skipped(catalogue, &out);
	if (secrets)
		buffer_printf(&out,
			"\nThe secrets are in %s, for this user alone;\n%s names their files.\n",
			secrets, path);
	buffer_printf(&out,
		"\n%s has the risk of each tool as its server claims it. Change what you do not "
		"believe;\ntools that execute ask a person (toolboxctl help policy).\n\n"
		"Try it, then keep it:\n\n"
		"  toolboxctl invoke --file %s TOOL\n"
		"  mkdir -p ~/.local/share/toolboxd/toolbox.d\n"
		"  cp -r %s ~/.local/share/toolboxd/toolbox.d/\n",
		path, path, id);
	terminal_print(&out);
}

static void print_found_json(const char *id, const char *path, const struct catalogue *catalogue)
{
	const struct toolbox *toolbox = catalogue_toolbox(catalogue, 0, NULL, NULL);
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_printf(&out,
		"{\"toolbox_id\":\"%s\",\"kind\":\"mcp\",\"files\":[\"%s\"],\"tools\":[", id, path);
	for (size_t i = 0; i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];

		buffer_printf(&out, "%s{\"name\":\"%s\",\"risk\":\"%s\"}", i > 0 ? "," : "",
			tool->name, tool_risk_names[tool->risk]);
	}
	buffer_append_string(&out, "],\"not_offered\":[");
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		buffer_append_string(&out, i > 0 ? ",{\"name\":" : "{\"name\":");
		json_write_text(&out, skipped->name);
		json_write_member_text(&out, "why", skipped->reason);
		buffer_append_char(&out, '}');
	}
	buffer_append_string(&out, "]}\n");
	terminal_print_json_text(&out);
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

/* The file and the line of the trial mean nothing to a person. */
static void complain(void *data, const struct diagnostic *problem)
{
	bool *has_complained = data;

	if (problem->severity != DIAGNOSTIC_ERROR)
		return;
	*has_complained = true;
	/* Such a text has no subject: the key is named as its flag is. */
	if (problem->pointer && strncmp(problem->text, "must ", strlen("must ")) == 0)
		terminal_complain("%s %s", strrchr(problem->pointer, '/') + 1, problem->text);
	else
		terminal_complain("%s", problem->text);
}

/* Load the manifest at @path, which asks the server. Returns NULL after a message on stderr. */
static struct catalogue *ask_server(const char *path)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	char reason[OFFLINE_WHY_BYTES];
	bool has_complained = false;
	int r = config_read(&flags, terminal_complain_error, NULL, &config);

	if (r < 0)
		terminal_complain("%s", strerror(-r));
	/* It is not known what a closed configuration forbids. */
	if (r != 0 || config.closed)
		return NULL;
	if (offline_load(&config, &path, 1, complain, &has_complained, &catalogue,
		    OFFLINE_ASKS_SERVERS, reason) < 0) {
		terminal_complain("%s", reason);
		return NULL;
	}
	if (catalogue_n_toolboxes(catalogue) > 0)
		return take_ptr(catalogue);
	if (!has_complained)
		terminal_complain("the server has no tools that can be offered");
	return NULL;
}

static int refuse_file(const char *folder, int error)
{
	terminal_complain("a file in '%s' cannot be written: %s", folder, strerror(-error));
	return CTL_ERROR;
}

/* Ask the server with a manifest in a folder of its own. Returns NULL after a message on stderr. */
static struct catalogue *try_server(const char *id, const struct ctl_options *options)
{
	const char *parent = getenv("TMPDIR");
	char folder[PATH_MAX / 2];
	char path[PATH_MAX];
	struct catalogue *catalogue = NULL;
	int r;

	snprintf(folder, sizeof(folder), "%s/toolboxctl-XXXXXX",
		parent && *parent ? parent : "/tmp");
	if (!mkdtemp(folder)) {
		refuse_file(folder, -errno);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s.json", folder, id);
	r = save_manifest(folder, id, options, NULL);
	if (r < 0)
		refuse_file(folder, r);
	else
		catalogue = ask_server(path);
	unlink(path);
	rmdir(folder);
	return catalogue;
}

/* Write what the server has answered. */
static int write_found(
	const char *id, const struct ctl_options *options, const struct catalogue *catalogue)
{
	char path[2ul * TOOLBOX_ID_BYTES + sizeof("/.json")];
	cleanup_free char *secrets = NULL;
	int r;

	r = new_given_keep(id, options, &secrets);
	if (r < 0)
		return refuse_file(secrets ? secrets : "the folder of secrets", r);
	if (mkdir(id, 0777) < 0)
		return refuse_file(id, -errno);
	r = save_manifest(id, id, options, catalogue_toolbox(catalogue, 0, NULL, NULL));
	if (r < 0)
		return refuse_file(id, r);
	snprintf(path, sizeof(path), "%s/%s.json", id, id);
	if (options->json)
		print_found_json(id, path, catalogue);
	else
		print_found(id, path, secrets, catalogue);
	return CTL_DONE;
}

int new_mcp(const char *id, const struct ctl_options *options)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	int r;

	if ((options->n_command > 0) == (options->url != NULL)) {
		terminal_complain("--kind mcp needs one of --url URL and --command PROGRAM ...");
		return CTL_USAGE;
	}
	if (access(id, F_OK) == 0) {
		terminal_complain("'%s' is there already: choose another id", id);
		return CTL_USAGE;
	}
	r = new_given_check(id, options);
	if (r != CTL_DONE)
		return r;
	if (new_given_lend(options) < 0)
		return refuse_file(id, -ENOMEM);
	catalogue = try_server(id, options);
	return catalogue ? write_found(id, options, catalogue) : CTL_ERROR;
}
