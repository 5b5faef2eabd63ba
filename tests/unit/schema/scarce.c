/* SPDX-License-Identifier: Apache-2.0 */
#include "scarce.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "schema/schema.h"

/* The engine when memory is short once, at each allocation in turn. */

TestSuite(schema_scarce, .timeout = 300);

/* Every keyword, in the words of both dialects; `maxProperties` has an escape. */
static const char *const schemas[] = {
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"http://x/a\","
	"\"$defs\":{\"n\":{\"$anchor\":\"n\",\"type\":\"integer\",\"minimum\":1,\"maximum\":9,"
	"\"exclusiveMinimum\":0,\"exclusiveMaximum\":10,\"multipleOf\":0.5},"
	"\"d\":{\"$dynamicAnchor\":\"d\",\"type\":[\"object\",\"null\"]}},"
	"\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{"
	"\"a\":{\"$ref\":\"#n\",\"default\":3},"
	"\"b\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":9,\"pattern\":\"^[a-z\\\\d]+$\","
	"\"format\":\"date-time\"},"
	"\"c\":{\"type\":\"array\",\"prefixItems\":[{\"const\":{\"k\":[1,\"x\"]}}],\"items\":true,"
	"\"contains\":{\"enum\":[1,\"two\",null]},\"minContains\":1,\"maxContains\":3,"
	"\"minItems\":1,\"maxItems\":9,\"uniqueItems\":true,\"unevaluatedItems\":false},"
	"\"d\":{\"$dynamicRef\":\"#d\"}},"
	"\"patternProperties\":{\"^x\":{\"type\":\"number\"},\"y$\":false},"
	"\"additionalProperties\":{\"not\":{\"type\":\"null\"}},"
	"\"propertyNames\":{\"maxLength\":9},\"minProperties\":1,\"m\\u0061xProperties\":9,"
	"\"dependentRequired\":{\"c\":[\"a\"]},\"dependentSchemas\":{\"d\":{\"required\":[\"c\"]}},"
	"\"if\":{\"required\":[\"c\"]},\"then\":{\"minProperties\":2},\"else\":{\"maxProperties\":"
	"8},"
	"\"allOf\":[true,{}],\"anyOf\":[true,{\"type\":\"object\"}],\"oneOf\":[true,false],"
	"\"unevaluatedProperties\":false}",
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{\"n\":{"
	"\"$id\":\"#n\",\"type\":\"integer\"}},\"type\":\"object\",\"properties\":{"
	"\"a\":{\"$ref\":\"#/definitions/n\"},\"c\":{\"items\":[{\"$ref\":\"#n\"}],"
	"\"additionalItems\":{\"type\":\"string\"}}},"
	"\"dependencies\":{\"c\":[\"a\"],\"d\":{\"required\":[\"c\"]}}}",
};

/* So many dependencies that they do not fit beside what was allocated before them. */
#define MANY 1000

static char *make_large_schema(void)
{
	struct buffer text = {0};

	buffer_append_string(&text, "{\"dependentRequired\":{\"x\":[]");
	for (int i = 0; i < MANY; i++)
		buffer_printf(&text, ",\"%d\":[]", i);
	buffer_append_string(&text, "}}");
	return buffer_take(&text, NULL);
}

static const struct schema_options options = {.assert_formats = true, .check_defaults = true};

static void read_text(struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void expect_compiled_or_a_shortage(
	const char *text, const struct schema_options *chosen, size_t least)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t n = 0;

	read_text(&tape, text);
	for (; scarce_once_after(n); n++) {
		cleanup(schema_error_deinit) struct schema_error error = {0};
		cleanup(schema_cleanup) struct schema *schema = NULL;
		int r = schema_compile(&tape, 0, chosen, &schema, &error);
		bool has_failed = scarce_has_failed();

		cr_expect_eq(r, has_failed ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(!schema, has_failed);
	}
	cr_expect_gt(n, least);
}

Test(schema_scarce, compiles_all_of_a_schema_or_reports_that_memory_is_short)
{
	static const struct schema_options trusting = {.is_trusted = true};
	cleanup_free char *large = make_large_schema();

	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++)
		expect_compiled_or_a_shortage(schemas[i], &options, 20);
	expect_compiled_or_a_shortage(large, &trusting, 5);
}

#define INVALID                                                                                    \
	"{\"a\":\"3\",\"b\":\"B\",\"c\":[1,1,[2]],\"xa\":\"1\",\"by\":0,\"long name "              \
	"there\":null,\"d\":[]}"
#define VALID "{\"a\":3,\"b\":\"2026-11-22t10:00:00z\",\"c\":[{\"k\":[1,\"x\"]},1]}"

/* Ask one question about the value of @tape, and append the answer to @out. Returns 0 or
 * -ENOMEM. */
typedef int (*asking_function)(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, struct buffer *out);

static int validate(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, struct buffer *out)
{
	int r = schema_validate(schema, context, tape, 0);

	buffer_printf(out, "%s", r == 0 ? "valid" : "invalid");
	return r > 0 ? 0 : r;
}

static int explain(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, struct buffer *out)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = schema_explain(schema, context, tape, 0, &report);

	schema_report_write_json(&report, out);
	return r;
}

static int fill(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, struct buffer *out)
{
	return schema_fill(schema, context, tape, 0, out, NULL);
}

static int coerce(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, struct buffer *out)
{
	cleanup(schema_report_deinit) struct schema_report changes = {0};
	int r = schema_coerce(schema, context, tape, 0, NULL, out, &changes);

	schema_report_write_json(&changes, out);
	return r;
}

static int ask_fresh(asking_function asking, const struct schema *schema,
	const struct json_tape *tape, struct buffer *out)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	int r = context ? asking(schema, context, tape, out) : -ENOMEM;

	r = r ? r : buffer_status(out);
	return r || buffer_terminate(out) ? r : -ENOMEM;
}

static void expect_the_same_or_a_shortage(asking_function asking, const char *value)
{
	cleanup(schema_error_deinit) struct schema_error error = {0};
	cleanup(schema_cleanup) struct schema *schema = NULL;
	cleanup(json_tape_cleanup) struct json_tape schema_tape = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer expected = {0};

	read_text(&schema_tape, schemas[0]);
	read_text(&tape, value);
	cr_assert_eq(schema_compile(&schema_tape, 0, &options, &schema, &error), 0);
	cr_assert_eq(ask_fresh(asking, schema, &tape, &expected), 0);
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		int r = ask_fresh(asking, schema, &tape, &out);

		if (scarce_has_failed() && r == -ENOMEM)
			continue;
		cr_expect_eq(r, 0);
		cr_expect_str_eq(out.data, expected.data, "%zu: %s", n, out.data);
	}
}

Test(schema_scarce, gives_no_other_answer_than_with_memory)
{
	static const char *const values[] = {VALID, INVALID, "[]", "{\"a\":1,\"b\":\"2\"}"};
	static const asking_function all[] = {validate, explain, fill, coerce};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		for (size_t j = 0; j < sizeof(all) / sizeof(*all); j++)
			expect_the_same_or_a_shortage(all[j], values[i]);
}
