/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util/clock.h"

/*
 * No schema and no instance hangs or exhausts the process: each of these ends in time with the
 * right verdict or a typed error. The times are wide, for sanitizers on a busy machine.
 */
#define PATTERN_MS 1000

static void append_times(struct buffer *out, const char *text, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		buffer_append_string(out, text);
}

Test(schema_bounds, ends_a_schema_that_is_only_itself, .timeout = 60)
{
	expect_report("{\"$ref\":\"#\"}", "1", "cannot be checked");
	expect_report(
		"{\"not\":{\"$ref\":\"#/$defs/a\"},\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}",
		"1", "cannot be checked");
}

Test(schema_bounds, ends_recursion_that_branches, .timeout = 60)
{
	static const char schema[] =
		"{\"$defs\":{\"a\":{\"anyOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"},\"maxItems\":0},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"},\"minItems\":2},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"},\"minItems\":3}]}},\"$ref\":\"#/$defs/a\"}";
	static const char deep[] =
		"{\"$defs\":{\"a\":{\"oneOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"}},"
		"{\"items\":{\"$ref\":\"#/$defs/a\"}}]}},\"$ref\":\"#/$defs/a\"}";
	cleanup(buffer_deinit) struct buffer value = {0};

	cr_assert_not(judge(schema, "[[[[[[[[[[[[1]]]]]]]]]]]]"));
	append_times(&value, "[", 100);
	append_times(&value, "]", 100);
	expect_report(deep, buffer_terminate(&value), "cannot be checked: it takes too many steps");
}

Test(schema_bounds, gives_up_on_a_costly_pattern_also_inside_of_not, .timeout = 60)
{
	static const char value[] = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"";
	uint64_t start = clock_now_ms();

	expect_report(
		"{\"pattern\":\"^(a+)+$\"}", value, "matching a pattern takes too many steps");
	expect_report("{\"not\":{\"pattern\":\"^(a+)+$\"}}", value, "takes too many steps");
	expect_report("{\"patternProperties\":{\"^(a+)+$\":false}}",
		"{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}", "takes too many steps");
	cr_assert_lt(clock_now_ms() - start, PATTERN_MS);
}

Test(schema_bounds, takes_a_long_string_and_a_long_number, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer string = {0};
	cleanup(buffer_deinit) struct buffer number = {0};

	buffer_append_char(&string, '"');
	append_times(&string, "0123456789012345678901234567890123456789012345678\xc3\xa9", 100000);
	buffer_append_char(&string, '"');
	cr_assert(judge("{\"type\":\"string\",\"minLength\":5000000,\"maxLength\":5000000}",
		buffer_terminate(&string)));
	append_times(&number, "1234567890", 1000);
	cr_assert(judge("{\"type\":\"integer\",\"minimum\":1,\"multipleOf\":10}",
		buffer_terminate(&number)));
	cr_assert_not(judge("{\"multipleOf\":7}", number.data));
}

Test(schema_bounds, compiles_a_hundred_thousand_subschemas_and_refuses_more, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup_free char *refusal = NULL;

	buffer_append_string(&schema, "{\"allOf\":[true");
	append_times(&schema, ",{\"type\":\"integer\"}", 100000);
	buffer_append_string(&schema, "]}");
	cr_assert(judge(buffer_terminate(&schema), "1"));
	schema.size -= 2;
	append_times(&schema, ",{\"type\":\"integer\"}", 40000);
	buffer_append_string(&schema, "]}");
	refusal = judge_refusal(NULL, buffer_terminate(&schema));
	cr_assert_not_null(strstr(refusal, "at most 131072 subschemas"), "%s", refusal);
}

Test(schema_bounds, refuses_schemas_nested_too_deep, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;

	append_times(&text, "{\"not\":", 5000);
	buffer_append_string(&text, "true");
	append_times(&text, "}", 5000);
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 6000, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 0, NULL, &schema, &error), SCHEMA_E_REFUSED);
	cr_assert_not_null(strstr(error.message.data, "nested more than 256 deep"));
}

Test(schema_bounds, compares_many_elements_in_less_than_square_time, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&value, "[0");
	for (int i = 1; i < 30000; i++)
		buffer_printf(&value, ",%d", i);
	buffer_append_string(&value, "]");
	cr_assert(judge("{\"uniqueItems\":true}", buffer_terminate(&value)));
}

Test(schema_bounds, finds_its_way_in_objects_of_many_members, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer value = {0};

	buffer_append_string(&schema, "{\"additionalProperties\":false,\"properties\":{\"x\":true");
	buffer_append_string(&value, "{\"x\":0");
	for (int i = 0; i < 20000; i++) {
		buffer_printf(&schema, ",\"property_%d\":{\"type\":\"integer\"}", i);
		buffer_printf(&value, ",\"property_%d\":%d", 19999 - i, i);
	}
	buffer_append_string(&schema, "}}");
	buffer_append_string(&value, "}");
	cr_assert(judge(buffer_terminate(&schema), buffer_terminate(&value)));
}
