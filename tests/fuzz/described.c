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
 * Any JSON as the description that a host gives of the members of its toolbox. The result is whole
 * in every view of it, and each mistake costs one part.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char manifest[] = "{\"kind\":\"python\",\"python\":\"python3\"}";
static char path[] = "/tmp/fuzz-described-XXXXXX.json";
static struct manifest_reader *reader;

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
	int file = mkostemps(path, (int)strlen(".json"), O_CLOEXEC);

	require(file >= 0 && write(file, manifest, strlen(manifest)) == (ssize_t)strlen(manifest));
	close(file);
	reader = manifest_reader_new(NULL);
	require(reader != NULL);
	atexit(remove_file);
}

static void check_member(
	const struct member_toolbox *member, struct package *package, uint32_t *ret_first)
{
	const struct toolbox *toolbox = member->toolbox;

	require(member->problems.n_errors > 0 || member->skipped.n_items > 0 || toolbox);
	require(!toolbox || member->problems.n_errors == 0);
	if (!toolbox)
		return;
	require(toolbox->package == package && member->id && strcmp(member->id, toolbox->id) == 0);
	for (size_t i = 0; i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];

		require(tool == package->tools[*ret_first + i] && tool->index == *ret_first + i);
		require(tool->toolbox == toolbox && tool_schemas_wake(tool) == 0);
		require(strlen(tool->definition) == tool->definition_size);
	}
	*ret_first += (uint32_t)toolbox->n_tools;
}

static void check(struct package *package, const struct json_tape *described)
{
	struct member_toolboxes members = {0};
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(json_tape_cleanup) struct json_tape load = {0};
	uint32_t n_tools = 0;
	int r = manifest_take_members(reader, described, package, &members, &problems);

	require(r == 0 || (r == MANIFEST_E_REFUSED && problems.n_errors > 0));
	for (size_t i = 0; r == 0 && i < members.n_items; i++)
		check_member(&members.items[i], package, &n_tools);
	require(r != 0 || n_tools == package->n_tools);
	require(json_tape_read(
			&load, package->load, package->load_size, JSON_DEPTH_DEFAULT, NULL) == 0);
	member_toolboxes_deinit(&members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct package *package = NULL;
	struct diagnostics problems = {0};
	struct json_tape described = {0};

	if (!reader)
		set_up();
	require(manifest_read(reader, path, &package, &problems) == 0);
	if (json_tape_read(&described, (const char *)data, size, JSON_DEPTH_DEFAULT, NULL) == 0)
		check(package, &described);
	json_tape_deinit(&described);
	package_unref(package);
	diagnostics_deinit(&problems);
	return 0;
}
