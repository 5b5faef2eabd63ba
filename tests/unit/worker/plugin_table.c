/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/table.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "worker/plugin/parameters.h"

static const char frame[] = "{\"kind\":\"plugin\",\"library\":\"lib.so\",\"config\":{\"a\":1}}";
static struct json_tape tape;
static struct plugin_table table;
static struct diagnostics problems;
static int n_deinits;

static void handler(struct toolbox_call call, void *data)
{
	(void)call;
	(void)data;
}

static void deinit(void)
{
	n_deinits++;
}

static const struct toolbox_tool tools[] = {
	{.name = "first", .handler = handler},
	{.name = "second", .risk = TOOLBOX_WRITE, .handler = handler, .validate = handler},
};

/* Read the table; return the reason of a problems, or NULL. */
static const char *read_table(const void *symbol, size_t size)
{
	struct driver_load load = {.tape = &tape, .wire = -1};
	int r;

	cr_assert_eq(json_tape_read(&tape, frame, strlen(frame), JSON_DEPTH_DEFAULT, NULL), 0);
	diagnostics_deinit(&problems);
	plugin_table_deinit(&table);
	r = plugin_table_read(&load, symbol, size, &table, &problems);
	if (r == 0)
		return NULL;
	cr_assert_eq(r, DRIVER_E_REFUSED);
	cr_assert_eq(problems.n_items, 1);
	cr_expect_str_eq(problems.items[0].pointer, "/library");
	return problems.items[0].text;
}

static void tear_down(void)
{
	plugin_table_deinit(&table);
	json_tape_deinit(&tape);
	diagnostics_deinit(&problems);
}

TestSuite(plugin_table, .fini = tear_down);

/* Return the struct that a plugin of this version exports. */
static struct toolbox_plugin usual(void)
{
	return (struct toolbox_plugin){
		.api_version = TOOLBOX_API_VERSION,
		.size = sizeof(struct toolbox_plugin),
		.tool_size = sizeof(struct toolbox_tool),
		.n_tools = 2,
		.tools = tools,
	};
}

static void expect_refused(const struct toolbox_plugin *plugin, size_t size, const char *expected)
{
	const char *words = read_table(plugin, size);

	cr_expect_str_eq(words ? words : "taken", expected, "%s, not: %s", words ? words : "taken",
		expected);
}

Test(plugin_table, tells_its_tools_as_a_manifest_has_them)
{
	struct toolbox_plugin plugin = usual();

	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"first\"},{\"name\":\"second\",\"risk\":\"write\"}]");
	cr_expect_eq(table.n_functions, 2);
	cr_expect_str_eq(table.functions[1].name, "second");
	cr_expect_eq(table.functions[1].validate, handler);
}

Test(plugin_table, tells_everything_that_a_tool_says)
{
	static const char *const triggers[] = {"a", "b", NULL};
	struct toolbox_tool full = {
		.name = "x\xff",
		.description = "says \"it\"",
		.argument_schema = " { \"type\" : \"object\" } ",
		.output_schema = "true",
		.risk = TOOLBOX_EXECUTE,
		.flags = TOOLBOX_ALONE,
		.timeout_ms = 5,
		.cooldown_s = 7,
		.triggers = triggers,
		.handler = handler,
		.given = "statistics",
		.spoken = "{ \"en\": {\"done\": \"x\"} }",
		.grant_key = "session_id",
		.asked_key = "chars",
		.examples = "[ {\"args\": {}} ]",
	};
	struct toolbox_plugin plugin = usual();

	plugin.tools = &full;
	plugin.n_tools = 1;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"x\xef\xbf\xbd\",\"description\":\"says \\\"it\\\"\","
		"\"argument_schema\":{\"type\":\"object\"},\"output_schema\":true,"
		"\"spoken\":{\"en\":{\"done\":\"x\"}},\"examples\":[{\"args\":{}}],"
		"\"risk\":\"execute\",\"given\":\"statistics\",\"parallel\":false,\"timeout_ms\":5,"
		"\"cooldown_s\":7,"
		"\"grant_key\":\"session_id\",\"asked_key\":\"chars\","
		"\"triggers\":[\"a\",\"b\"]}]");
}

