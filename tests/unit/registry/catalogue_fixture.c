/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue_fixture.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TOOLS_MAX 8

struct toolbox *make_toolbox(const char *id, ...)
{
	struct toolbox *toolbox = calloc(1, sizeof(*toolbox));
	const char *name;
	va_list names;

	cr_assert(toolbox);
	toolbox->references = 1;
	toolbox->id = strdup(id);
	toolbox->tools = calloc(TOOLS_MAX, sizeof(*toolbox->tools));
	va_start(names, id);
	while ((name = va_arg(names, const char *))) {
		struct tool *tool = &toolbox->tools[toolbox->n_tools];

		cr_assert(toolbox->n_tools < TOOLS_MAX);
		tool->toolbox = toolbox;
		tool->index = (uint32_t)toolbox->n_tools++;
		tool->name = strdup(name);
		tool->description = strdup("What \"it\" does");
		tool->argument_schema = strdup("{\"type\":\"object\"}");
		tool->output_schema = strdup("{}");
	}
	va_end(names);
	return toolbox;
}
