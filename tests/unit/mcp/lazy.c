/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/lazy.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "scarce.h"

/* Three tools in place of a list: their texts, and what a search returns. */

static struct mcp_tools tools;

static void tear_down(void)
{
	mcp_tools_deinit(&tools);
}

TestSuite(lazy, .fini = tear_down);

/* Make a list of @n tools of as many toolboxes, with the annotations @hints. */
static void make_list(size_t n, char ids[][32], const char *hints)
{
	cr_assert_eq(mcp_tools_begin(&tools, n), 0);
	for (size_t i = 0; i < n; i++) {
		snprintf(ids[i], sizeof(ids[i]), "box%02zu", i);
		buffer_printf(&tools.text, "{\"name\":\"%s__go\"%s}", ids[i], hints);
		mcp_tools_add(
			&tools, &(struct mcp_listed_tool){
					.listed = ids[i], .toolbox_id = ids[i], .name = "go"});
	}
	cr_assert_eq(mcp_tools_end(&tools), 0);
}

static const char *describe(void *data, const char *toolbox_id)
{
	(void)toolbox_id;
	return data;
}

/* The text of the tool @which has @part. */
static void expect_part(enum mcp_lazy_tool which, const char *part)
{
	cr_expect_not_null(
		memmem(tools.lazy[which].text, tools.lazy[which].size, part, strlen(part)), "%.*s",
		(int)tools.lazy[which].size, tools.lazy[which].text);
}

Test(lazy, describes_the_toolboxes_and_counts_the_tools)
{
	char ids[2][32];

	make_list(2, ids, "");
	cr_assert_eq(mcp_lazy_make(&tools, describe, "Lights.\nMore."), 0);
	cr_expect(tools.is_lazy);
	expect_part(MCP_SEARCH_TOOLS, "among 2.");
	expect_part(MCP_SEARCH_TOOLS, "\\nbox00: Lights.\\nbox01: Lights.\"");
	expect_part(MCP_GET_TOOL, "\"name\":\"get_tool\"");
	for (size_t i = 0; i < MCP_LAZY_TOOLS; i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};

		cr_expect_eq(
			json_tape_read(&tape, tools.lazy[i].text, tools.lazy[i].size, 16, NULL), 0);
	}
}

Test(lazy, bounds_the_description)
{
	static char ids[MCP_LAZY_TOOLBOXES_MAX + 1][32];
	char line[300];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	make_list(MCP_LAZY_TOOLBOXES_MAX + 1, ids, "");
	cr_assert_eq(mcp_lazy_make(&tools, describe, line), 0);
	expect_part(MCP_SEARCH_TOOLS, "\\nand others\"");
	cr_expect_lt(tools.lazy[MCP_SEARCH_TOOLS].size, 64 * 130);
}

/* The annotations of call_tool for a list with the annotations of the first text are the second. */
static void expect_annotations(const char *hints, const char *expected)
{
	char ids[2][32];

	make_list(2, ids, hints);
	cr_assert_eq(mcp_lazy_make(&tools, describe, NULL), 0);
	expect_part(MCP_CALL_TOOL, expected);
	mcp_tools_deinit(&tools);
}

Test(lazy, has_the_annotations_of_the_worst_tool)
{
	static const char anything[] = "\"annotations\":{\"readOnlyHint\":false,"
				       "\"destructiveHint\":true,\"openWorldHint\":true}}";

	expect_annotations(",\"annotations\":{\"readOnlyHint\":true}",
		"\"annotations\":{\"readOnlyHint\":true}}");
	expect_annotations(",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false}",
		"\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false}}");
	expect_annotations(",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true}",
		"\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true}}");
	expect_annotations(",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,"
			   "\"openWorldHint\":true}",
		anything);
	expect_annotations("", anything);
}

#define FOUND(box, name)                                                                           \
	"{\"name\":\"given_" name "\",\"description\":\"D.\",\"inputSchema\":{},\"score\":1.5,"    \
	"\"_meta\":{\"toolboxd/source\":{\"toolbox\":\"" box "\"},\"toolboxd/name\":\"" name       \
	"\"}}"
#define REST ",\"description\":\"D.\",\"inputSchema\":{}}"

static bool is_second(void *data, const struct json_tape *found, uint32_t tool)
{
	(void)data;
	return json_string_equals(
		found, json_find(found, tool, "name"), "given_b", strlen("given_b"));
}