Test(plugin_table, tells_the_members_of_later_versions)
{
	struct toolbox_tool tool = {.name = "x",
		.handler = handler,
		.title = "A \"title\"",
		.flags = TOOLBOX_ALONE | TOOLBOX_IDEMPOTENT,
		.risk = TOOLBOX_READ,
		.result_max_chars = 1};
	struct toolbox_plugin plugin = usual();

	plugin.tools = &tool;
	plugin.n_tools = 1;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"x\",\"title\":\"A \\\"title\\\"\",\"risk\":\"read\","
		"\"parallel\":false,\"idempotent\":true,\"result_max_chars\":1}]",
		"%s", table.described.data);
}

Test(plugin_table, refuses_a_version_that_is_none_or_to_come)
{
	struct toolbox_plugin plugin = usual();

	plugin.api_version = 0;
	expect_refused(&plugin, sizeof(plugin),
		"'toolbox_plugin' has the api_version 0: begin it with TOOLBOX_API_VERSION, or use "
		"TOOLBOX_PLUGIN()");
	plugin.api_version = TOOLBOX_API_VERSION + 1;
	expect_refused(&plugin, sizeof(plugin),
		"it is built for version 6 of toolbox.h, and this toolboxd has version 5: update "
		"toolboxd, or build it with that version");
	plugin.api_version = UINT32_MAX;
	expect_refused(&plugin, sizeof(plugin),
		"it is built for version 4294967295 of toolbox.h, and this toolboxd has version 5: "
		"update toolboxd, or build it with that version");
}

#define LATER(what)                                                                                \
	"it uses " what                                                                            \
	" of a later version of toolbox.h than 5, which this toolboxd has: update toolboxd"

/* The sizes of version 1. */
#define PLUGIN_BYTES offsetof(struct toolbox_plugin, replaced)
#define TOOL_BYTES   offsetof(struct toolbox_tool, title)

/* Expect that a struct of @size bytes with the size @given is refused. */
static void expect_size(const void *plugin, size_t size, unsigned int given)
{
	char expected[256];

	snprintf(expected, sizeof(expected),
		"'toolbox_plugin' has the size %u, and takes %zu bytes; a struct toolbox_plugin "
		"has at least %zu",
		given, size, PLUGIN_BYTES);
	expect_refused(plugin, size, expected);
}

static void expect_tool_size(struct toolbox_plugin *plugin, unsigned int given)
{
	char expected[256];

	plugin->tool_size = given;
	snprintf(expected, sizeof(expected),
		"'toolbox_plugin' has the tool_size %u; a struct toolbox_tool has at least %zu",
		given, TOOL_BYTES);
	expect_refused(plugin, sizeof(*plugin), expected);
}

Test(plugin_table, refuses_sizes_that_are_none)
{
	struct toolbox_plugin plugin = usual();
	static char large[8192];

	expect_refused(
		&plugin, 7, "'toolbox_plugin' has 7 bytes: it is not a struct toolbox_plugin");
	expect_size(&plugin, 8, sizeof(plugin));
	expect_size(&plugin, sizeof(plugin) - 1, sizeof(plugin));
	plugin.size = PLUGIN_BYTES - 1;
	expect_size(&plugin, sizeof(plugin), PLUGIN_BYTES - 1);
	plugin.size = 4097;
	memcpy(large, &plugin, sizeof(plugin));
	expect_size(large, sizeof(large), 4097);
	plugin.size = 4096;
	memcpy(large, &plugin, sizeof(plugin));
	cr_expect_null(read_table(large, 4096));
	plugin.size = sizeof(plugin);
	expect_tool_size(&plugin, TOOL_BYTES - 1);
	expect_tool_size(&plugin, 4097);
}

