/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static void expect_filled(const char *schema, const char *value, const char *wanted)
{
	bool is_changed = false;
	cleanup_free char *filled = judge_fill(NULL, schema, value, &is_changed);

	cr_assert_str_eq(filled, wanted);
	cr_assert_eq(is_changed, strcmp(value, wanted) != 0);
}

static void expect_coerced(
	const char *schema, const char *value, const char *wanted, size_t wanted_changes)
{
	size_t changes = 0;
	cleanup_free char *coerced = judge_coerce(schema, value, &changes);

	cr_assert_str_eq(coerced, wanted);
	cr_assert_eq(changes, wanted_changes, "%zu changes", changes);
}

Test(schema_fill, adds_absent_properties_and_keeps_every_other_byte)
{
	static const char schema[] =
		"{\"properties\":{\"a\":{\"default\":1.50},\"b\":{\"default\":\"\\u00e9\"}}}";

	expect_filled(schema, "{}", "{\"a\":1.50,\"b\":\"\\u00e9\"}");
	expect_filled(
		schema, "{ \"b\" : 9007199254740993 }", "{ \"b\" : 9007199254740993,\"a\":1.50 }");
	expect_filled(schema, "{\"a\":null,\"b\":1e400}", "{\"a\":null,\"b\":1e400}");
	expect_filled(schema, "[ ]", "[ ]");
}

Test(schema_fill, fills_at_every_depth_and_inside_of_defaults)
{
	static const char schema[] =
		"{\"properties\":{\"o\":{\"default\":{},\"properties\":{\"k\":{\"default\":3}}},"
		"\"l\":{\"items\":{\"$ref\":\"#/$defs/e\"}}},"
		"\"$defs\":{\"e\":{\"properties\":{\"x\":{\"default\":[]}}}}}";

	expect_filled(
		schema, "{\"l\":[{},{\"x\":1}]}", "{\"l\":[{\"x\":[]},{\"x\":1}],\"o\":{\"k\":3}}");
}

Test(schema_fill, takes_defaults_only_of_branches_that_hold)
{
	static const char schema[] =
		"{\"anyOf\":[{\"properties\":{\"k\":{\"const\":1},\"a\":{\"default\":1}}},"
		"{\"properties\":{\"k\":{\"const\":2},\"b\":{\"default\":2}}}],"
		"\"if\":{\"required\":[\"z\"]},\"then\":{\"properties\":{\"c\":{\"default\":3}}},"
		"\"not\":{\"properties\":{\"d\":{\"default\":4}},\"required\":[\"q\"]}}";

	expect_filled(schema, "{\"k\":2}", "{\"k\":2,\"b\":2}");
	expect_filled(schema, "{\"k\":1,\"z\":0}", "{\"k\":1,\"z\":0,\"c\":3,\"a\":1}");
}

Test(schema_fill, goes_on_by_the_schemas_of_what_nothing_else_evaluates)
{
	expect_filled("{\"properties\":{\"a\":true},\"unevaluatedProperties\":"
		      "{\"properties\":{\"x\":{\"default\":1}}}}",
		"{\"a\":{},\"b\":{}}", "{\"a\":{},\"b\":{\"x\":1}}");
	expect_filled("{\"prefixItems\":[true],\"unevaluatedItems\":"
		      "{\"properties\":{\"x\":{\"default\":1}}}}",
		"[{},{}]", "[{},{\"x\":1}]");
}

Test(schema_fill, leaves_a_default_out_that_does_not_satisfy_its_schema_where_mistakes_are_ignored)
{
	static const struct schema_options ignoring = {.ignores_mistakes = true};
	static const char schema[] =
		"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"integer\",\"default\":\"x\"},"
		"\"b\":{\"type\":\"integer\",\"default\":1}}},"
		"{\"properties\":{\"a\":{\"default\":2},\"c\":{\"default\":{},"
		"\"properties\":{\"d\":{\"maxLength\":1,\"default\":\"xx\"}}}}}]}";
	bool is_changed;
	cleanup_free char *filled = judge_fill(&ignoring, schema, "{}", &is_changed);
	cleanup_free char *whole =
		judge_fill(&ignoring, schema, "{\"a\":0,\"b\":0,\"c\":{}}", &is_changed);

	cr_assert_str_eq(filled, "{\"b\":1,\"a\":2,\"c\":{}}");
	cr_assert_str_eq(whole, "{\"a\":0,\"b\":0,\"c\":{}}");
	cr_assert_not(is_changed);
}

