/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "judge.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"

#define DRAFT_07 "\"$schema\":\"http://json-schema.org/draft-07/schema#\""

Test(schema_validate, takes_everything_by_true_and_nothing_by_false)
{
	cr_assert(judge("true", "{\"a\":[1]}"));
	cr_assert(judge("{}", "null"));
	cr_assert_not(judge("false", "null"));
}

Test(schema_validate, tells_integers_by_value_not_by_spelling)
{
	cr_assert(judge("{\"type\":\"integer\"}", "3.0"));
	cr_assert(judge("{\"type\":\"integer\"}", "1e2"));
	cr_assert(judge("{\"type\":\"integer\"}", "1e400"));
	cr_assert_not(judge("{\"type\":\"integer\"}", "3.5"));
	cr_assert_not(judge("{\"type\":\"integer\"}", "1e-1"));
}

Test(schema_validate, keeps_integers_exact_at_any_size)
{
	cr_assert(judge("{\"maximum\":9007199254740993}", "9007199254740993"));
	cr_assert_not(judge("{\"maximum\":9007199254740992}", "9007199254740993"));
	cr_assert_not(judge("{\"const\":1e400}", "1e401"));
	cr_assert_not(judge("{\"enum\":[9007199254740992]}", "9007199254740993"));
	cr_assert(judge("{\"uniqueItems\":true}", "[9007199254740992,9007199254740993]"));
}

Test(schema_validate, compares_short_numbers_as_exactly_as_long_ones)
{
	cr_assert(judge("{\"minimum\":-1}", "-1"));
	cr_assert(judge("{\"minimum\":-1}", "-0.5"));
	cr_assert_not(judge("{\"minimum\":-1}", "-1.5"));
	cr_assert_not(judge("{\"exclusiveMinimum\":2}", "2.0"));
	cr_assert(judge("{\"exclusiveMinimum\":2}", "2.01"));
	cr_assert_not(judge("{\"maximum\":2}", "2.01"));
	cr_assert(judge("{\"exclusiveMaximum\":2}", "1.99"));
	cr_assert_not(judge("{\"exclusiveMaximum\":2}", "2"));
	cr_assert(judge("{\"maximum\":0.3}", "0.30"));
	cr_assert_not(judge("{\"maximum\":0.3}", "0.300000000000000000001"));
}

Test(schema_validate, divides_without_dust)
{
	cr_assert(judge("{\"multipleOf\":0.1}", "0.3"));
	cr_assert(judge("{\"multipleOf\":0.0001}", "0.0075"));
	cr_assert_not(judge("{\"multipleOf\":0.0001}", "0.00751"));
	cr_assert(judge("{\"multipleOf\":1e-8}", "12391239123"));
	cr_assert_not(judge("{\"multipleOf\":7}", "100000000000000000000"));
	cr_assert(judge("{\"multipleOf\":7}", "-14.0"));
}

Test(schema_validate, counts_code_points)
{
	cr_assert(judge("{\"minLength\":1,\"maxLength\":1}", "\"\xf0\x9f\x98\x80\""));
	cr_assert(judge("{\"minLength\":1,\"maxLength\":1}", "\"\\ud83d\\ude00\""));
	cr_assert_not(judge("{\"maxLength\":1}", "\"\\u00e9e\""));
	cr_assert_not(judge("{\"minLength\":3}", "\"\xc3\xa9\xc3\xa9\""));
}

Test(schema_validate, takes_a_nul_in_a_value_as_a_character)
{
	cr_assert(judge("{\"const\":\"a\\u0000b\"}", "\"a\\u0000b\""));
	cr_assert_not(judge("{\"const\":\"a\\u0000b\"}", "\"a\\u0000c\""));
	cr_assert_not(judge("{\"enum\":[\"a\"]}", "\"a\\u0000\""));
}

