/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static void expect_whole(const char *schema, const char *value, const char *whole)
{
	cleanup_free char *report = judge_report(schema, value);

	cr_assert_str_eq(report, whole);
}

Test(schema_explain, says_what_was_wanted_and_what_came)
{
	expect_whole("{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}", "12",
		"must be an integer from 1 to 9, not the number 12");
	expect_whole("{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":10}", "12",
		"must be a number greater than 0 less than 10, not the number 12");
	expect_whole("{\"type\":\"string\",\"minLength\":1}", "\"\"",
		"must be a string of at least 1 character, not the string \"\"");
	expect_whole("{\"enum\":[\"low\",\"high\"]}", "\"hgh\"",
		"must be one of \"low\", \"high\", not the string \"hgh\"; did you mean 'high'?");
	expect_whole("{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12]}", "0",
		"must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, not the number 0");
	expect_whole("{\"const\":5}", "[]", "must be 5, not an empty array");
}

Test(schema_explain, holds_a_member_to_the_patterns_of_its_name_alone)
{
	expect_whole("{\"patternProperties\":{\"^x\":{\"type\":\"number\"},\"y$\":false}}",
		"{\"xa\":\"s\",\"b\":\"s\",\"by\":1}",
		"/xa: must be a number, not the string \"s\"; /by: unexpected property 'by'");
}

Test(schema_explain, lists_every_violation_in_the_order_of_the_instance)
{
	expect_report("{\"properties\":{\"a\":{\"type\":\"null\"}},\"dependentRequired\":{\"a\":["
		      "\"b\"]}}",
		"{\"a\":1}", "'a'; /a: must be null");
	expect_whole("{\"properties\":{\"b\":{\"type\":\"null\"},\"a\":{\"maximum\":1}}}",
		"{\"a\":2,\"b\":3}",
		"/a: must be a number of at most 1, not the number 2; "
		"/b: must be null, not the number 3. "
		"Parameters: b (null, optional); a (a number of at most 1, optional)");
}

Test(schema_explain, names_missing_and_unexpected_properties)
{
	static const char schema[] =
		"{\"properties\":{\"title\":{\"type\":\"string\"},\"start\":true},"
		"\"required\":[\"title\",\"start\"],\"additionalProperties\":false}";

	expect_report(schema, "{}", "missing required properties 'title' (a string), 'start'.");
	expect_report(schema, "{\"titel\":\"x\",\"start\":1}",
		"/titel: unexpected property 'titel'; did you mean 'title'?");
	expect_report(schema, "{\"title\":\"x\",\"start\":1,\"zzz\":1}",
		"/zzz: unexpected property 'zzz'; the object takes 'title', 'start'.");
}

Test(schema_explain, counts_the_elements_that_an_array_has_to_contain)
{
	static const char few[] = "{\"contains\":{\"type\":\"integer\"},\"minContains\":2}";
	static const char many[] = "{\"contains\":{\"type\":\"integer\"},\"maxContains\":1}";

	expect_report(few, "[1,\"a\"]", "must contain at least 2 of an integer, contains 1");
	expect_report(many, "[1,2,3]", "must contain at most 1 of an integer, contains 3");
}

Test(schema_explain, hints_at_a_value_that_was_quoted)
{
	expect_report("{\"type\":\"integer\"}", "\"25\"", "; send the number 25, without quotes");
	expect_report("{\"type\":\"boolean\"}", "\"true\"", "; send the boolean true, without");
	expect_report("{\"type\":\"array\"}", "\"[1]\"", "; send the array itself, without quotes");
	expect_whole(
		"{\"type\":\"integer\"}", "\"[1]\"", "must be an integer, not the string \"[1]\"");
}

Test(schema_explain, tells_a_union_with_null_as_or_null)
{
	static const char schema[] =
		"{\"anyOf\":[{\"type\":\"string\",\"maxLength\":3},{\"type\":\"null\"}]}";

	expect_whole(schema, "\"abcd\"",
		"must be a string of at most 3 characters or null, not the string \"abcd\"");
	expect_whole(
		schema, "1", "must be a string of at most 3 characters or null, not the number 1");
}

