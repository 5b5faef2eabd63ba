/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "catalogue/definition.h"

static void expect_written(enum definition_format format, bool is_shared, const char *expected)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};

	definition_write_full(tool, ",\"risk\":\"read\"", &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	definition_write(tool, format, is_shared, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	buffer_deinit(&text);
	package_unref(toolbox->package);
}

Test(definition, is_told_in_full)
{
	expect_written(DEFINITION_FULL, false,
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"argument_schema\":{\"type\":\"object\"},\"output_schema\":{},"
		"\"toolbox_id\":\"box\",\"risk\":\"read\"}");
}

Test(definition, is_told_to_models_in_their_formats)
{
	expect_written(DEFINITION_COMPACT, false,
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"parameters\":{\"type\":\"object\"}}");
	expect_written(DEFINITION_OPENAI, false,
		"{\"type\":\"function\",\"function\":{\"name\":\"add\","
		"\"description\":\"What \\\"it\\\" does\",\"parameters\":{\"type\":\"object\"}}}");
	expect_written(DEFINITION_ANTHROPIC, false,
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"input_schema\":{\"type\":\"object\"}}");
}

Test(definition, of_a_shared_name_tells_models_whose_it_is)
{
	expect_written(DEFINITION_COMPACT, true,
		"{\"name\":\"box__add\",\"description\":\"What \\\"it\\\" does\","
		"\"parameters\":{\"type\":\"object\"}}");
	expect_written(DEFINITION_FULL, true,
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"argument_schema\":{\"type\":\"object\"},\"output_schema\":{},"
		"\"toolbox_id\":\"box\",\"risk\":\"read\"}");
}

Test(definition, formats_are_known_by_their_names)
{
	cr_expect_eq(definition_format_from_name("full", 4), DEFINITION_FULL);
	cr_expect_eq(definition_format_from_name("compact", 7), DEFINITION_COMPACT);
	cr_expect_eq(definition_format_from_name("openai", 6), DEFINITION_OPENAI);
	cr_expect_eq(definition_format_from_name("anthropic", 9), DEFINITION_ANTHROPIC);
	cr_expect_eq(definition_format_from_name("Full", 4), -1);
	cr_expect_eq(definition_format_from_name("ful", 3), -1);
	cr_expect_eq(definition_format_from_name("full\0", 5), -1);
	cr_expect_eq(definition_format_from_name("", 0), -1);
}
