/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "quotes.h"
#include "util/cleanup.h"

/* The words of a report for what a schema wants, and for what it got. */

TestSuite(schema_describe, .timeout = 60);

/* Expect that @value must be @wanted by @schema, and is called @actual. */
static void expect_words(
	const char *schema, const char *value, const char *wanted, const char *actual)
{
	cleanup_free char *schema_json = quoted(schema);
	cleanup_free char *value_json = quoted(value);
	cleanup_free char *wanted_text = quoted(wanted);
	cleanup_free char *actual_text = quoted(actual);
	cleanup_free char *report = judge_report(schema_json, value_json);
	cleanup(buffer_deinit) struct buffer expected = {0};

	buffer_printf(&expected, "must be %s, not %s", wanted_text, actual_text);
	cr_expect(strstr(report, buffer_terminate(&expected)), "%s: %s", schema, report);
}

Test(schema_describe, names_types_with_an_article)
{
	static const char *const cases[][2] = {
		{"{'type':'string'}", "a string"},
		{"{'type':'integer'}", "an integer"},
		{"{'type':'number'}", "a number"},
		{"{'type':'object'}", "an object"},
		{"{'type':'array'}", "an array"},
		{"{'type':'null'}", "null"},
		{"{'type':['string','null']}", "a string or null"},
		{"{'type':['integer','string','null']}", "an integer or a string or null"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(cases[i][0], "true", cases[i][1], "true");
}

Test(schema_describe, names_the_bounds_of_a_number)
{
	static const char *const cases[][2] = {
		{"'minimum':1", "an integer of at least 1"},
		{"'maximum':9", "an integer of at most 9"},
		{"'minimum':1,'maximum':9", "an integer from 1 to 9"},
		{"'exclusiveMinimum':0", "an integer greater than 0"},
		{"'exclusiveMaximum':10", "an integer less than 10"},
		{"'multipleOf':5", "an integer that is a multiple of 5"},
		{"'minimum':1.50,'multipleOf':0.5",
			"an integer of at least 1.50 that is a multiple of 0.5"},
		{"'minimum':1,'exclusiveMaximum':10", "an integer of at least 1 less than 10"},
	};
	char schema[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(schema, sizeof(schema), "{'type':'integer',%s}", cases[i][0]);
		expect_words(schema, "true", cases[i][1], "true");
	}
}

Test(schema_describe, names_the_sizes_of_strings_arrays_and_objects)
{
	static const char *const cases[][2] = {
		{"{'type':'string','minLength':1}", "a string of at least 1 character"},
		{"{'type':'string','minLength':2}", "a string of at least 2 characters"},
		{"{'type':'string','maxLength':1}", "a string of at most 1 character"},
		{"{'type':'string','maxLength':0}", "a string of at most 0 characters"},
		{"{'type':'string','minLength':1,'maxLength':80}",
			"a string of 1 to 80 characters"},
		{"{'type':'string','minLength':7,'maxLength':7}",
			"a string of exactly 7 characters"},
		{"{'type':'string','minLength':1,'maxLength':1}",
			"a string of exactly 1 character"},
		{"{'type':'array','minItems':2}", "an array of at least 2 elements"},
		{"{'type':'array','maxItems':1}", "an array of at most 1 element"},
		{"{'type':'array','minItems':1,'uniqueItems':true}",
			"an array of at least 1 element that differ"},
		{"{'type':'object','minProperties':1,'maxProperties':3}",
			"an object of 1 to 3 members"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(cases[i][0], "true", cases[i][1], "true");
}

Test(schema_describe, names_the_elements_of_an_array_down_to_a_depth)
{
	static const char leaf[] = "{'type':'integer'}";

	for (int depth = 1; depth <= 6; depth++) {
		cleanup(buffer_deinit) struct buffer schema = {0};
		cleanup(buffer_deinit) struct buffer wanted = {0};

		for (int i = 0; i < depth; i++)
			buffer_append_string(&schema, "{'type':'array','items':");
		buffer_append_string(&schema, leaf);
		for (int i = 0; i < depth; i++)
			buffer_append_char(&schema, '}');
		buffer_append_string(&wanted, "an array");
		for (int i = 1; i < depth && i < 5; i++)
			buffer_append_string(&wanted, ", each an array");
		if (depth <= 4)
			buffer_append_string(&wanted, ", each an integer");
		expect_words(buffer_terminate(&schema), "true", buffer_terminate(&wanted), "true");
	}
}

Test(schema_describe, names_what_a_string_has_to_be)
{
	static const char *const cases[][2] = {
		{"{'type':'string','pattern':'^[a-z]+$'}", "a string that matches ^[a-z]+$"},
		{"{'type':'string','pattern':'^x','examples':['x1']}",
			"a string that matches ^x, for example 'x1'"},
		{"{'type':'string','pattern':'^x','description':'An id.'}",
			"a string that matches ^x: 'An id.'"},
		{"{'type':'string','pattern':'^x','examples':[5],'description':'An id.'}",
			"a string that matches ^x: 'An id.'"},
		{"{'type':'string','contentEncoding':'base64'}", "a string in base64"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(cases[i][0], "true", cases[i][1], "true");
}

Test(schema_describe, lists_values)
{
	static const char *const cases[][2] = {
		{"{'const':'x'}", "'x'"},
		{"{'const':1.50}", "1.50"},
		{"{'const':null}", "null"},
		{"{'const':{'a':[1]}}", "{'a':[1]}"},
		{"{'enum':['low','high']}", "one of 'low', 'high'"},
		{"{'enum':[1]}", "1"},
		{"{'enum':[1,null,false]}", "one of 1, null, false"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(cases[i][0], "true", cases[i][1], "true");
}

Test(schema_describe, names_the_value_that_came)
{
	static const char *const cases[][2] = {
		{"'text'", "the string 'text'"},
		{"''", "the string ''"},
		{"12.50", "the number 12.50"},
		{"true", "true"},
		{"null", "null"},
		{"[]", "an empty array"},
		{"{}", "an empty object"},
		{"[1,2]", "the array [1,2]"},
		{"{'a':1}", "the object {'a':1}"},
		{"[\n1,\t2\n]", "the array [ 1, 2 ]"},
		{"'caf\\u00e9'", "the string 'café'"},
		{"'a\\u001bb'", "the string 'a\\u001bb'"},
		{"'123456789012345678901234567890123456789012345678901234567890'",
			"the string "
			"'12345678901234567890123456789012345678901234567890123456789…'"},
		{"[11111111111111111111,22222222222222222222,33333333333333333333]",
			"the array [11111111111111111111,22222222222222222222,33333333333333333…"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(
			"{'const':'none of them'}", cases[i][0], "'none of them'", cases[i][1]);
}

/* Names are in single quotes, so these schemas are written as they are. */
Test(schema_describe, names_an_object_by_its_constants_and_required_names)
{
	static const char *const cases[][2] = {
		{"{\"type\":\"object\",\"required\":[\"a\"]}", "an object with 'a', not true"},
		{"{\"type\":\"object\",\"required\":[\"b\",\"a\"]}",
			"an object with 'b', 'a', not true"},
		{"{\"type\":\"object\",\"properties\":{\"k\":{\"const\":1}}}",
			"an object with 'k' 1, not true"},
		{"{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"x\"},\"l\":{}},"
		 "\"required\":[\"l\"]}",
			"an object with 'k' \"x\", 'l', not true"},
		{"{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"null\"}}}",
			"must be an object, not true"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup_free char *report = judge_report(cases[i][0], "true");

		cr_expect(strstr(report, cases[i][1]), "%s: %s", cases[i][0], report);
	}
}

Test(schema_describe, names_alternatives)
{
	static const char *const cases[][2] = {
		{"{'anyOf':[{'type':'string'},{'type':'null'}]}", "a string or null"},
		{"{'oneOf':[{'type':'integer'},{'type':'string','minLength':1}]}",
			"an integer or a string of at least 1 character"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_words(cases[i][0], "true", cases[i][1], "true");
}