/* Members of later versions are not read from the structs of an older plugin. */
Test(plugin_table, takes_the_structs_of_version_1)
{
	alignas(struct toolbox_tool) static char bytes[2 * TOOL_BYTES];
	struct toolbox_tool tool = {.name = "first", .handler = handler, .timeout_ms = 7};
	struct toolbox_plugin plugin = usual();

	memcpy(bytes, &tool, TOOL_BYTES);
	tool.name = "second";
	memcpy(bytes + TOOL_BYTES, &tool, TOOL_BYTES);
	plugin.api_version = 1;
	plugin.size = PLUGIN_BYTES;
	plugin.tool_size = TOOL_BYTES;
	plugin.tools = (const void *)bytes;
	cr_expect_null(read_table(&plugin, PLUGIN_BYTES));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"first\",\"timeout_ms\":7},{\"name\":\"second\",\"timeout_ms\":7}]",
		"%s", table.described.data);
}

/* A struct that a later header could have. */
struct later_plugin {
	struct toolbox_plugin now;
	uint64_t later;
};

struct later_tool {
	struct toolbox_tool now;
	uint64_t later;
};

Test(plugin_table, takes_larger_structs_whose_rest_is_zero)
{
	struct later_tool later_tools[] = {
		{.now = {.name = "first", .handler = handler}},
		{.now = {.name = "second", .handler = handler}},
	};
	struct later_plugin plugin = {.now = usual()};

	plugin.now.size = sizeof(plugin);
	plugin.now.tool_size = sizeof(struct later_tool);
	plugin.now.tools = &later_tools[0].now;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_eq(table.n_functions, 2);
	cr_expect_str_eq(table.functions[1].name, "second");
	later_tools[1].later = 1;
	expect_refused(&plugin.now, sizeof(plugin), LATER("members of struct toolbox_tool"));
	later_tools[1].later = 0;
	plugin.later = 1;
	expect_refused(&plugin.now, sizeof(plugin), LATER("members of struct toolbox_plugin"));
}

Test(plugin_table, refuses_a_tool_that_cannot_be_called)
{
	struct toolbox_tool tool = {.handler = handler};
	struct toolbox_plugin plugin = usual();

	plugin.tools = &tool;
	plugin.n_tools = 1;
	expect_refused(&plugin, sizeof(plugin), "the tool at 0 of its table has no name");
	tool.name = "x";
	tool.handler = NULL;
	expect_refused(&plugin, sizeof(plugin), "the tool 'x' has no handler");
	tool.handler = handler;
	tool.risk = 4;
	expect_refused(&plugin, sizeof(plugin),
		"the tool 'x' has the risk 4: an enum toolbox_risk was expected");
	tool.risk = 0;
	tool.flags = TOOLBOX_IDEMPOTENT << 1;
	expect_refused(&plugin, sizeof(plugin), LATER("flags of a tool"));
	tool.flags = 0;
	tool.output_schema = "{\"type\":}";
	expect_refused(&plugin, sizeof(plugin),
		"the tool 'x': its output_schema is not JSON: expected a value, found a closing "
		"bracket; is there a comma too many? at byte 8");
}

