/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/request.h"

#include <criterion/criterion.h>
#include <string.h>

#include "boxes.h"
#include "offer/offer.h"

static struct offer offer;
static struct asked asked;

static void set_up(void)
{
	offer.catalogue =
		make_catalogue(make_box("radio", BOX_TOOL("set", "") "," BOX_TOOL("tune", "")),
			make_box("light", BOX_TOOL("set", "") "," BOX_TOOL("turn_on", "")), NULL);
}

static void tear_down(void)
{
	asked_deinit(&asked);
	catalogue_free(offer.catalogue);
}

TestSuite(named_tool, .init = set_up, .fini = tear_down);

static void expect_found(const char *members, bool last_wins, const char *id, const char *name)
{
	const struct tool *tool = NULL;

	ask(&asked, members);
	cr_assert(request_find_tool(
			  &offer, offer.catalogue, &asked.request, last_wins, &asked.answer, &tool),
		"%s", members);
	cr_expect_str_eq(tool->toolbox->id, id);
	cr_expect_str_eq(tool->name, name);
	expect_answer(&asked, "");
}

static void expect_error(const char *members, const char *expected)
{
	const struct tool *tool;

	ask(&asked, members);
	cr_assert_not(request_find_tool(
			      &offer, offer.catalogue, &asked.request, false, &asked.answer, &tool),
		"%s", members);
	expect_answer(&asked, expected);
}

Test(named_tool, finds_the_tool_that_a_request_names)
{
	expect_found("'name':'tune'", false, "radio", "tune");
	expect_found("'name':'set','toolbox_id':'radio'", false, "radio", "set");
	expect_found("'name':'light__set'", false, "light", "set");
	expect_found("'name':'set'", true, "radio", "set");
}

Test(named_tool, misses_a_name)
{
	static const char missing[] =
		"\"error\":\"Missing required field: 'name'\",\"code\":\"missing_name\"";

	expect_error("", missing);
	expect_error("'name':null", missing);
	expect_error("'name':''", missing);
}

Test(named_tool, reports_an_unknown_name_and_near_ones)
{
	expect_error("'name':'tun'",
		"\"error\":\"Unknown tool: 'tun'; did you mean 'tune'?\",\"code\":\"unknown_tool\","
		"\"suggestions\":[\"tune\"]");
	expect_error("'name':'turn','toolbox_id':'light'",
		"\"error\":\"Unknown tool: 'turn'; did you mean "
		"'turn_on'?\",\"code\":\"unknown_tool\","
		"\"suggestions\":[\"turn_on\"]");
	expect_error("'name':'tune','toolbox_id':'nobody'",
		"\"error\":\"Unknown tool: 'tune'; there is no toolbox 'nobody'\","
		"\"code\":\"unknown_tool\",\"suggestions\":[]");
	expect_error("'name':'tune','toolbox_id':'radoi'",
		"\"error\":\"Unknown tool: 'tune'; there is no toolbox 'radoi', did you mean "
		"'radio'?\",\"code\":\"unknown_tool\",\"suggestions\":[]");
}

Test(named_tool, reports_a_name_that_is_no_string_by_its_text)
{
	expect_error("'name':42",
		"\"error\":\"Unknown tool: '42'\",\"code\":\"unknown_tool\",\"suggestions\":[]");
	expect_error("'name':['tune']",
		"\"error\":\"Unknown tool: '[\\\"tune\\\"]'\",\"code\":\"unknown_tool\","
		"\"suggestions\":[]");
}

Test(named_tool, repeats_no_more_than_a_name)
{
	char members[512] = "'name':'";
	char expected[512] = "\"error\":\"Unknown tool: '";

	for (int i = 0; i < 200; i++)
		strcat(members, "x");
	for (int i = 0; i < REQUEST_NAME_POINTS; i++)
		strcat(expected, "x");
	strcat(members, "'");
	strcat(expected, "'\",\"code\":\"unknown_tool\",\"suggestions\":[]");
	expect_error(members, expected);
}

Test(named_tool, reports_the_owners_of_an_ambiguous_name)
{
	expect_error("'name':'set'",
		"\"error\":\"Ambiguous tool: 'set' is in toolboxes 'light', 'radio'; name one in "
		"'toolbox_id'\",\"code\":\"ambiguous_tool\",\"toolbox_ids\":[\"light\",\"radio\"]");
}
