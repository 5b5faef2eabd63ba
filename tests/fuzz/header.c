/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/header/comment.h"
#include "ctl/header/hold.h"
#include "ctl/header/plan_write.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/text/utf8.h"

/*
 * Any bytes as a preprocessed header, as `check --header` and `new --from-header` read it: its
 * tokens and declarations, each declaration written again, the comments as descriptions, the plan
 * of a tool for each function, and a manifest's types held against its parameters. The tool of a
 * plan is JSON.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {
	"i8", "i32", "u64", "f64", "bool", "str", "bytes", "handle", "array", "strv", "struct"};

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static bool is_there(void *data, const struct c_function *function)
{
	(void)data;
	return !function->is_static;
}

/* A tool with a name that is not UTF-8 is dropped later, by the reader of manifests. */
static void require_json(const struct header *header, const struct buffer *text)
{
	struct json_tape tape = {0};
	int r = json_tape_read(&tape, text->data, text->size, JSON_DEPTH_DEFAULT, NULL);

	require(r == 0 || (r > 0 && !utf8_is_valid(header->text.data, header->text.size)));
	json_tape_deinit(&tape);
}

static void plan(const struct header *header, const struct c_function *function)
{
	struct planner planner = {.header = header, .is_there = is_there};
	struct plan *plan = calloc(1, sizeof(*plan));
	struct buffer written = {0};
	struct buffer enums = {0};
	struct buffer tool = {0};

	require(plan != NULL);
	if (plan_make(&planner, function, plan)) {
		plan_write_tool(header, plan, &tool);
		require_json(header, &tool);
		buffer_append_char(&enums, '{');
		plan_write_enums(plan, &written, &enums);
		buffer_append_char(&enums, '}');
		require_json(header, &enums);
	} else {
		require(plan->reason[0] != '\0');
	}
	buffer_deinit(&written);
	buffer_deinit(&enums);
	buffer_deinit(&tool);
	free(plan);
}

/* Hold a type of a manifest against each parameter, another one each time. */
static void hold(const struct header *header, const struct c_function *function)
{
	const struct c_type *type = function->type;
	struct holding holding = {.header = header, .guard = HOLD_ALWAYS};
	size_t n = strlen(function->name);

	require(hold_function(&holding, function->name, 0) == function);
	for (size_t i = 0; i <= type->n_parameters && i <= PLAN_ARGUMENTS_MAX; i++, n++) {
		struct held held = {
			.word = words[n % ARRAY_SIZE(words)],
			.items = "u8",
			.is_out = n / ARRAY_SIZE(words) % 2,
			.is_handed = n / ARRAY_SIZE(words) % 2,
		};

		held.c = strcmp(held.word, "struct") == 0 ? "struct a" : NULL;
		if (i < type->n_parameters)
			hold_parameter(&holding, &held, type->parameters[i].type);
		else
			hold_value(&holding, &held, type->of);
	}
	require(holding.error == 0);
	holding_deinit(&holding);
}

static void visit(const struct header *header, const struct c_function *function)
{
	struct buffer out = {0};

	c_function_write(function->type, function->name, &out);
	c_type_write_resolved(function->type, &out);
	comment_describe(header, function, &out);
	for (size_t i = 0; i < function->type->n_parameters; i++)
		if (function->type->parameters[i].name)
			comment_describe_parameter(
				header, function, function->type->parameters[i].name, &out);
	require(buffer_status(&out) == 0 && out.size > 0);
	buffer_deinit(&out);
	plan(header, function);
	hold(header, function);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct header header = {0};

	buffer_append(&header.text, (const char *)data, size);
	require(buffer_terminate(&header.text) != NULL);
	require(header_read_text(&header) == 0 && comment_place(&header) == 0);
	for (size_t i = 0; i < header.declarations.n_functions; i++)
		visit(&header, header.declarations.functions[i]);
	header_deinit(&header);
	return 0;
}
