/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "mcp/client/pin.h"

#define ADD  "{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\",\"a\":1}}"
#define FAIL "{\"name\":\"fail\",\"inputSchema\":{}}"

static uint64_t digest(const char *list)
{
	struct json_tape tape = {0};
	uint64_t digest = 0;

	cr_assert_eq(json_tape_read(&tape, list, strlen(list), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(mcp_list_digest(&tape, 0, &digest), 0);
	json_tape_deinit(&tape);
	return digest;
}

Test(mcp_pin, digests_a_list_whatever_its_order)
{
	uint64_t wanted = digest("[" ADD "," FAIL "]");

	cr_expect_eq(digest("[" FAIL " , " ADD "]"), wanted);
	cr_expect_eq(
		digest("[" FAIL ",{\"inputSchema\":{\"a\":1,\"type\":\"object\"},\"name\":\"add\","
		       "\"_meta\":{\"at\":7}}]"),
		wanted, "the order of members, and what makes no tool, do not count");
}

Test(mcp_pin, digests_all_from_which_tools_are_made)
{
	static const char *const others[] = {"[]", "[" ADD "]", "[" ADD "," FAIL "," FAIL "]",
		"[" ADD ",7]", "[" ADD ",{\"name\":\"fail\",\"inputSchema\":{},\"title\":\"x\"}]",
		"[" ADD ",{\"name\":\"fail\",\"inputSchema\":{},\"annotations\":{}}]",
		"[" ADD ",{\"name\":\"fail\",\"inputSchema\":{},\"outputSchema\":{}}]",
		"[" ADD ",{\"name\":\"fail\",\"inputSchema\":{},\"execution\":{}}]",
		"[" ADD ",{\"name\":\"fail\",\"inputSchema\":{},\"description\":\"x\"}]"};
	uint64_t wanted = digest("[" ADD "," FAIL "]");

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		cr_expect_neq(digest(others[i]), wanted, "%s", others[i]);
		cr_expect_neq(digest(others[i]), 0);
	}
}