Test(schema_validate, compares_strings_decoded)
{
	cr_assert(judge("{\"const\":\"\\u00e9\"}", "\"\xc3\xa9\""));
	cr_assert(judge("{\"properties\":{\"\xc3\xa9\":false}}", "{\"e\":1}"));
	cr_assert_not(judge("{\"properties\":{\"\xc3\xa9\":false}}", "{\"\\u00e9\":1}"));
}

Test(schema_validate, wants_every_required_name_also_among_many)
{
	static const char schema[] = "{\"required\":[\"a1\",\"a2\",\"a3\",\"a4\",\"a5\",\"a6\","
				     "\"a7\",\"a8\",\"a9\",\"longer_name_1\",\"longer_name_2\"]}";
	static const char all[] = "{\"longer_name_2\":1,\"longer_name_1\":1,\"a9\":1,\"a8\":1,"
				  "\"a7\":1,\"a6\":1,\"a5\":1,\"a4\":1,\"a3\":1,\"a2\":1,"
				  "\"a1\":1}";
	static const char other[] = "{\"longer_name_2\":1,\"longer_name_3\":1,\"a9\":1,\"a8\":1,"
				    "\"a7\":1,\"a6\":1,\"a5\":1,\"a4\":1,\"a3\":1,\"a2\":1,"
				    "\"a1\":1}";

	cr_assert(judge(schema, all));
	cr_assert_not(judge(schema, other));
}