Test(plugin_table, makes_the_schema_from_parameters)
{
	static const struct toolbox_parameter parameters[] = {
		{.name = "who",
			.type = "string",
			.text = "Who \"it\" is",
			.required = 1,
			.max = 32},
		{.name = "times",
			.type = "integer",
			.min = 1,
			.max = INFINITY,
			.default_json = "2"},
		{.name = "by", .type = "number", .required = 1, .min = -0.5, .max = 0},
		{.name = "loud", .type = "boolean", .default_json = " true "},
		{.name = "tags", .type = "array", .min = 1, .max = 3},
		{.name = "most", .type = "string", .min = -INFINITY, .max = UINT32_MAX},
		{.name = "large", .type = "number", .min = -0x1p53 + 1, .max = 0x1p53},
		{.name = "more\xff", .type = "object"},
		{.name = NULL},
	};
	struct toolbox_tool tool = {.name = "x", .handler = handler, .parameters = parameters};
	struct toolbox_plugin plugin = usual();

	plugin.tools = &tool;
	plugin.n_tools = 1;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"x\",\"argument_schema\":{\"type\":\"object\",\"properties\":{"
		"\"who\":{\"type\":\"string\",\"maxLength\":32,\"description\":"
		"\"Who \\\"it\\\" is\"},"
		"\"times\":{\"type\":\"integer\",\"minimum\":1,\"default\":2},"
		"\"by\":{\"type\":\"number\",\"minimum\":-0.5,\"maximum\":0},"
		"\"loud\":{\"type\":\"boolean\",\"default\":true},"
		"\"tags\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3},"
		"\"most\":{\"type\":\"string\",\"maxLength\":4294967295},"
		"\"large\":{\"type\":\"number\",\"minimum\":-9007199254740991,"
		"\"maximum\":9007199254740992.0},"
		"\"more\xef\xbf\xbd\":{\"type\":\"object\"}},"
		"\"required\":[\"who\",\"by\"],\"additionalProperties\":false}}]",
		"%s", table.described.data);
	tool.parameters = &parameters[8];
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_str_eq(buffer_terminate(&table.described),
		"[{\"name\":\"x\",\"argument_schema\":{\"type\":\"object\",\"properties\":{},"
		"\"additionalProperties\":false}}]",
		"%s", table.described.data);
}

#define PARAMETER(name) "the tool 'x': its parameter '" name "' "
#define TYPES           "string, integer, number, boolean, array or object was expected"
#define COUNTED         "min must not exceed max, and both count characters or elements"
#define NO_JSON                                                                                    \
	"has a default that is not JSON: expected 'true', 'false' or 'null', found another word "  \
	"at byte 0"

Test(plugin_table, refuses_wrong_parameters)
{
	static const struct {
		struct toolbox_parameter parameter;
		const char *expected;
	} wrong[] = {
		{{.name = "a"}, PARAMETER("a") "has the type 'NULL': " TYPES},
		{{.name = "a", .type = "int"}, PARAMETER("a") "has the type 'int': " TYPES},
		{{.name = "a", .type = "boolean", .max = 1},
			PARAMETER("a") "has min and max, but a value of type boolean has no "
				       "bounds"},
		{{.name = "a", .type = "integer", .min = 1},
			PARAMETER("a") "has min 1 and max 0: min must not exceed max"},
		{{.name = "a", .type = "number", .min = NAN},
			PARAMETER("a") "has min nan and max 0: min must not exceed max"},
		{{.name = "a", .type = "string", .max = 0.5},
			PARAMETER("a") "has min 0 and max 0.5: " COUNTED},
		{{.name = "a", .type = "array", .min = -1, .max = 1},
			PARAMETER("a") "has min -1 and max 1: " COUNTED},
		{{.name = "a", .type = "string", .default_json = "text"},
			PARAMETER("a") NO_JSON "; a string is in quotes: \"\\\"text\\\"\""},
		{{.name = "a", .type = "integer", .default_json = "text"}, PARAMETER("a") NO_JSON},
		{{.name = "twin", .type = "string"}, PARAMETER("twin") "is there twice"},
		{{.name = "a", .type = "string", .max = 4294967296},
			PARAMETER("a") "has min 0 and max 4.29497e+09: " COUNTED},
		{{.name = "a", .type = "array", .min = 0.5, .max = 2},
			PARAMETER("a") "has min 0.5 and max 2: " COUNTED},
		{{.name = "a", .type = "object", .min = 1},
			PARAMETER("a") "has min and max, but a value of type object has no bounds"},
		{{.name = "a", .type = "integer", .min = -1, .max = NAN},
			PARAMETER("a") "has min -1 and max nan: min must not exceed max"},
	};
	struct toolbox_parameter parameters[] = {
		{.name = "twin", .type = "string"}, {.name = NULL}, {.name = NULL}};
	struct toolbox_tool tool = {.name = "x", .handler = handler, .parameters = parameters};
	struct toolbox_plugin plugin = usual();

	plugin.tools = &tool;
	plugin.n_tools = 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		parameters[1] = wrong[i].parameter;
		expect_refused(&plugin, sizeof(plugin), wrong[i].expected);
	}
	tool.argument_schema = "{}";
	expect_refused(&plugin, sizeof(plugin),
		"the tool 'x' has an argument_schema and parameters: leave one out");
}

