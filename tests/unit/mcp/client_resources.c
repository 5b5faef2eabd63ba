/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "mcp/client/resources.h"

/* Return the array @list with the tools that are added; valid until the next call. */
static const char *add(const char *list)
{
	static struct buffer out;
	struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, list, strlen(list), JSON_DEPTH_DEFAULT, NULL), 0);
	buffer_reset(&out);
	mcp_resources_add(&out, &tape, 0);
	json_tape_deinit(&tape);
	cr_assert_eq(buffer_status(&out), 0);
	cr_assert_eq(json_tape_read(&tape, out.data, out.size, JSON_DEPTH_DEFAULT, NULL), 0);
	json_tape_deinit(&tape);
	return buffer_terminate(&out);
}

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

Test(mcp_resources, adds_two_tools_to_a_list)
{
	cr_expect(begins_with(add("[]"), "[{\"name\":\"list_resources\","));
	cr_expect(begins_with(add("[ 7, {\"name\":\"a\"} ]"),
		"[7,{\"name\":\"a\"},{\"name\":\"list_resources\","));
	cr_expect_not_null(strstr(add("[]"), "{\"name\":\"read_resource\","));
}

Test(mcp_resources, adds_none_whose_name_the_server_has)
{
	cr_expect_null(strstr(add("[{\"name\":\"read_resource\"}]"), "\"uri\""));
	cr_expect_str_eq(add("[{\"name\":\"read_resource\"},{\"name\":\"list_resources\"}]"),
		"[{\"name\":\"read_resource\"},{\"name\":\"list_resources\"}]");
}

Test(mcp_resources, has_a_method_for_each)
{
	cr_expect_str_eq(mcp_resources_method("list_resources"), "resources/list");
	cr_expect_str_eq(mcp_resources_method("read_resource"), "resources/read");
	cr_expect_null(mcp_resources_method("add"));
}