Test(schema_validate, holds_a_value_to_what_is_beside_other_schemas)
{
	static const struct {
		const char *schema;
		const char *good;
		const char *bad;
	} cases[] = {
		{"{\"minimum\":3,\"not\":{\"const\":5}}", "4", "2"},
		{"{\"minimum\":3,\"not\":{\"const\":5}}", "4", "5"},
		{"{\"minLength\":2,\"not\":{\"const\":\"no\"}}", "\"yes\"", "\"y\""},
		{"{\"minLength\":2,\"not\":{\"const\":\"no\"}}", "\"yes\"", "\"no\""},
		{"{\"minItems\":1,\"not\":{\"const\":[0]}}", "[1]", "[]"},
		{"{\"minItems\":1,\"not\":{\"const\":[0]}}", "[1]", "[0]"},
		{"{\"required\":[\"a\"],\"not\":{\"const\":{\"a\":0}}}", "{\"a\":1}", "{}"},
		{"{\"required\":[\"a\"],\"not\":{\"const\":{\"a\":0}}}", "{\"a\":1}", "{\"a\":0}"},
		{"{\"enum\":[true,null],\"not\":{\"const\":null}}", "true", "false"},
		{"{\"enum\":[true,null],\"not\":{\"const\":null}}", "true", "null"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect(judge(cases[i].schema, cases[i].good), "%s", cases[i].schema);
		cr_expect_not(judge(cases[i].schema, cases[i].bad), "%s", cases[i].schema);
	}
}

Test(schema_validate, wants_what_a_member_depends_on)
{
	static const char names[] = "{\"dependentRequired\":{\"a\":[\"b\",\"c\"]}}";
	static const char schemas[] =
		"{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":{\"const\":1}}}}}";

	cr_assert(judge(names, "{}"));
	cr_assert(judge(names, "{\"b\":1}"));
	cr_assert(judge(names, "{\"a\":1,\"b\":1,\"c\":1}"));
	cr_assert_not(judge(names, "{\"a\":1,\"b\":1}"));
	cr_assert_not(judge(names, "{\"a\":1}"));
	cr_assert(judge(schemas, "{\"b\":2}"));
	cr_assert(judge(schemas, "{\"a\":1,\"b\":1}"));
	cr_assert_not(judge(schemas, "{\"a\":1,\"b\":2}"));
}

Test(schema_validate, takes_members_in_any_order)
{
	static const char schema[] = "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":true,"
				     "\"c\":{\"type\":\"null\"},\"d\":{}},"
				     "\"required\":[\"a\",\"c\",\"e\"],"
				     "\"additionalProperties\":{\"type\":\"string\"}}";

	cr_assert(judge(schema, "{\"a\":1,\"c\":null,\"e\":\"\"}"));
	cr_assert(judge(schema, "{\"e\":\"\",\"d\":1,\"c\":null,\"b\":2,\"a\":3}"));
	cr_assert(judge(schema, "{\"c\":null,\"x\":\"\",\"a\":1,\"e\":\"\"}"));
	cr_assert(judge(schema, "{\"b\":0,\"\\u0061\":1,\"\\u0063\":null,\"\\u0065\":\"\"}"));
	cr_assert_not(judge(schema, "{\"b\":0,\"c\":null,\"e\":\"\",\"d\":1}"));
	cr_assert_not(judge(schema, "{\"a\":1,\"d\":null,\"e\":\"\",\"b\":1}"));
	cr_assert_not(judge(schema, "{\"a\":1,\"c\":null,\"d\":\"\",\"b\":1}"));
	cr_assert_not(judge(schema, "{\"c\":null,\"a\":0.5,\"e\":\"\"}"));
}

Test(schema_validate, tells_long_names_apart_wherever_they_differ)
{
	static const char schema[] =
		"{\"properties\":{\"\":{},\"length_of_nine\":{},\"beginning-middle-the_end\":{}},"
		"\"additionalProperties\":false}";

	cr_assert(judge(schema, "{\"\":0,\"length_of_nine\":1,\"beginning-middle-the_end\":2}"));
	cr_assert(judge(schema, "{\"beginning-middle-the_end\":2}"));
	cr_assert_not(judge(schema, "{\"\":0,\"length_of_none\":1}"));
	cr_assert_not(judge(schema, "{\"\":0,\"length-of_nine\":1}"));
	cr_assert_not(judge(schema, "{\"beginning-muddle-the_end\":2}"));
	cr_assert_not(judge(schema, "{\"beginning-middle-the_and\":2}"));
	cr_assert_not(judge(schema, "{\"beguiling-middle-the_end\":2}"));
	cr_assert(judge("{\"enum\":[\"beginning-middle-the_end\",\"b\"]}", "\"b\""));
	cr_assert_not(judge(
		"{\"enum\":[\"beginning-middle-the_end\",\"b\"]}", "\"beginning-muddle-the_end\""));
}

Test(schema_validate, asks_the_one_branch_that_takes_the_type)
{
	static const char optional[] =
		"{\"anyOf\":[{\"type\":\"integer\",\"minimum\":2},{\"type\":\"null\"}]}";
	static const char one[] = "{\"oneOf\":[{\"type\":\"object\",\"required\":[\"a\"]},"
				  "{\"type\":\"string\"}],\"unevaluatedProperties\":false}";

	cr_assert(judge(optional, "null"));
	cr_assert(judge(optional, "2"));
	cr_assert(judge(optional, "2.0"));
	cr_assert_not(judge(optional, "2.5"));
	cr_assert_not(judge(optional, "1"));
	cr_assert_not(judge(optional, "1.0"));
	cr_assert_not(judge(optional, "\"\""));
	cr_assert_not(judge(one, "{\"a\":1}"));
	cr_assert(judge(one, "\"\""));
	cr_assert_not(judge("{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"null\"}]}", "1"));
}

Test(schema_validate, asks_once_for_a_name_that_is_required_twice)
{
	static const struct schema_options trusted = {.is_trusted = true};

	cr_assert(judge_with(&trusted, "{\"required\":[\"a\",\"a\"]}", "{\"a\":1}"));
}

Test(schema_validate, finds_equal_elements_among_many_of_any_spelling)
{
	cr_assert_not(judge("{\"uniqueItems\":true}",
		"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,{\"a\":1,\"b\":[2]},{\"b\":[2.0],\"a\":1e0}]"));
	cr_assert(judge("{\"uniqueItems\":true}",
		"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,\"1\",true,false,null,[],{},[[]]]"));
	cr_assert_not(judge(
		"{\"uniqueItems\":true}", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,\"\\u0061\",\"a\"]"));
}

Test(schema_validate, marks_only_what_branches_that_hold_evaluated)
{
	static const char schema[] =
		"{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},"
		"{\"properties\":{\"b\":true},\"required\":[\"b\"]}],"
		"\"unevaluatedProperties\":false}";

	cr_assert(judge(schema, "{\"a\":\"x\",\"b\":1}"));
	cr_assert_not(judge(schema, "{\"a\":1,\"b\":1}"));
	cr_assert_not(judge(schema, "{\"b\":1,\"c\":1}"));
	cr_assert_not(judge("{\"not\":{\"properties\":{\"a\":true},\"required\":[\"z\"]},"
			    "\"unevaluatedProperties\":false}",
		"{\"a\":1}"));
}

Test(schema_validate, marks_more_members_than_a_word_has_bits)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "[0");
	for (int i = 1; i < 200; i++)
		buffer_printf(&value, ",%d", i);
	buffer_append_string(&value, "]");
	buffer_terminate(&value);
	cr_assert(judge(
		"{\"contains\":{\"type\":\"integer\"},\"unevaluatedItems\":false}", value.data));
	cr_assert_not(
		judge("{\"contains\":{\"maximum\":198},\"unevaluatedItems\":false}", value.data));
}

