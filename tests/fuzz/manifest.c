/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue/tool_schemas.h"
#include "manifest/manifest.h"

/*
 * Any bytes as a manifest. Either they make a toolbox, and its descriptions and frames are JSON
 * that reads back, or a list of servers with a manifest for each, or a mistake is reported with a
 * place in the file.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/fuzz-manifest-XXXXXX.json";
static struct manifest_reader *reader;
static int file = -1;

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static void remove_file(void)
{
	unlink(path);
	manifest_reader_free(reader);
}

static void set_up(void)
{
	file = mkostemps(path, (int)strlen(".json"), O_CLOEXEC);
	require(file >= 0);
	reader = manifest_reader_new(NULL);
	require(reader != NULL);
	atexit(remove_file);
}

/* Whether it is JSON of this type. */
static void require_json(const char *text, size_t size, enum json_type type)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	require(json_tape_read(&tape, text, size, 2 * JSON_DEPTH_DEFAULT, NULL) == 0);
	require(json_type_at(&tape, 0) == type);
}

/* A function that is sent to a host must be read there as the same function. */
static void check_function(const struct native_function *function)
{
	struct native_function again;
	struct diagnostics problems = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer same = {0};

	native_write(function, &text);
	require(json_tape_read(&tape, text.data, text.size, 2 * JSON_DEPTH_DEFAULT, NULL) == 0);
	require(native_function_read(&tape, 0, function->tables, &again, &problems) == 0);
	native_write(&again, &same);
	require(text.size == same.size && memcmp(text.data, same.data, text.size) == 0);
	native_function_deinit(&again);
}

static void check_tool(const struct toolbox *toolbox, size_t index)
{
	const struct tool *tool = &toolbox->tools[index];

	require(tool->toolbox == toolbox && tool->index == index);
	require(tool->name[0] && strlen(tool->name) <= TOOL_NAME_BYTES);
	require(tool->schemas && tool_schemas_wake(tool) == 0);
	require_json(tool->argument_schema, strlen(tool->argument_schema), JSON_OBJECT);
	require_json(tool->output_schema, strlen(tool->output_schema), JSON_OBJECT);
	require(strlen(tool->definition) == tool->definition_size);
	require_json(tool->definition, tool->definition_size, JSON_OBJECT);
	if (toolbox->package->kind == KIND_NATIVE)
		check_function(&tool->native);
	for (size_t i = 0; i < index; i++)
		require(strcmp(toolbox->tools[i].name, tool->name) != 0);
}

static void check_package(struct package *package)
{
	const struct kind_facts *facts = kind_facts(package->kind);

	require(package->references == 1);
	require((package->n_tools == 0) == facts->describes_tools);
	require(package->n_toolboxes == !facts->has_members);
	require(package->id[0] && strlen(package->id) <= TOOLBOX_ID_BYTES);
	require_json(package->load, package->load_size, JSON_OBJECT);
	for (size_t i = 0; i < package->n_tools; i++)
		check_tool(package->toolboxes[0], i);
}

static void check_problems(const struct diagnostics *problems, const uint8_t *data, size_t size)
{
	unsigned int n_lines = 1;

	for (size_t i = 0; i < size; i++)
		n_lines += data[i] == '\n';
	require(problems->n_errors > 0 && problems->n_items > 0);
	for (size_t i = 0; i < problems->n_items; i++) {
		const struct diagnostic *problem = &problems->items[i];

		require(problem->text[0]);
		require(problem->line >= 1 && problem->line <= n_lines);
		require(problem->pointer[0] == '\0' || problem->pointer[0] == '/');
	}
}

/* A list of servers: each is the text of a manifest, which makes a toolbox or is refused. */
static void check_list(const uint8_t *data, size_t size)
{
	struct mcp_server_entries entries = {0};
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};

	if (manifest_read_servers(reader, &entries, &problems) != 0)
		check_problems(&problems, data, size);
	for (size_t i = 0; i < entries.n_items; i++) {
		const char *text = entries.items[i].manifest;
		cleanup(diagnostics_deinit) struct diagnostics own = {0};
		cleanup(package_cleanup) struct package *package = NULL;
		int r;

		require(text || entries.items[i].reason);
		if (!text)
			continue;
		r = manifest_read_text(reader, path, text, strlen(text), &package, &own);
		require((r == 0) == (package != NULL) && (r == 0 || own.n_errors > 0));
		if (package)
			check_package(package);
	}
	mcp_server_entries_deinit(&entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct package *package = NULL;
	struct diagnostics problems = {0};
	int r;

	if (file < 0)
		set_up();
	require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	r = manifest_read(reader, path, &package, &problems);
	if (r == 0) {
		check_package(package);
		require(manifest_is_unchanged(package));
	} else if (r == MANIFEST_IS_LIST) {
		check_list(data, size);
	} else {
		check_problems(&problems, data, size);
	}
	require((r == 0) == (package != NULL));
	package_unref(package);
	diagnostics_deinit(&problems);
	return 0;
}