Test(plugin_table, reads_a_bounded_number_of_parameters)
{
	static char names[PLUGIN_PARAMETERS_MAX + 1][8];
	static struct toolbox_parameter parameters[PLUGIN_PARAMETERS_MAX + 2];
	struct toolbox_tool tool = {.name = "x", .handler = handler, .parameters = parameters};
	struct toolbox_plugin plugin = usual();

	for (size_t i = 0; i < PLUGIN_PARAMETERS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "p%zu", i);
		parameters[i] = (struct toolbox_parameter){.name = names[i], .type = "string"};
	}
	plugin.tools = &tool;
	plugin.n_tools = 1;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	parameters[PLUGIN_PARAMETERS_MAX] =
		(struct toolbox_parameter){.name = "last", .type = "string"};
	expect_refused(&plugin, sizeof(plugin),
		PARAMETER("last") "is the 257th: at most 256 are read; an entry without a name "
				  "ends them");
}

Test(plugin_table, refuses_a_table_that_is_empty_or_endless)
{
	struct toolbox_plugin plugin = usual();

	plugin.n_tools = 0;
	expect_refused(&plugin, sizeof(plugin), "it has no tools");
	plugin.n_tools = 100001;
	expect_refused(&plugin, sizeof(plugin), "it has 100001 tools: at most 100000 are read");
	plugin.n_tools = UINT32_MAX;
	expect_refused(&plugin, sizeof(plugin), "it has 4294967295 tools: at most 100000 are read");
	plugin.n_tools = 1;
	plugin.tools = NULL;
	expect_refused(&plugin, sizeof(plugin), "it has no tools");
}

static int init_with(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	int64_t a = 0;

	cr_expect_eq(toolbox_get_i64(call, "a", &a), TOOLBOX_OK);
	cr_expect_eq(a, 1);
	cr_expect_eq(*ret_n_tools, 2);
	cr_expect_eq(toolbox_reply(call), TOOLBOX_E_MISUSE);
	cr_expect_eq(toolbox_put_null(call, "a"), TOOLBOX_E_MISUSE);
	cr_expect_eq(toolbox_keep(call), TOOLBOX_E_MISUSE);
	cr_expect_gt(toolbox_ms_left(call), 0);
	*ret_tools = &tools[1];
	*ret_n_tools = 1;
	return 0;
}

static int init_fails(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	(void)ret_tools;
	(void)ret_n_tools;
	return toolbox_fail(call, "no antenna");
}

Test(plugin_table, lets_init_give_the_tools)
{
	struct toolbox_plugin plugin = usual();

	plugin.init = init_with;
	plugin.deinit = deinit;
	cr_expect_null(read_table(&plugin, sizeof(plugin)));
	cr_expect_eq(table.n_functions, 1);
	cr_expect_str_eq(table.functions[0].name, "second");
	cr_expect_eq(table.deinit, deinit);
}

Test(plugin_table, lets_init_refuse_in_its_own_words)
{
	struct toolbox_plugin plugin = usual();

	plugin.init = init_fails;
	plugin.deinit = deinit;
	expect_refused(&plugin, sizeof(plugin), "its init() has failed: no antenna");
	cr_expect_null(table.deinit, "what was not initialised is not undone");
}