Test(schema_validate, follows_the_dynamic_scope)
{
	static const char schema[] =
		"{\"$id\":\"http://x/strict\",\"$dynamicAnchor\":\"n\",\"$ref\":\"tree\","
		"\"unevaluatedProperties\":false,"
		"\"$defs\":{\"t\":{\"$id\":\"tree\",\"$dynamicAnchor\":\"n\",\"properties\":"
		"{\"next\":{\"$dynamicRef\":\"#n\"}}}}}";

	cr_assert(judge(schema, "{\"next\":{\"next\":{}}}"));
	cr_assert_not(judge(schema, "{\"next\":{\"nxt\":{}}}"));
}

Test(schema_validate, ignores_what_stands_beside_a_reference_in_draft_07)
{
	static const char schema[] =
		"{" DRAFT_07 ",\"definitions\":{\"a\":{\"type\":\"integer\"}},"
		"\"properties\":{\"p\":{\"$ref\":\"#/definitions/a\",\"maximum\":1}}}";

	cr_assert(judge(schema, "{\"p\":2}"));
	cr_assert_not(judge(schema, "{\"p\":\"x\"}"));
}

Test(schema_validate, reads_a_list_of_items_in_draft_07)
{
	static const char schema[] =
		"{" DRAFT_07 ",\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}";

	cr_assert(judge(schema, "[\"a\"]"));
	cr_assert_not(judge(schema, "[\"a\",1]"));
	cr_assert_not(judge(schema, "[1]"));
}

Test(schema_validate, matches_patterns_as_ecma_does)
{
	cr_assert(judge("{\"pattern\":\"^\\\\S$\"}", "\"\xc3\xa9\""));
	cr_assert_not(judge("{\"pattern\":\"\\\\S\"}", "\"\\ufeff\\u00a0\""));
	cr_assert_not(judge("{\"pattern\":\"^.$\"}", "\"\\u2028\""));
	cr_assert_not(judge("{\"pattern\":\"^a$\"}", "\"a\\n\""));
	cr_assert_not(judge("{\"pattern\":\"^\\\\d$\"}", "\"\\u0663\""));
	cr_assert(judge("{\"pattern\":\"^\\\\p{Letter}+$\"}", "\"\\u03c0\""));
	cr_assert(judge("{\"pattern\":\"^[\\\\w-.]+$\"}", "\"a-b.c\""));
	cr_assert(judge("{\"pattern\":\"^\\\\ud83d\\\\ude00$\"}", "\"\\ud83d\\ude00\""));
	cr_assert_not(judge("{\"pattern\":\"[]\"}", "\"a\""));
	cr_assert(judge("{\"pattern\":\"^[^]$\"}", "\"\\n\""));
	cr_assert(judge("{\"pattern\":\"^\\\\cA\\\\v\\\\0$\"}", "\"\\u0001\\u000b\\u0000\""));
}

