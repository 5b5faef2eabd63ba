/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/tool_name.h"

#include <criterion/criterion.h>
#include <string.h>

#define TEN "0123456789"

static void expect_name(const char *name, const char *wanted)
{
	char mapped[MCP_TOOL_NAME_BYTES + 1];

	mcp_map_tool_name(name, strlen(name), mapped);
	cr_expect_str_eq(mapped, wanted, "%s: %s", name, mapped);
}

Test(mcp_tool_name, maps_other_characters_by_code_point)
{
	expect_name("add-2_Numbers", "add-2_Numbers");
	expect_name("get.weather now", "get_weather_now");
	expect_name("größe€😀", "gr__e__");
	expect_name(".x", "_x");
	expect_name("", "");
}

Test(mcp_tool_name, puts_a_line_before_a_digit_and_a_hyphen)
{
	expect_name("2d", "_2d");
	expect_name("-x", "_-x");
	expect_name("_2", "_2");
}

/* The digests come from `printf %s NAME | sha256sum`. */
Test(mcp_tool_name, cuts_a_long_name)
{
	expect_name("a" TEN TEN TEN TEN TEN TEN "123", "a" TEN TEN TEN TEN TEN TEN "123");
	expect_name("a" TEN TEN TEN TEN TEN TEN "1234", "a" TEN TEN TEN TEN TEN "012345_3e96f4");
	expect_name(TEN TEN TEN TEN TEN TEN "0123", "_" TEN TEN TEN TEN TEN "012345_9674d9");
	expect_name(TEN TEN TEN TEN TEN TEN "012", "_" TEN TEN TEN TEN TEN TEN "012");
}
