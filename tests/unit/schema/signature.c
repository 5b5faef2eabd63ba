/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/signature.h"

#include <criterion/criterion.h>
#include <string.h>

#include "schema/words/sample.h"

static struct schema *compile(const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 0, NULL, &schema, &error), 0, "%s", text);
	return schema;
}

static void expect_parameters(const char *text, const char *expected)
{
	cleanup(schema_cleanup) struct schema *schema = compile(text);
	cleanup(buffer_deinit) struct buffer out = {0};

	signature_write_parameters(schema, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

static void expect_result(const char *text, const char *expected)
{
	cleanup(schema_cleanup) struct schema *schema = compile(text);
	cleanup(buffer_deinit) struct buffer out = {0};

	signature_write_result(schema, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

static void expect_member(const char *member, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;

	buffer_printf(&text, "{\"properties\":{\"m\":%s}}", member);
	schema = compile(buffer_terminate(&text));
	signature_describe_member(schema, "m", 1, &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

static void expect_sample(const char *text, const char *expected, bool expected_fits)
{
	cleanup(schema_cleanup) struct schema *schema = compile(text);
	cleanup(buffer_deinit) struct buffer out = {0};
	bool fits;

	cr_assert_eq(sample_write(schema, &out, &fits), 0);
	cr_expect_str_eq(buffer_terminate(&out), expected);
	cr_expect_eq(fits, expected_fits, "%s", text);
}

Test(schema_signature, has_the_parameters_in_their_order)
{
	expect_parameters(
		"{\"type\":\"object\",\"required\":[\"b\",\"a\"],\"properties\":{"
		"\"b\":{\"type\":\"integer\",\"minimum\":1},\"a\":{\"type\":\"string\"}}}",
		"b: integer, a: string");
	expect_parameters("{\"type\":\"object\"}", "");
	expect_parameters("true", "…");
}

Test(schema_signature, marks_what_may_be_left_out)
{
	expect_parameters("{\"properties\":{\"letter\":{\"type\":\"string\",\"default\":\"a\"},"
			  "\"count\":{\"type\":\"integer\"}}}",
		"letter: string = \"a\", count?: integer");
}

Test(schema_signature, writes_unions_arrays_values_and_bytes)
{
	expect_parameters(
		"{\"required\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"],\"properties\":{"
		"\"a\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]},"
		"\"b\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
		"\"c\":{\"enum\":[\"x\",\"y\"]},"
		"\"d\":{\"type\":\"string\",\"contentEncoding\":\"base64\"},"
		"\"e\":{\"type\":\"array\",\"items\":{\"type\":[\"integer\",\"null\"]}},"
		"\"f\":{},\"g\":{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
		"{\"type\":\"string\"},{\"type\":\"string\",\"minLength\":3}]}}}",
		"a: string|null, b: array of integer, c: \"x\"|\"y\", d: base64, "
		"e: array of (integer|null), f: any, g: array of string|string");
}

Test(schema_signature, follows_references)
{
	expect_parameters("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"object\","
			  "\"required\":[\"n\"],\"properties\":{\"n\":{\"$ref\":\"#/$defs/n\"}}},"
			  "\"n\":{\"type\":\"number\"}}}",
		"n: number");
}

Test(schema_signature, is_bounded)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;

	buffer_append_string(&text, "{\"properties\":{\"p\":{\"$ref\":\"#\"}");
	for (int i = 0; i < 1000; i++)
		buffer_printf(&text, ",\"p%d\":{\"type\":[\"string\",\"null\"]}", i);
	buffer_append_string(&text, "}}");
	schema = compile(buffer_terminate(&text));
	signature_write_parameters(schema, &out);
	cr_expect(strstr(buffer_terminate(&out), ", … (1001 in all)"), "%s", out.data);
	cr_expect_lt(out.size, 1000);
}

Test(schema_signature, is_bounded_without_the_text_before)
{
	static const char before[1000] = "";
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(schema_cleanup) struct schema *schema =
		compile("{\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"type\":\"null\"}}}");

	buffer_append(&out, before, sizeof(before));
	signature_write_parameters(schema, &out);
	cr_expect_str_eq(buffer_terminate(&out) + sizeof(before), "a?: null, b?: null");
}

Test(schema_signature, writes_the_first_alternatives_of_many)
{
	expect_parameters("{\"properties\":{\"a\":{\"enum\":[1,2,3,4,5,6]},\"b\":{\"enum\":[1,2,3,"
			  "4,5,6,7]}}}",
		"a?: 1|2|3|4|5|6, b?: 1|2|3|4|5|6|…");
	expect_parameters(
		"{\"properties\":{\"a\":{\"oneOf\":[{\"const\":1},{\"const\":2},{\"const\":3},"
		"{\"const\":2},{\"const\":4},{\"const\":5},{\"const\":6},{\"const\":7}]}}}",
		"a?: 1|2|3|4|5|6|…");
}

Test(schema_signature, writes_an_array_down_to_a_depth)
{
	static const char one[] = "{\"type\":\"array\",\"items\":";
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"properties\":{\"a\":{\"type\":\"array\",\"prefixItems\":[{"
				    "\"const\":1}],\"items\":{\"type\":\"null\"}},\"b\":");
	for (int i = 0; i < 6; i++)
		buffer_append_string(&text, one);
	buffer_append_string(&text, "{\"type\":\"null\"}}}}}}}},\"required\":[\"c\"]}");
	expect_parameters(buffer_terminate(&text),
		"a?: array, b?: array of array of array of array of array of …, c: any");
}

Test(schema_signature, writes_a_result_as_its_members)
{
	expect_result("{\"type\":\"object\",\"properties\":{\"quotient\":{\"type\":\"integer\"},"
		      "\"rest\":{\"type\":\"integer\"}},\"required\":[\"rest\"]}",
		"quotient: integer, rest: integer");
	expect_result("{\"type\":\"object\"}", "object");
	expect_result("true", "any");
}

Test(schema_signature, describes_a_member_in_the_words_of_violations)
{
	expect_member("{\"type\":\"array\",\"maxItems\":3,\"items\":{\"type\":\"integer\"}}",
		"an array of at most 3 elements, each an integer");
	expect_member("{\"type\":\"string\",\"contentEncoding\":\"base64\"}", "a string in base64");
	expect_member(
		"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "a string or null");
	expect_member("{\"description\":\"d\"}", "anything");
}

Test(schema_sample, has_the_required_members_with_fitting_values)
{
	expect_sample("{\"type\":\"object\",\"required\":[\"a\",\"b\",\"c\",\"d\",\"e\"],"
		      "\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":18},"
		      "\"b\":{\"type\":\"string\"},\"c\":{\"enum\":[\"x\",\"y\"]},"
		      "\"d\":{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"boolean\"}},"
		      "\"e\":{\"type\":\"string\",\"contentEncoding\":\"base64\"},"
		      "\"optional\":{\"type\":\"integer\"}}}",
		"{\"a\":18,\"b\":\"text\",\"c\":\"x\",\"d\":[true,true],\"e\":\"dGV4dA==\"}", true);
	expect_sample("{\"required\":[\"n\",\"m\",\"s\",\"t\"],\"properties\":{"
		      "\"n\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
		      "\"m\":{\"type\":\"integer\",\"exclusiveMaximum\":0},"
		      "\"s\":{\"type\":\"string\",\"minLength\":7},"
		      "\"t\":{\"type\":\"string\",\"maxLength\":2}}}",
		"{\"n\":1,\"m\":-1,\"s\":\"text te\",\"t\":\"te\"}", true);
	expect_sample("{}", "{}", true);
}

Test(schema_sample, prefers_what_the_author_wrote)
{
	expect_sample("{\"required\":[\"a\",\"b\",\"c\"],\"properties\":{"
		      "\"a\":{\"type\":\"integer\",\"default\":5},"
		      "\"b\":{\"type\":\"string\",\"examples\":[\"Porto\"]},\"c\":{\"const\":7}}}",
		"{\"a\":5,\"b\":\"Porto\",\"c\":7}", true);
	expect_sample("{\"required\":[\"a\"],\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},"
		      "{\"type\":\"string\",\"format\":\"date\"}]}}}",
		"{\"a\":\"2026-11-21\"}", true);
}

Test(schema_sample, reports_values_that_do_not_fit)
{
	expect_sample("{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\","
		      "\"pattern\":\"^[A-Z]{3}$\"}}}",
		"{\"a\":\"text\"}", false);
	expect_sample("{\"required\":[\"a\"],\"properties\":{\"a\":false}}", "{\"a\":null}", false);
}