Test(schema_fill, writes_integers_as_digits_where_no_fraction_is_taken)
{
	expect_filled("{\"properties\":{\"i\":{\"type\":\"integer\"},\"n\":{\"type\":\"number\"},"
		      "\"l\":{\"items\":{\"type\":[\"integer\",\"null\"]}}}}",
		"{\"i\": 2.0, \"n\": 2.0,\"l\":[1e1, 2,null,-0.0], \"x\":3.0}",
		"{\"i\": 2, \"n\": 2.0,\"l\":[10, 2,null,0], \"x\":3.0}");
	expect_filled("{\"anyOf\":[{\"type\":\"integer\",\"minimum\":9},{\"type\":\"string\"}]}",
		"1e1", "10");
	expect_filled("{\"type\":\"integer\"}", "1e400", "1e400");
	expect_filled("{\"properties\":{\"i\":{\"type\":\"integer\",\"default\":2.0}}}", "{}",
		"{\"i\":2}");
}

Test(schema_fill, takes_the_first_of_two_defaults)
{
	expect_filled("{\"allOf\":[{\"properties\":{\"a\":{\"default\":1}}},"
		      "{\"properties\":{\"a\":{\"default\":2}}}]}",
		"{}", "{\"a\":1}");
}

Test(schema_coerce, takes_strings_as_what_they_hold)
{
	static const char schema[] =
		"{\"properties\":{\"i\":{\"type\":\"integer\"},\"n\":{\"type\":\"number\"},"
		"\"b\":{\"type\":\"boolean\"},\"l\":{\"type\":\"array\"},"
		"\"m\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}}}";

	expect_coerced(schema, "{\"i\":\"25\",\"n\":\"2.50\",\"b\":\"true\",\"l\":\"[1]\"}",
		"{\"i\":25,\"n\":2.50,\"b\":true,\"l\":[1]}", 4);
	expect_coerced(schema, "{\"m\":\"3\"}", "{\"m\":3}", 1);
	expect_coerced(schema, "{\"i\":\"2.5\",\"b\":\"yes\",\"n\":\"1e\"}",
		"{\"i\":\"2.5\",\"b\":\"yes\",\"n\":\"1e\"}", 0);
	expect_coerced(schema, "{\"b\":\"True\",\"m\":\"null\"}", "{\"b\":true,\"m\":null}", 2);
	expect_coerced(schema, "{\"b\":\"False\",\"m\":\"None\"}", "{\"b\":false,\"m\":null}", 2);
}

/* Models fill in every parameter that they know. */
Test(schema_coerce, takes_null_for_an_optional_member_that_is_absent)
{
	static const char schema[] = "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{"
				     "\"type\":\"string\"},\"c\":{\"type\":\"integer\"},"
				     "\"o\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
				     "\"boolean\"}}}},\"required\":[\"c\"]}";

	expect_coerced(schema, "{ \"a\": null, \"c\": 1}", "{ \"c\": 1}", 1);
	expect_coerced(schema, "{\"a\":null , \"b\" :null}", "{}", 2);
	expect_coerced(schema, "{\"c\":1,\"a\":null,\"b\":\"x\"}", "{\"c\":1,\"b\":\"x\"}", 1);
	expect_coerced(
		schema, "{\"c\":1,\"o\":{\"x\":null},\"a\":\"None\" }", "{\"c\":1,\"o\":{} }", 2);
	expect_coerced(schema, "{\"c\":null,\"d\":null,\"b\":\"null\"}",
		"{\"c\":null,\"d\":null,\"b\":\"null\"}", 0);
	expect_coerced("{\"items\":{\"type\":\"integer\"}}", "[null]", "[null]", 0);
	expect_coerced("{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"a\":null}",
		"{\"a\":null}", 0);
}