Test(schema_validate, asserts_formats_only_where_it_is_told_to)
{
	static const struct schema_options asserting = {.assert_formats = true};
	static const char schema[] = "{\"format\":\"date-time\"}";

	cr_assert(judge(schema, "\"tomorrow\""));
	cr_assert_not(judge_with(&asserting, schema, "\"tomorrow\""));
	cr_assert(judge_with(&asserting, schema, "\"2026-11-21T09:30:00+01:00\""));
	cr_assert(judge_with(&asserting, "{\"format\":\"of-our-own\"}", "\"?\""));
}

Test(schema_validate, validates_a_value_inside_of_a_message)
{
	static const char text[] = "{\"args\":{\"a\":1},\"b\":2}";
	cleanup(json_tape_cleanup) struct json_tape schema_tape = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(schema_report_deinit) struct schema_report report = {0};

	json_tape_read(&schema_tape, "{\"required\":[\"b\"]}", 18, 9, NULL);
	json_tape_read(&tape, text, sizeof(text) - 1, 9, NULL);
	cr_assert_eq(schema_compile(&schema_tape, 0, NULL, &schema, &error), 0);
	cr_assert_eq(schema_validate(schema, context, &tape, json_find(&tape, 0, "args")),
		SCHEMA_E_INVALID);
	cr_assert_eq(
		schema_explain(schema, context, &tape, json_find(&tape, 0, "args"), &report), 0);
	cr_assert_str_eq(report.violations[0].path, "");
}

/* Append @n times @text, with commas between. */
static void append_times(struct buffer *out, const char *text, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		buffer_append_string(out, text);
	}
}

Test(schema_validate, remembers_which_of_many_elements_a_branch_has_evaluated)
{
	static const char schema[] =
		"{\"allOf\":[{\"anyOf\":[{\"contains\":{\"type\":\"integer\"}}]}],"
		"\"unevaluatedItems\":{\"const\":\"x\"}}";
	cleanup(buffer_deinit) struct buffer taken = {0};
	cleanup(buffer_deinit) struct buffer refused = {0};

	buffer_append_string(&taken, "[");
	append_times(&taken, "1,\"x\"", 5000);
	buffer_append_buffer(&refused, &taken);
	buffer_append_string(&taken, "]");
	buffer_append_string(&refused, ",\"y\"]");
	cr_expect(judge(schema, buffer_terminate(&taken)));
	cr_expect_not(judge(schema, buffer_terminate(&refused)));
}

Test(schema_validate, tells_equal_numbers_among_many_elements)
{
	static const char *const cases[][3] = {
		{"1.5", "15e-1", "1.25"},
		{"12.5", "1.25e1", "12.75"},
		{"-0.5", "-5e-1", "0.5"},
		{"0", "-0.0", "1e-9"},
		{"1e400", "10e399", "1e401"},
		{"1e-400", "0.1e-399", "1e-401"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t other = 1; other <= 2; other++) {
			cleanup(buffer_deinit) struct buffer value = {0};

			buffer_printf(&value, "[%s", cases[i][0]);
			for (int k = 100; k < 200; k++)
				buffer_printf(&value, ",%d.25", k);
			buffer_printf(&value, ",%s]", cases[i][other]);
			cr_expect_eq(judge("{\"uniqueItems\":true}", buffer_terminate(&value)),
				other == 2, "%s and %s", cases[i][0], cases[i][other]);
		}
	}
}

Test(schema_validate, takes_a_limit_beyond_all_sizes)
{
	cr_expect(judge("{\"maxLength\":99999999999999999999}", "\"a\""));
	cr_expect_not(judge("{\"minLength\":99999999999999999999}", "\"a\""));
}

