/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/sample.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"

/* Arguments that are made up from a schema, for a command to copy. */

TestSuite(schema_sample, .timeout = 60);

static struct schema *compile(const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema *schema = NULL;
	char *json = quoted(text);

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 0, NULL, &schema, &error), 0, "%s: %s", text,
		error.message.data);
	free(json);
	return schema;
}

static void expect_sample(const char *text, const char *expected, bool does_fit)
{
	cleanup(schema_cleanup) struct schema *schema = compile(text);
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *json = quoted(expected);
	bool fits = !does_fit;

	cr_assert_eq(sample_write(schema, &out, &fits), 0);
	cr_expect_str_eq(buffer_terminate(&out), json, "%s: %s", text, out.data);
	cr_expect_eq(fits, does_fit, "%s: %s", text, out.data);
}

/* A schema whose only member is required, and has this schema. */
#define ONE(schema) "{'type':'object','properties':{'a':" schema "},'required':['a']}"

Test(schema_sample, has_the_required_members_only)
{
	expect_sample("{'type':'object'}", "{}", true);
	expect_sample("{'type':'object','properties':{'a':{'type':'null'},'b':{'type':'null'}},"
		      "'required':['b']}",
		"{'b':null}", true);
	expect_sample("{'type':'object','required':['a','b']}", "{'a':1,'b':1}", true);
	expect_sample(ONE("{'type':'array'}"), "{'a':[1]}", true);
	expect_sample(ONE("{'type':'integer','multipleOf':7}"), "{'a':7}", true);
}

Test(schema_sample, has_a_value_that_its_schema_suggests)
{
	static const char *const cases[][2] = {
		{ONE("{'const':'x'}"), "{'a':'x'}"},
		{ONE("{'enum':[3,4]}"), "{'a':3}"},
		{ONE("{'type':'string','default':'d'}"), "{'a':'d'}"},
		{ONE("{'type':'string','examples':['e','f']}"), "{'a':'e'}"},
		{ONE("{'type':'integer','minimum':7}"), "{'a':7}"},
		{ONE("{'type':'null'}"), "{'a':null}"},
		{ONE("{'type':'object','properties':{'b':{'const':1}},'required':['b']}"),
			"{'a':{'b':1}}"},
		{ONE("{'anyOf':[{'const':'first'},{'const':'second'}]}"), "{'a':'first'}"},
		{ONE("{'$ref':'#/$defs/d'}},'$defs':{'d':{'const':5}"), "{'a':5}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_sample(cases[i][0], cases[i][1], true);
}

/* The values themselves may be others another day; that they fit may not. */
Test(schema_sample, fits_bounds_of_numbers_texts_and_arrays)
{
	static const char *const schemas[] = {
		ONE("{'type':'integer'}"),
		ONE("{'type':'number','exclusiveMinimum':3}"),
		ONE("{'type':'integer','maximum':-5}"),
		ONE("{'type':'string','minLength':40}"),
		ONE("{'type':'string','maxLength':1}"),
		ONE("{'type':'array','minItems':3,'items':{'type':'integer'}}"),
		ONE("{'type':'array','prefixItems':[{'const':1},{'const':2}],'minItems':2}"),
		ONE("{'type':'boolean'}"),
		ONE("{}"),
		ONE("true"),
		ONE("{'type':['null','string']}"),
		ONE("{'minimum':3}"),
		ONE("{'allOf':[{'type':'integer','minimum':4}]}"),
		ONE("{'anyOf':[{'type':'null'},{'type':'null'}]}"),
		("{'anyOf':[{'type':'null'},{'type':'object','required':['a'],'properties':{'a':{"
		 "'const':3}}}]}"),
	};

	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
		cleanup(schema_cleanup) struct schema *schema = compile(schemas[i]);
		cleanup(schema_context_cleanup) struct schema_context *context =
			schema_context_new();
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		bool fits = false;

		cr_assert_eq(sample_write(schema, &out, &fits), 0);
		cr_assert_eq(json_tape_read(&tape, out.data, out.size, JSON_DEPTH_DEFAULT, NULL), 0,
			"%s: %.*s", schemas[i], (int)out.size, out.data);
		cr_expect_eq(
			schema_validate(schema, context, &tape, 0) == 0, fits, "%s", schemas[i]);
		cr_expect(fits, "%s: %.*s", schemas[i], (int)out.size, out.data);
	}
}

Test(schema_sample, does_not_claim_to_fit_what_it_cannot_make)
{
	static const char *const schemas[] = {
		ONE("{'type':'string','pattern':'^[0-9]{7}$'}"), ONE("{'not':{}}"), ONE("false")};

	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
		cleanup(schema_cleanup) struct schema *schema = compile(schemas[i]);
		cleanup(buffer_deinit) struct buffer out = {0};
		bool fits = true;

		cr_assert_eq(sample_write(schema, &out, &fits), 0);
		cr_expect_not(fits, "%s: %.*s", schemas[i], (int)out.size, out.data);
	}
}

Test(schema_sample, ends_a_schema_that_never_ends)
{
	cleanup(schema_cleanup) struct schema *schema =
		compile("{'type':'object','properties':{'a':{'$ref':'#'}},'required':['a']}");
	cleanup(buffer_deinit) struct buffer out = {0};
	bool fits = true;

	cr_assert_eq(sample_write(schema, &out, &fits), 0);
	cr_expect_not(fits);
	cr_expect_lt(out.size, 10000);
}

Test(schema_sample, is_whole_or_fails_when_memory_is_short)
{
	cleanup(schema_cleanup) struct schema *schema =
		compile("{'type':'object','properties':{'a':{'type':'string','minLength':30},"
			"'b':{'type':'integer'}},'required':['a','b']}");
	cleanup(buffer_deinit) struct buffer expected = {0};
	bool fits;
	size_t n = 0;

	cr_assert_eq(sample_write(schema, &expected, &fits), 0);
	buffer_terminate(&expected);
	for (; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		int r = sample_write(schema, &out, &fits);
		bool has_failed = scarce_has_failed();

		if (r == 0)
			cr_expect_str_eq(buffer_terminate(&out), expected.data, "after %zu", n);
		else
			cr_expect(has_failed && r == -ENOMEM, "after %zu: %d", n, r);
	}
	cr_expect_gt(n, 3);
}