Test(schema_explain, takes_the_branch_that_was_meant)
{
	static const char schema[] =
		"{\"oneOf\":["
		"{\"properties\":{\"kind\":{\"const\":\"daily\"},\"every\":{\"minimum\":1}}},"
		"{\"properties\":{\"kind\":{\"const\":\"weekly\"},\"days\":{\"minItems\":1}}}]}";

	expect_whole(schema, "{\"kind\":\"daily\",\"every\":0}",
		"/every: must be a number of at least 1, not the number 0");
	expect_whole(schema, "{\"kind\":\"yearly\"}",
		"/kind: must be \"daily\" or \"weekly\", not the string \"yearly\"");
}

Test(schema_explain, asks_for_the_tag_of_objects_only)
{
	static const char schema[] = "{\"oneOf\":["
				     "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}}"
				     ",\"required\":[\"k\"]},"
				     "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"}}"
				     ",\"required\":[\"k\"]}]}";

	expect_whole(schema, "{}", "missing property 'k', which must be \"a\" or \"b\"");
	expect_whole(schema, "5",
		"must be an object with 'k' \"a\" or an object with 'k' \"b\", not the number 5");
}

Test(schema_explain, names_the_members_whose_names_are_not_allowed)
{
	expect_whole("{\"propertyNames\":{\"maxLength\":3}}", "{\"a\":1,\"long\":2}",
		"/long: the property name 'long' must be a string of at most 3 characters");
}

Test(schema_explain, describes_constants_down_to_a_depth)
{
	static const char object[] = "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":1}}}";
	cleanup(buffer_deinit) struct buffer schema = {0};

	for (int depth = 1; depth <= 4; depth++) {
		buffer_reset(&schema);
		for (int i = 0; i < depth; i++)
			buffer_append_string(&schema, "{\"type\":\"array\",\"items\":");
		buffer_append_string(&schema, object);
		for (int i = 0; i < depth; i++)
			buffer_append_char(&schema, '}');
		expect_report(buffer_terminate(&schema), "5",
			depth < 4 ? "an object with 'k' 1, not" : "an object with 'k', not");
	}
}

Test(schema_explain, asks_for_no_tag_among_too_many_branches)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	for (int i = 0; i < 40; i++)
		buffer_printf(&schema,
			"%s{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"v%d\"}},"
			"\"required\":[\"k\"]}",
			i > 0 ? "," : "{\"oneOf\":[", i);
	buffer_append_string(&schema, "]}");
	expect_report(buffer_terminate(&schema), "{}",
		"\"v4\" or an object with 'k' \"v5\" or …, not an empty object");
}

Test(schema_explain, names_equal_alternatives_once)
{
	expect_whole("{\"anyOf\":[{\"minimum\":5,\"type\":\"integer\"},"
		     "{\"type\":\"integer\",\"minimum\":5},{\"type\":\"string\"}]}",
		"3", "must be an integer of at least 5 or a string, not the number 3");
	expect_whole("{\"anyOf\":[{\"minimum\":5,\"type\":\"integer\"},"
		     "{\"type\":\"integer\",\"minimum\":5}]}",
		"3", "must be an integer of at least 5, not the number 3");
}

Test(schema_explain, shows_a_value_as_it_came_on_one_line)
{
	expect_report("{\"type\":\"null\"}", "[\"a!b\",\r\n\t1 ]", "the array [\"a!b\",   1 ]");
}

Test(schema_explain, tells_which_alternatives_hold_at_once)
{
	expect_report("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2},{\"type\":\"null\"}]}",
		"5",
		"must satisfy exactly one of 3 alternatives, but satisfies 2: an integer and a");
}

Test(schema_explain, says_which_elements_are_equal)
{
	expect_report("{\"uniqueItems\":true}", "[1,2,1.0]", "number 0 and 2 are equal");
}

