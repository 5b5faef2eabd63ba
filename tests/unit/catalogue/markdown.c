/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/markdown.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "manifest_fixture.h"
#include "scarce.h"

/* Tools as text for a model, made from manifests. */

TestSuite(markdown, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

#define COMMAND(members)                                                                           \
	"{'kind':'command','tools':[{'name':'t','command':{'argv':['true']}," members "}]}"

static void expect_tool(const char *manifest, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	read_good(manifest);
	markdown_write_tool(&toolbox->tools[0], "box__t", &out);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", manifest, out.data);
}

#define ARGUMENTS(properties, required)                                                            \
	COMMAND("'argument_schema':{'type':'object','properties':{" properties                     \
		"},'required':[" required "],'additionalProperties':false}")

Test(markdown, has_a_line_for_each_argument)
{
	static const char *const cases[][2] = {
		{COMMAND("'description':'Says  it.\\nTwice.'"),
			"### box__t\n\nSays it. Twice.\n\n"},
		{COMMAND("'description':''"), "### box__t\n\n"},
		{ARGUMENTS("'a':{'type':'integer'}", "'a'"),
			"### box__t\n\n- `a` (integer, required)\n\n"},
		{ARGUMENTS("'a':{'type':'integer','default':3}", ""),
			"### box__t\n\n- `a` (integer, default 3)\n\n"},
		{ARGUMENTS("'a':{'type':'string','description':'the  first\\none'}", ""),
			"### box__t\n\n- `a` (string): the first one\n\n"},
		{ARGUMENTS("'a':{'type':['string','null']}", ""),
			"### box__t\n\n- `a` (string or null)\n\n"},
		{ARGUMENTS("'a':{'enum':['x',1,null]}", ""),
			"### box__t\n\n- `a` (any, one of \"x\", 1, null)\n\n"},
		{ARGUMENTS("'a':{'type':'string','enum':['x','y'],'default':'y'}", ""),
			"### box__t\n\n- `a` (string, one of \"x\", \"y\", default \"y\")\n\n"},
		{ARGUMENTS("'a':true", ""), "### box__t\n\n- `a` (any)\n\n"},
		{ARGUMENTS("'a':{},'b':{'type':'object'},'c':{'type':'array'}", "'b','c'"),
			"### box__t\n\n- `a` (any)\n- `b` (object, required)\n- `c` (array, "
			"required)\n\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_tool(cases[i][0], cases[i][1]);
}

Test(markdown, begins_no_line_that_a_text_has_made_up)
{
	expect_tool(COMMAND("'description':'One.\\n\\n## other\\n\\n- `b` (string)'"),
		"### box__t\n\nOne. ## other - `b` (string)\n\n");
	expect_tool(ARGUMENTS("'a':{'type':'string','description':'x\\u000d\\u000a### y'}", ""),
		"### box__t\n\n- `a` (string): x ### y\n\n");
}

Test(markdown, has_the_toolbox_as_a_heading)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	read_good("{'kind':'command','toolbox_id':'words','description':'All\\n about words.',"
		  "'tools':[{'name':'t','command':{'argv':['true']}}]}");
	markdown_write_toolbox(toolbox, &out);
	cr_expect_str_eq(buffer_terminate(&out), "## words\n\nAll about words.\n\n");
	buffer_reset(&out);
	read_good("{'kind':'command','toolbox_id':'words',"
		  "'tools':[{'name':'t','command':{'argv':['true']}}]}");
	markdown_write_toolbox(toolbox, &out);
	cr_expect_str_eq(buffer_terminate(&out), "## words\n\n");
}

Test(markdown, is_whole_or_has_failed_when_memory_is_short)
{
	size_t n = 0;

	read_good(ARGUMENTS("'a':{'type':'integer','enum':[1,2],'description':'x'}", "'a'"));
	for (; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		bool has_failed;

		markdown_write_tool(&toolbox->tools[0], "t", &out);
		has_failed = scarce_has_failed();
		if (buffer_status(&out) == 0)
			cr_expect_str_eq(buffer_terminate(&out),
				"### t\n\n- `a` (integer, one of 1, 2, required): x\n\n", "%zu", n);
		else
			cr_expect(has_failed && buffer_status(&out) == -ENOMEM);
	}
	cr_expect_gt(n, 3);
}