Test(schema_coerce, reports_each_change_by_its_path_in_the_value)
{
	static const char schema_text[] = "{\"additionalProperties\":{\"type\":[\"integer\","
					  "\"boolean\",\"array\",\"object\"]}}";
	static const char text[] = "{\"data\":{\"args\":{\"a\":\"25\",\"b\":\"true\",\"c\":\"[1]\","
				   "\"d\":\"{}\"}}}";
	static const char *const expected[][2] = {
		{"/a", "the string \"25\" was taken as the number it holds"},
		{"/b", "the string \"true\" was taken as the boolean it holds"},
		{"/c", "the string \"[1]\" was taken as the array it holds"},
		{"/d", "the string \"{}\" was taken as the object it holds"},
	};
	cleanup(json_tape_cleanup) struct json_tape schema_tape = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t args;

	cr_assert_eq(
		json_tape_read(&schema_tape, schema_text, sizeof(schema_text) - 1, 9, NULL), 0);
	cr_assert_eq(json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL), 0);
	cr_assert_eq(schema_compile(&schema_tape, 0, NULL, &schema, &error), 0);
	args = json_find(&tape, json_find(&tape, 0, "data"), "args");
	cr_assert_eq(schema_coerce(schema, context, &tape, args, NULL, &out, &changes), 0);
	cr_assert_eq(changes.n_violations, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(changes.violations[i].path, expected[i][0]);
		cr_expect_str_eq(changes.violations[i].message, expected[i][1]);
	}
}

Test(schema_coerce, leaves_alone_what_may_be_a_string)
{
	expect_coerced("{\"properties\":{\"a\":{\"type\":[\"string\",\"integer\"]},\"b\":true}}",
		"{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}",
		0);
	expect_coerced("{\"type\":\"string\"}", "5", "5", 0);
	expect_coerced("{\"type\":\"integer\"}", "null", "null", 0);
}

Test(schema_coerce, goes_on_inside_of_what_a_string_held)
{
	expect_coerced("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}",
		"\"{\\\"a\\\":\\\"1\\\"}\"", "{\"a\":1}", 1);
}

static void expect_masked(const char *schema, const char *value, const char *wanted)
{
	bool is_changed = false;
	cleanup_free char *masked = judge_mask(schema, value, &is_changed);

	cr_assert_str_eq(masked, wanted);
	cr_assert_eq(is_changed, strcmp(value, wanted) != 0);
}

Test(schema_mask, hides_values_that_are_write_only_and_keeps_every_other_byte)
{
	static const char schema[] =
		"{\"properties\":{\"p\":{\"type\":\"string\",\"writeOnly\":true},"
		"\"o\":{\"properties\":{\"k\":{\"writeOnly\":true}}},"
		"\"q\":{\"writeOnly\":false}}}";

	expect_masked(schema, "{ \"p\" : \"s\" , \"q\": 1.50}", "{ \"p\" : \"***\" , \"q\": 1.50}");
	expect_masked(schema, "{\"o\":{\"k\":{\"deep\":[1]},\"x\":1}}",
		"{\"o\":{\"k\":\"***\",\"x\":1}}");
	expect_masked(schema, "{\"q\":1}", "{\"q\":1}");
	expect_masked("{\"writeOnly\":true}", "{\"a\":1}", "\"***\"");
	expect_masked(
		"{\"properties\":{\"writeOnly\":{}}}", "{\"writeOnly\":1}", "{\"writeOnly\":1}");
}

#define TEXT_IS_SECRET                                                                             \
	"{\"anyOf\":[{\"type\":\"string\",\"writeOnly\":true},{\"type\":\"integer\"}]}"