Test(schema_explain, tells_leftovers_only_when_all_else_holds)
{
	static const char schema[] = "{\"properties\":{\"a\":{\"type\":\"null\"}},"
				     "\"unevaluatedProperties\":false}";

	expect_report(schema, "{\"a\":null,\"b\":1}", "/b: unexpected property 'b'");
	expect_whole(schema, "{\"a\":1,\"b\":1}",
		"/a: must be null, not the number 1. Parameters: a (null, optional)");
}

Test(schema_explain, cuts_what_is_long)
{
	cleanup(buffer_deinit) struct buffer value = {0};
	cleanup_free char *report = NULL;

	buffer_append_char(&value, '"');
	for (int i = 0; i < 5000; i++)
		buffer_append_string(&value, "\xc3\xa9");
	buffer_append_char(&value, '"');
	report = judge_report("{\"type\":\"null\"}", buffer_terminate(&value));
	cr_assert_lt(strlen(report), 300);
	cr_assert_not_null(strstr(report, "…\""));
}

Test(schema_explain, keeps_line_breaks_of_names_out_of_its_line)
{
	expect_report("{\"additionalProperties\":false}", "{\"a\\nb\":1}", "'a\\u000ab'");
	expect_report("{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\\nb\":1}",
		"/a\\u000ab: must be null");
}

Test(schema_explain, names_ten_violations_and_says_that_there_are_more)
{
	cleanup_free char *report =
		judge_report("{\"items\":{\"type\":\"null\"}}", "[1,2,3,4,5,6,7,8,9,10,11,12]");

	cr_assert_not_null(strstr(report, "/9: must be null"));
	cr_assert_null(strstr(report, "/10: "));
	cr_assert_not_null(strstr(report, "; and more"));
}

Test(schema_report, takes_what_others_found_up_to_its_bound)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	cleanup(buffer_deinit) struct buffer json = {0};

	for (int i = 0; i < SCHEMA_VIOLATIONS_MAX + 1; i++)
		cr_assert_eq(schema_report_add(&report, "/a", "is \"odd\""), 0);
	cr_assert_eq(report.n_violations, SCHEMA_VIOLATIONS_MAX);
	cr_assert(report.is_cut);
	schema_report_write_json(&report, &json);
	cr_assert_not_null(strstr(
		buffer_terminate(&json), "[{\"path\":\"/a\",\"message\":\"is \\\"odd\\\"\"},"));
}

Test(schema_explain, names_the_value_of_a_member_that_no_keyword_has_evaluated)
{
	expect_report(
		"{\"properties\":{\"a\":{}},\"unevaluatedProperties\":{\"type\":\"integer\"}}",
		"{\"a\":\"x\",\"b\":1,\"c\":\"y\"}",
		"/c: must be an integer, not the string \"y\"");
	expect_report("{\"prefixItems\":[{}],\"unevaluatedItems\":{\"type\":\"integer\"}}",
		"[\"x\",1,\"y\"]", "/2: must be an integer, not the string \"y\"");
	expect_report("{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}",
		"{\"a\":1,\"b\":2}", "'b'");
}

Test(schema_explain, counts_elements_and_members_in_words)
{
	static const char *const rows[][3] = {
		{"{\"minItems\":1}", "[]", "must have at least 1 element, has 0"},
		{"{\"minItems\":2}", "[1]", "must have at least 2 elements, has 1"},
		{"{\"maxItems\":1}", "[1,2]", "must have at most 1 element, has 2"},
		{"{\"maxItems\":2}", "[1,2,3]", "must have at most 2 elements, has 3"},
		{"{\"minProperties\":1}", "{}", "must have at least 1 property, has 0"},
		{"{\"maxProperties\":0}", "{\"a\":1}", "must have at most 0 properties, has 1"},
		{"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}",
			"must have at most 1 property, has 2"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_report(rows[i][0], rows[i][1], rows[i][2]);
}

Test(schema_explain, means_the_nearest_value)
{
	expect_report("{\"enum\":[\"kitchens\",\"kitchen\",\"kitten\"]}", "\"kitchn\"",
		"did you mean 'kitchen'?");
	expect_report("{\"enum\":[\"kitten\",\"kitchens\",\"kitchen\"]}", "\"kitchn\"",
		"did you mean 'kitchen'?");
}
