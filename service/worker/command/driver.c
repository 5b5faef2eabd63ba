/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Toolboxes of kind `command`: a program for each call.
 *
 *   arguments ──refused?──▶ command_fill ──argv, environment──▶ command_run ──▶ command_answer
 *
 * Between calls the host keeps only memory for reuse, and it stays small. The cost of a new process
 * does not depend on its size.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/digest.h"
#include "util/file/stamp.h"
#include "worker/command/answer.h"
#include "worker/command/fill.h"
#include "worker/command/run.h"
#include "worker/driver.h"

/* Memory grown larger for one call is freed after it. */
#define KEEP_TOKENS 16384

/* The most time before the deadline for others to close the stdout of an ended program. */
#define EARLIER_MS_MAX 250

struct command_tool {
	struct command command;
	char *environment; /* common to all calls */
};

struct command_driver {
	struct command_tool *tools;
	uint32_t n_tools;
	struct command_fill fill;
	struct command_run run;
	struct command_progress progress;
	struct json_tape arguments;
	struct json_tape output;
};

static int load_tool(const struct driver_load *load, uint32_t object, struct command_tool *tool,
	struct diagnostics *problems)
{
	uint32_t name_at = json_find(load->tape, object, "name");
	cleanup_free char *name = NULL;
	struct command_mistake mistake;
	int r = command_read(load->tape, object, &tool->command, &mistake);

	if (r == COMMAND_E_MALFORMED)
		return driver_refuse(problems, load->tape, mistake.token, "%s", mistake.expected);
	if (r)
		return r;
	name = name_at ? json_string_dup(load->tape, name_at, NULL) : NULL;
	if (!name)
		return name_at ? -ENOMEM : -EPROTO;
	tool->environment = command_fill_fixed(&tool->command, name);
	return tool->environment ? 0 : -ENOMEM;
}

static int load_tools(
	const struct driver_load *load, struct command_driver *driver, struct diagnostics *problems)
{
	const struct json_tape *tape = load->tape;
	uint32_t tools = json_find(tape, 0, "tools");
	int r = 0;

	if (tools == JSON_NONE || json_type_at(tape, tools) != JSON_ARRAY)
		return driver_refuse(problems, tape, tools, "'tools' must be an array");
	driver->tools = calloc(json_count(tape, tools) + 1u, sizeof(*driver->tools));
	if (!driver->tools)
		return -ENOMEM;
	json_each_while(r == 0, at, tape, tools)
		r = load_tool(load, at, &driver->tools[driver->n_tools++], problems);
	return r;
}

static void unload_commands(void *data)
{
	struct command_driver *driver = data;

	if (!driver)
		return;
	for (uint32_t i = 0; i < driver->n_tools; i++) {
		command_deinit(&driver->tools[i].command);
		free(driver->tools[i].environment);
	}
	free(driver->tools);
	command_fill_deinit(&driver->fill);
	command_run_deinit(&driver->run);
	command_progress_deinit(&driver->progress);
	json_tape_deinit(&driver->arguments);
	json_tape_deinit(&driver->output);
	free(driver);
}

/* LOAD frame: {"tools": [command object with its tool's name, …]} */
static int load_commands(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct command_driver *driver = calloc(1, sizeof(*driver));
	int r = driver ? load_tools(load, driver, problems) : -ENOMEM;

	if (r) {
		unload_commands(driver);
		return r;
	}
	driver->progress.wire = load->wire;
	driver->run.progress = &driver->progress;
	*ret_driver = driver;
	return 0;
}

static void describe_nothing(const void *data, struct buffer *out)
{
	(void)data;
	(void)out;
}

/* Return how long before the deadline of a call its host takes what came as the output. */
static uint32_t earlier(uint32_t timeout_ms)
{
	return timeout_ms / 8 < EARLIER_MS_MAX ? timeout_ms / 8 : EARLIER_MS_MAX;
}

/* Return the digest of @program and of the scripts of @command, as they are now (wire/wire.h). */
static uint64_t digest_files(const struct command *command, const char *program)
{
	char path[PATH_MAX];
	struct stamp stamp;
	uint64_t digest;

	stamp_take_file(program, &stamp);
	digest = stamp_fold(DIGEST_SEED, &stamp);
	for (size_t i = 0; i < command->arguments.n_items; i++) {
		if (!command_set_has(&command->scripts, i) ||
			!command_script_path(command, i, path))
			continue;
		stamp_take_file(path, &stamp);
		digest = stamp_fold(digest, &stamp);
	}
	return digest;
}

static int run_program(struct command_driver *driver, const struct command_tool *tool,
	const struct driver_call *call, struct buffer *out)
{
	const struct command *command = &tool->command;
	struct command_run *run = &driver->run;
	char program[PATH_MAX];
	int r = command_find_program(command, program);

	if (r == 0 && call->program && digest_files(command, program) != call->program)
		return command_answer_changed(out);
	if (r == 0) {
		run->program = program;
		run->arguments = driver->fill.arguments;
		run->environment = driver->fill.environment;
		run->cwd = command->cwd;
		run->input = call->arguments;
		run->input_size = call->size;
		run->output_max = call->output_max;
		run->errors_max = call->stderr_max;
		run->patience_ms = call->timeout_ms - earlier(call->timeout_ms);
		command_progress_begin(&driver->progress, call->id);
		r = command_run(run);
	}
	if (r < 0)
		return command_answer_not_started(command, command->arguments.items[0], r, out);
	return command_answer(command, run, &driver->output, out);
}

static void trim_driver(struct command_driver *driver)
{
	command_fill_trim(&driver->fill);
	command_run_trim(&driver->run);
	if (driver->arguments.capacity > KEEP_TOKENS)
		json_tape_deinit(&driver->arguments);
	if (driver->output.capacity > KEEP_TOKENS)
		json_tape_deinit(&driver->output);
}

static int invoke_command(void *data, const struct driver_call *call, struct buffer *out)
{
	struct command_driver *driver = data;
	const struct json_tape *tape = &driver->arguments;
	struct command_tool *tool;
	const char *message;
	uint32_t refused;
	int r;

	if (call->tool >= driver->n_tools)
		return -EINVAL;
	tool = &driver->tools[call->tool];
	r = json_tape_read(
		&driver->arguments, call->arguments, call->size, JSON_DEPTH_DEFAULT, NULL);
	if (r != 0 || json_type_at(tape, 0) != JSON_OBJECT)
		return r < 0 ? r : -EINVAL;
	/* Arguments that are defaults of the schema were not checked before. */
	refused = command_next_refused(&tool->command, tape, 0, json_first(tape, 0), &message);
	if (refused < json_end(tape, 0))
		return command_answer_refused(tape, refused, message, out);
	r = command_fill(&driver->fill, &tool->command, tool->environment, call->caller,
		call->caller_size, tape, 0);
	r = r ? r : run_program(driver, tool, call, out);
	trim_driver(driver);
	return r;
}

const struct driver command_driver = {
	.kind = "command",
	.load = load_commands,
	.describe = describe_nothing,
	.invoke = invoke_command,
	.free = unload_commands,
};