Test(schema_mask, finds_the_schema_of_a_value_wherever_it_is)
{
	static const struct {
		const char *schema, *value, *masked;
	} cases[] = {
		{"{\"properties\":{\"p\":{\"$ref\":\"#/$defs/s\"}},"
		 "\"$defs\":{\"s\":{\"writeOnly\":true}}}",
			"{\"p\":1}", "{\"p\":\"***\"}"},
		{"{\"properties\":{\"p\":{\"$ref\":\"#/$defs/s\",\"writeOnly\":true}},"
		 "\"$defs\":{\"s\":{}}}",
			"{\"p\":1}", "{\"p\":\"***\"}"},
		{"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"properties\":{\"p\":"
		 "{\"$ref\":\"#/definitions/s\",\"writeOnly\":true}},\"definitions\":{\"s\":{}}}",
			"{\"p\":1}", "{\"p\":\"***\"}"},
		{"{\"patternProperties\":{\"^s_\":{\"writeOnly\":true}}}", "{\"s_a\":1,\"b\":2}",
			"{\"s_a\":\"***\",\"b\":2}"},
		{"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"writeOnly\":true}}",
			"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":\"***\"}"},
		/* the branch is the one that the value itself satisfies */
		{"{\"properties\":{\"a\":{}},\"additionalProperties\":" TEXT_IS_SECRET "}",
			"{\"a\":\"t\",\"b\":\"s\",\"c\":1,\"d\":\"s\"}",
			"{\"a\":\"t\",\"b\":\"***\",\"c\":1,\"d\":\"***\"}"},
		{"{\"patternProperties\":{\"^[bcd]\":" TEXT_IS_SECRET "}}",
			"{\"a\":\"t\",\"b\":\"s\",\"c\":1,\"d\":\"s\"}",
			"{\"a\":\"t\",\"b\":\"***\",\"c\":1,\"d\":\"***\"}"},
		{"{\"unevaluatedProperties\":" TEXT_IS_SECRET "}",
			"{\"b\":\"s\",\"c\":1,\"d\":\"s\"}",
			"{\"b\":\"***\",\"c\":1,\"d\":\"***\"}"},
		{"{\"prefixItems\":[{},{}],\"items\":" TEXT_IS_SECRET "}",
			"[\"t\",1,\"s\",1,\"s\"]", "[\"t\",1,\"***\",1,\"***\"]"},
		{"{\"unevaluatedItems\":" TEXT_IS_SECRET "}", "[1,\"s\",1,\"s\"]",
			"[1,\"***\",1,\"***\"]"},
		{"{\"items\":{\"writeOnly\":true}}", "[1,[2]]", "[\"***\",\"***\"]"},
		{"{\"prefixItems\":[{},{\"writeOnly\":true}]}", "[1,2,3]", "[1,\"***\",3]"},
		{"{\"contains\":{\"writeOnly\":true}}", "[1,2]", "\"***\""},
		{"{\"allOf\":[{\"properties\":{\"p\":{\"writeOnly\":true}}}]}", "{\"p\":1}",
			"{\"p\":\"***\"}"},
		{"{\"anyOf\":[{\"properties\":{\"p\":{\"type\":\"string\",\"writeOnly\":true}}},"
		 "{\"properties\":{\"p\":{\"type\":\"null\"}}}]}",
			"{\"p\":\"s\"}", "{\"p\":\"***\"}"},
		{"{\"if\":{\"required\":[\"k\"]},"
		 "\"else\":{\"properties\":{\"p\":{\"writeOnly\":true}}}}",
			"{\"p\":1}", "{\"p\":\"***\"}"},
		{"{\"unevaluatedProperties\":{\"writeOnly\":true}}", "{\"p\":1}",
			"{\"p\":\"***\"}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_masked(cases[i].schema, cases[i].value, cases[i].masked);
}

/* The words of a person: seven, and for ever. */
static bool read_seven(const void *data, const char *text, size_t size, struct buffer *out)
{
	cr_expect_eq(data, &read_seven);
	if (size == 5 && memcmp(text, "seven", size) == 0)
		buffer_append_string(out, "7");
	else if (size == 8 && memcmp(text, "for ever", size) == 0)
		buffer_append_string(out, "null");
	return out->size > 0;
}

static void expect_words(const char *given, const char *expected)
{
	static const char schema[] = "{\"properties\":{\"i\":{\"type\":\"integer\"},"
				     "\"n\":{\"type\":[\"integer\",\"null\"]},"
				     "\"s\":{\"type\":\"string\"}}}";
	const struct schema_words words = {read_seven, (const void *)&read_seven};
	size_t changes;
	cleanup_free char *text = judge_coerce_with(schema, given, &words, &changes);

	cr_expect_str_eq(text, expected, "%s: %s", given, text);
	cr_expect_eq(changes > 0, strcmp(given, expected) != 0);
}

Test(schema_coerce, takes_the_words_of_a_person)
{
	expect_words("{\"i\":\"seven\"}", "{\"i\":7}");
	expect_words("{\"n\":\"for ever\"}", "{\"n\":null}");
	expect_words("{\"i\":\"eight\"}", "{\"i\":\"eight\"}");
	expect_words("{\"i\":\"8\"}", "{\"i\":8}");
	expect_words("{\"i\":\"\"}", "{\"i\":\"\"}");
	expect_words("{\"s\":\"seven\"}", "{\"s\":\"seven\"}");
}