static void expect_found(const struct mcp_lazy_search *search, const char *expected)
{
	static const char found[] =
		"{\"tools\":[" FOUND("x", "a") "," FOUND("y", "b") ",5],\"total\":2}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, found, strlen(found), 16, NULL), 0);
	mcp_lazy_write_found(&tape, search, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s", out.data);
}

Test(lazy, names_what_it_finds_as_the_list_does)
{
	expect_found(&(struct mcp_lazy_search){.limit = 8, .names = MCP_NAMES_WHOLE},
		"{\"tools\":[{\"name\":\"x__a\"" REST ",{\"name\":\"y__b\"" REST "]}");
	expect_found(&(struct mcp_lazy_search){.limit = 8, .names = MCP_NAMES_OWN},
		"{\"tools\":[{\"name\":\"a\"" REST ",{\"name\":\"b\"" REST "]}");
	expect_found(&(struct mcp_lazy_search){.limit = 1, .names = MCP_NAMES_GIVEN},
		"{\"tools\":[{\"name\":\"given_a\"" REST "]}");
	expect_found(&(struct mcp_lazy_search){.limit = 1, .serves = is_second},
		"{\"tools\":[{\"name\":\"y__b\"" REST "]}");
}

Test(lazy, knows_its_three_names)
{
	static const char json[] = "[\"search_tools\",\"get_tool\",\"call_tool\",\"call_tools\",5]";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 2, NULL), 0);
	cr_expect_eq(mcp_lazy_find(&tape, 1), MCP_SEARCH_TOOLS);
	cr_expect_eq(mcp_lazy_find(&tape, 2), MCP_GET_TOOL);
	cr_expect_eq(mcp_lazy_find(&tape, 3), MCP_CALL_TOOL);
	cr_expect_eq(mcp_lazy_find(&tape, 4), -1);
	cr_expect_eq(mcp_lazy_find(&tape, 5), -1);
}

/* The result of a search for which a service has answered @found. */
static void expect_of(const char *found, const char *expected)
{
	const struct mcp_lazy_search search = {.limit = 2, .names = MCP_NAMES_WHOLE};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(json_tape_read(&tape, found, strlen(found), 16, NULL), 0, "%s", found);
	mcp_lazy_write_found(&tape, &search, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", found, out.data);
}

#define OWN "\"_meta\":{\"toolboxd/source\":{\"toolbox\":\"box\"},\"toolboxd/name\":\"" N60 "\"}"
#define N60 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff"

Test(lazy, finds_nothing_in_an_answer_of_another_form)
{
	static const char *const others[] = {"{}", "{\"tools\":null}", "{\"tools\":{\"name\":1}}",
		"{\"tools\":[]}", "{\"tools\":[null,5,\"x\",[{}]]}", "[]", "5"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		expect_of(others[i], "{\"tools\":[]}");
	expect_of("{\"tools\":[{\"name\":5,\"_meta\":[]},{\"_meta\":{\"toolboxd/source\":5}},{}]}",
		"{\"tools\":[{\"name\":\"\"},{\"name\":\"\"}]}");
}

Test(lazy, takes_the_given_name_for_one_that_is_too_long)
{
	expect_of(
		"{\"tools\":[{\"name\":\"short\"," OWN "}]}", "{\"tools\":[{\"name\":\"short\"}]}");
	expect_of("{\"tools\":[{" OWN "}]}", "{\"tools\":[{\"name\":\"box__" N60 "\"}]}");
}

Test(lazy, is_made_whole_or_not_at_all_when_memory_is_short)
{
	char ids[2][32];

	for (size_t n = 0, goes_on = 1; goes_on; n++) {
		int r;

		make_list(2, ids, ",\"annotations\":{\"readOnlyHint\":true}");
		scarce_once_after(n);
		r = mcp_lazy_make(&tools, describe, "Lights.");
		goes_on = scarce_has_failed();
		cr_expect(r == 0 || (r == -ENOMEM && goes_on), "allocation %zu: %d", n, r);
		cr_expect_eq(tools.is_lazy, r == 0);
		if (r == 0)
			expect_part(MCP_SEARCH_TOOLS, "box01: Lights.");
		mcp_tools_deinit(&tools);
	}
}