Test(schema_validate, takes_the_target_of_a_dynamic_reference_whose_anchor_no_scope_has)
{
	static const char schema[] =
		"{\"$id\":\"http://x/a\",\"$ref\":\"b\",\"$defs\":{"
		"\"b\":{\"$id\":\"b\",\"properties\":{\"m\":{\"$dynamicRef\":\"c#t\"}}},"
		"\"c\":{\"$id\":\"c\",\"$dynamicAnchor\":\"t\",\"type\":\"integer\"},"
		"\"d\":{\"$id\":\"d\",\"$dynamicAnchor\":\"t\",\"type\":\"null\"}}}";

	cr_expect(judge(schema, "{\"m\":1}"));
	cr_expect_not(judge(schema, "{\"m\":null}"));
}

Test(schema_validate, follows_each_dynamic_name_by_itself)
{
	static const char schema[] =
		"{\"$id\":\"http://x/a\",\"$ref\":\"b\",\"$defs\":{"
		"\"o\":{\"$dynamicAnchor\":\"o\",\"type\":\"null\"},"
		"\"b\":{\"$id\":\"b\",\"$dynamicAnchor\":\"n\",\"type\":\"object\",\"properties\":{"
		"\"n\":{\"$dynamicRef\":\"#n\"},\"o\":{\"$dynamicRef\":\"a#o\"}}}}}";

	cr_expect(judge(schema, "{\"n\":{\"o\":null}}"));
	cr_expect_not(judge(schema, "{\"n\":null}"));
	cr_expect_not(judge(schema, "{\"o\":{}}"));
}

Test(schema_validate, marks_the_members_of_patterns)
{
	static const char schema[] =
		"{\"patternProperties\":{\"^a\":{\"type\":\"integer\"},\"z$\":{\"minimum\":2}},"
		"\"unevaluatedProperties\":false}";
	static const char closed[] = "{\"patternProperties\":{\"^a\":{\"type\":\"integer\"}},"
				     "\"additionalProperties\":{\"type\":\"null\"},"
				     "\"unevaluatedProperties\":false}";

	cr_expect(judge(schema, "{\"a\":1,\"z\":2,\"az\":3}"));
	cr_expect_not(judge(schema, "{\"a\":\"x\"}"));
	cr_expect_not(judge(schema, "{\"az\":1}"));
	cr_expect_not(judge(schema, "{\"b\":1}"));
	cr_expect(judge(closed, "{\"a\":1,\"b\":null}"));
	cr_expect_not(judge(closed, "{\"a\":null}"));
	cr_expect_not(judge(closed, "{\"b\":1}"));
}

Test(schema_validate, hands_the_marks_of_leftovers_on)
{
	static const char members[] = "{\"allOf\":[{\"properties\":{\"a\":{}},"
				      "\"unevaluatedProperties\":{\"type\":\"integer\"}}],"
				      "\"unevaluatedProperties\":false}";
	static const char any[] =
		"{\"anyOf\":[{\"unevaluatedProperties\":{\"type\":\"integer\"}},{}],"
		"\"unevaluatedProperties\":false}";
	static const char items[] = "{\"allOf\":[{\"unevaluatedItems\":{\"type\":\"integer\"}}],"
				    "\"unevaluatedItems\":false}";
	cleanup(buffer_deinit) struct buffer value = {0};

	cr_expect(judge(members, "{\"a\":\"x\",\"b\":2}"));
	cr_expect_not(judge(members, "{\"a\":\"x\",\"b\":\"x\"}"));
	cr_expect(judge(any, "{\"a\":1}"));
	cr_expect_not(judge(any, "{\"a\":\"x\"}"));
	cr_expect(judge(any, "{}"));
	buffer_append_string(&value, "[0");
	for (int i = 1; i < 200; i++) {
		buffer_append_string(&value, ",0");
		buffer_append_char(&value, ']');
		cr_assert(buffer_terminate(&value));
		cr_expect(judge(items, value.data), "%d", i);
		value.size--;
	}
	buffer_append_string(&value, ",\"x\"]");
	cr_assert(buffer_terminate(&value));
	cr_expect_not(judge(items, value.data));
}
