/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/tool/run_llm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/package.h"
#include "util/cleanup.h"

/*
 * The two texts of an argument schema with run_llm:
 *
 *                            argument_schema, listed     checked_schema, for calls
 *   declared by the author   the author's                without the property
 *   not declared             with a property of ours     the author's, as compiled before
 */

/* Check calls without the property that the author has declared. */
static int leave_out(
	const struct manifest_scope *scope, const struct json_tape *schema, struct tool *tool)
{
	struct tool_schema *compiled = &tool->schemas->arguments;
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	run_llm_write_checked(schema, &text);
	if (!buffer_terminate(&text))
		return -ENOMEM;
	schema_free(take_ptr(compiled->compiled));
	r = manifest_scope_compile_text(
		text.data, &scope->schema_options, compiled, &tool->checked_schema);
	/* A reference to the property is lost with it. */
	if (r > 0)
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape,
			json_find(scope->tape, 0, "tools"),
			"the argument schema of '%s' refers to its property \"run_llm\", which "
			"calls are checked without: say \"run_llm\": \"argument\" if the tool "
			"needs it",
			tool->name);
	return r < 0 ? r : 0;
}

/* List the property that the author has not declared. */
static int add_property(const struct json_tape *schema, struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *listed;

	run_llm_write_listed(schema, tool->run_llm, &text);
	listed = buffer_take(&text, NULL);
	if (!listed)
		return -ENOMEM;
	tool->checked_schema = tool->argument_schema;
	tool->argument_schema = listed;
	return 0;
}

/* Refuse a parameter that no call could pass. */
static void check_parameters(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	if (tool->toolbox->package->kind != KIND_NATIVE)
		return;
	for (size_t i = 0; i < tool->native.n_parameters; i++)
		if (strcmp(tool->native.parameters[i].name, RUN_LLM_KEY) == 0)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, object,
				"the function has a parameter \"run_llm\", which is taken for the "
				"flag of that name: say \"run_llm\": \"argument\" beside \"name\"");
}

int manifest_run_llm_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};
	const char *text = tool->argument_schema;

	tool->run_llm = run_llm_at(scope->tape, json_find(scope->tape, object, "run_llm"));
	if (tool->run_llm == RUN_LLM_ARGUMENT ||
		(tool->run_llm == RUN_LLM_UNSAID && !strstr(text, "\"" RUN_LLM_KEY "\"")))
		return 0;
	if (json_tape_read(&schema, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	check_parameters(scope, object, tool);
	if (run_llm_is_declared(&schema))
		return leave_out(scope, &schema, tool);
	return tool->run_llm == RUN_LLM_UNSAID ? 0 : add_property(&schema, tool);
}
