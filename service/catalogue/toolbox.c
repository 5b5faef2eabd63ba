/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "catalogue/tool_schemas.h"
#include "json/member.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"

/* Pause between two looks at the definition of a tool whose process has its program already. A look
 * takes about a microsecond, as some parts of such a call do; with the pause, looks take less than
 * 0.02 % of a processor. */
#define LOOK_AGAIN_MS 10

static void tool_deinit(struct tool *tool)
{
	free(tool->name);
	free(tool->off);
	free(tool->lack);
	free(tool->grant_key);
	free(tool->asked_key);
	free(tool->description);
	free(tool->argument_schema);
	free(tool->checked_schema);
	free(tool->output_schema);
	free(tool->definition);
	free(tool->spoken);
	tool_schemas_free(tool->schemas);
	triggers_deinit(&tool->triggers);
	switch (tool->toolbox->package->kind) {
	case KIND_NATIVE:
		native_function_deinit(&tool->native);
		native_program_free(tool->steps);
		break;
	case KIND_COMMAND:
		command_deinit(&tool->command);
		break;
	case KIND_MCP:
		free(tool->server_name);
		free(tool->pin);
		break;
	case KIND_BUS:
		bus_call_free(tool->bus);
		break;
	case KIND_PLUGIN:
	case KIND_PYTHON:
	case KIND_PYTHON_FILE:
	case KIND_GUEST:
		break;
	}
}

void toolbox_drop_tools(struct toolbox *toolbox, const bool *is_dropped)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < toolbox->n_tools; i++) {
		if (!is_dropped || is_dropped[i]) {
			tool_deinit(&toolbox->tools[i]);
			continue;
		}
		if (n_kept != i)
			toolbox->tools[n_kept] = toolbox->tools[i];
		toolbox->tools[n_kept].index = (uint32_t)n_kept;
		n_kept++;
	}
	toolbox->n_tools = n_kept;
	if (n_kept > 0)
		return;
	free(toolbox->tools);
	toolbox->tools = NULL;
}

bool tool_may_be_task(const struct tool *tool)
{
	uint64_t timeout_ms =
		tool->timeout_ms ? tool->timeout_ms : tool->toolbox->package->limits.timeout_ms;

	return tool->task == TOOL_TASK_BY_TIME ? timeout_ms > TOOL_TASK_MS
					       : tool->task != TOOL_TASK_FORBIDDEN;
}

struct toolbox *toolbox_new(struct package *package, const char *id, const char *entry_point)
{
	cleanup(toolbox_cleanup) struct toolbox *toolbox = calloc(1, sizeof(*toolbox));

	if (!toolbox)
		return NULL;
	toolbox->package = package;
	toolbox->id = strdup(id);
	toolbox->entry_point = entry_point ? strdup(entry_point) : NULL;
	if (!toolbox->id || (entry_point && !toolbox->entry_point))
		return NULL;
	return take_ptr(toolbox);
}

void toolbox_free(struct toolbox *toolbox)
{
	if (!toolbox)
		return;
	toolbox_drop_tools(toolbox, NULL);
	free(toolbox->id);
	free(toolbox->description);
	free(toolbox->entry_point);
	free(toolbox);
}

const char *const tool_risk_names[] = {[TOOL_UNRATED] = "unrated",
	[TOOL_READ] = "read",
	[TOOL_WRITE] = "write",
	[TOOL_EXECUTE] = "execute",
	NULL};

enum tool_risk tool_risk_at(const struct json_tape *tape, uint32_t token)
{
	int risk = json_word_at(tape, token, tool_risk_names);

	return risk >= 0 ? (enum tool_risk)risk : TOOL_UNRATED;
}

bool tool_differs(const struct tool *before, const struct tool *after)
{
	if (before == after)
		return false;
	return before->risk != after->risk || strcmp(before->definition, after->definition) != 0 ||
	       memcmp(before->run, after->run, sizeof(before->run)) != 0 ||
	       toolbox_library_digest(&before->toolbox->package->library) !=
		       toolbox_library_digest(&after->toolbox->package->library);
}

/* Return whether the program of @command, a name, is still found at @path, or still nowhere
 * (""). */
static bool is_found_at(const struct command *command, const char *path)
{
	char now[PATH_MAX];

	if (strchr(command->arguments.items[0], '/'))
		return true;
	if (command_find_program(command, now) < 0)
		*now = '\0';
	return strcmp(now, path) == 0;
}

/* Return whether the scripts among the arguments of @tool are what they were. */
static bool has_same_scripts(const struct tool *tool)
{
	const struct origins *programs = &tool->toolbox->package->programs;

	for (uint32_t i = 0; i < tool->n_scripts; i++)
		if (!origin_holds(&programs->items[tool->scripts[i]]))
			return false;
	return true;
}

bool tool_program_is_current(const struct tool *tool)
{
	const struct package *package = tool->toolbox->package;
	struct origin *program;

	if (package->kind != KIND_COMMAND)
		return true;
	program = &package->programs.items[tool->program];
	return is_found_at(&tool->command, program->path) && origin_holds(program) &&
	       has_same_scripts(tool) &&
	       (tool->beside == ORIGIN_NONE ||
		       origin_holds(&package->programs.items[tool->beside]));
}

uint64_t tool_program_digest(const struct tool *tool)
{
	const struct package *package = tool->toolbox->package;
	const struct origin *programs = package->programs.items;
	struct stamp stamp;
	uint64_t digest;

	if (package->kind != KIND_COMMAND || environment_names(package->environment, "PATH="))
		return 0;
	stamp = origin_stamp(&programs[tool->program]);
	digest = stamp_fold(DIGEST_SEED, &stamp);
	for (uint32_t i = 0; i < tool->n_scripts; i++) {
		stamp = origin_stamp(&programs[tool->scripts[i]]);
		digest = stamp_fold(digest, &stamp);
	}
	return digest;
}

bool tool_is_current(const struct tool *tool)
{
	struct package *package = tool->toolbox->package;
	uint64_t now_ms = package->kind == KIND_COMMAND ? 0 : clock_now_ms();

	if (now_ms > 0 && now_ms - package->looked_ms < LOOK_AGAIN_MS)
		return true;
	if (!origins_hold(&package->definition) || !tool_program_is_current(tool) ||
		!toolbox_library_is_current(&package->library))
		return false;
	package->looked_ms = now_ms;
	return true;
}
