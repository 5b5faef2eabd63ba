/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/param_headers.h"

#include "client.h"

#define SCHEMA                                                                                     \
	"{\"type\":\"object\",\"properties\":{"                                                    \
	"\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"                            \
	"\"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"},"                             \
	"\"dry\":{\"type\":\"boolean\",\"x-mcp-header\":\"Dry\"},"                                 \
	"\"at\":{\"type\":\"object\",\"properties\":{"                                             \
	"\"zone\":{\"type\":\"string\",\"x-mcp-header\":\"Zone\"}}},"                              \
	"\"list\":{\"type\":\"array\",\"items\":{\"x-mcp-header\":\"Never\"}}}}"

static int check_call(const char *arguments, const struct mcp_fields *fields, const char *schema)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct mcp_message message = {0};
	struct mcp_error error = {.code = 0};
	int r;

	buffer_printf(
		&text, MODERN("1", "tools/call", ",\"name\":\"x\",\"arguments\":%s"), arguments);
	cr_assert_not_null(buffer_terminate(&text));
	cr_assert_eq(judge(&message, text.data, NULL, &error), 0);
	r = mcp_check_param_headers(&message, fields, schema, &error);
	cr_expect_eq(r, r == 0 ? 0 : MCP_E_REFUSED);
	cr_expect(r == 0 || error.code != MCP_HEADER_MISMATCH || error.status == 400);
	mcp_message_deinit(&message);
	return r == 0 ? 0 : (int)error.code;
}

static void expect_match(const char *arguments, const struct mcp_fields *fields)
{
	cr_expect_eq(check_call(arguments, fields, SCHEMA), 0, "%s", arguments);
}

static void expect_mismatch(const char *arguments, const struct mcp_fields *fields)
{
	cr_expect_eq(check_call(arguments, fields, SCHEMA), MCP_HEADER_MISMATCH, "%s", arguments);
}

Test(mcp_param_headers, must_repeat_the_arguments)
{
	expect_match("{}", FIELDS("Mcp-Param-Never: 1"));
	expect_match("{\"region\":null}", FIELDS("Mcp-Param-Other: 1"));
	expect_match("{\"region\":\"eu\"}", FIELDS("mcp-param-region:  eu "));
	expect_match("{\"region\":\"Hello\"}", FIELDS("Mcp-Param-Region: =?base64?SGVsbG8=?="));
	expect_match("{\"region\":\"SGVsbG8=\"}", FIELDS("Mcp-Param-Region: SGVsbG8="));
	expect_match("{\"region\":\"=?base64?SGVsbG8=\"}",
		FIELDS("Mcp-Param-Region: =?base64?SGVsbG8="));
	expect_match("{\"count\":42,\"dry\":false}",
		FIELDS("Mcp-Param-Count: 42.0", "Mcp-Param-Dry: false"));
	expect_match("{\"at\":{\"zone\":\"\"}}", FIELDS("Mcp-Param-Zone:"));
	expect_match("{\"at\":7,\"list\":[1]}", FIELDS("Mcp-Param-Other: 1"));
}

Test(mcp_param_headers, are_refused_when_they_do_not)
{
	expect_mismatch("{\"region\":\"eu\"}", FIELDS("Accept: */*"));
	expect_mismatch("{\"region\":\"eu\"}", FIELDS("Mcp-Param-Region: EU"));
	expect_mismatch(
		"{\"region\":\"eu\"}", FIELDS("Mcp-Param-Region: eu", "Mcp-Param-Region: eu"));
	expect_mismatch("{}", FIELDS("Mcp-Param-Region: eu"));
	expect_mismatch("{\"region\":null}", FIELDS("Mcp-Param-Region: null"));
	expect_mismatch("{\"region\":\"Hello\"}", FIELDS("Mcp-Param-Region: =?base64?SGVsbG8?="));
	expect_mismatch(
		"{\"region\":\"Hello\"}", FIELDS("Mcp-Param-Region: =?base64?SGVs!!bG8=?="));
	expect_mismatch("{\"count\":42}", FIELDS("Mcp-Param-Count: 43"));
	expect_mismatch("{\"count\":42}", FIELDS("Mcp-Param-Count: \"42\""));
	expect_mismatch("{\"count\":42}", FIELDS("Mcp-Param-Count: 4 2"));
	expect_mismatch("{\"count\":42}", FIELDS("Mcp-Param-Count:"));
	expect_mismatch("{\"dry\":true}", FIELDS("Mcp-Param-Dry: True"));
	expect_mismatch("{\"dry\":true}", FIELDS("Mcp-Param-Dry: false"));
	expect_mismatch("{\"at\":{\"zone\":\"x\"}}", FIELDS("Accept: */*"));
	expect_mismatch("{\"region\":{\"a\":1}}", FIELDS("Mcp-Param-Region: {\"a\":1}"));
}

Test(mcp_param_headers, are_only_of_schemas_that_ask_for_them)
{
	const struct mcp_fields *fields = FIELDS("Mcp-Param-Region: eu");

	cr_expect_eq(check_call("{\"region\":\"us\"}", fields, "{}"), 0);
	cr_expect_eq(check_call("{\"region\":\"us\"}", fields, "true"), 0);
	cr_expect_eq(check_call("{\"region\":\"us\"}", fields,
			     "{\"properties\":{\"region\":{\"x-mcp-header\":7}}}"),
		0);
	cr_expect_eq(check_call("{\"region\":\"us\"}", fields,
			     "{\"description\":\"x-mcp-header\",\"properties\":[]}"),
		0);
}

Test(mcp_param_headers, are_of_nested_properties_alone)
{
	static const char schema[] =
		"{\"properties\":{\"a\":true,\"b\":{\"x-mcp-header\":1},\"c\":{\"properties\":[]},"
		"\"d\":{\"properties\":{\"e\":{\"x-mcp-header\":\"E\"}}}}}";

	cr_expect_eq(check_call("{\"a\":1,\"b\":2,\"c\":{}}", FIELDS("X: y"), schema), 0);
	cr_expect_eq(check_call("{\"d\":{\"e\":\"x\"}}", FIELDS("Mcp-Param-E:x"), schema), 0);
	cr_expect_eq(
		check_call("{\"d\":{\"e\":\"x\"}}", FIELDS("X: y"), schema), MCP_HEADER_MISMATCH);
	cr_expect_eq(check_call("{\"d\":5}", FIELDS("X: y"), schema), 0);
	cr_expect_eq(check_call("{\"d\":5}", FIELDS("Mcp-Param-E:x"), schema), MCP_HEADER_MISMATCH);
	cr_expect_eq(check_call("{\"e\":\"x\"}", FIELDS("X: y"), schema), 0);
}

Test(mcp_param_headers, cannot_be_checked_by_a_schema_that_is_too_deep)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	buffer_append_string(&schema, "{\"x-mcp-header\":");
	for (int i = 0; i < JSON_DEPTH_DEFAULT; i++)
		buffer_append_char(&schema, '[');
	for (int i = 0; i < JSON_DEPTH_DEFAULT; i++)
		buffer_append_char(&schema, ']');
	buffer_append_char(&schema, '}');
	cr_assert(buffer_terminate(&schema));
	cr_expect_eq(check_call("{}", FIELDS("X: y"), schema.data), MCP_INTERNAL_ERROR);
	cr_expect_eq(check_call("{}", FIELDS("X: y"), "[\"x-mcp-header\"]"), 0);
}
