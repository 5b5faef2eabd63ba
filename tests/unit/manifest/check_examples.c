/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "manifest_fixture.h"
#include "util/buffer.h"

/* The calls that a manifest describes are checked by the rules for a call. */

TestSuite(manifest_check_examples, .init = manifest_set_up, .fini = manifest_tear_down);

/* A call: its parameter `x` is of @type, and its schema, or an example of it, is given. */
#define TAKES(type, given)                                                                         \
	TOOL(given ",'native':{'symbol':'f','parameters':[{'name':'x','type':" type "}]}")
#define PASSES(type, value) TAKES(type, "'examples':[{'args':{\n'x':" value "}}]")
#define PRESET(type, value)                                                                        \
	TAKES(type, "'argument_schema':{'properties':{'x':{'default':\n" value "}}}")
#define SHELL(members)                                                                             \
	"{'kind':'command','tools':[{'name':'f','command':{'argv':['echo','{x}']}," members "}]}"
#define I64_RANGE "must be an integer from -9223372036854775808 to 9223372036854775807"
#define U64_RANGE "must be an integer from 0 to 18446744073709551615"

Test(manifest_check_examples, refuses_an_example_that_the_function_cannot_be_given)
{
	static const struct {
		const char *manifest;
		const char *message;
	} rows[] = {
		{PASSES("'u64'", "-1"), U64_RANGE "; came: the number -1"},
		{PASSES("'i64'", "9223372036854775808"),
			I64_RANGE "; came: the number 9223372036854775808"},
		{PASSES("'f32'", "1e39"),
			"must be a number within the range of a 32-bit float; came: the number "
			"1e39"},
		{PASSES("'bytes'", "'no base64'"),
			"must be a string in base64, padded and without white space; came: the "
			"string \"no base64\""},
		{PASSES("'str'", "'a\\u0000b'"),
			"must be a string without U+0000; came: the string \"a\\u0000b\""},
		{PASSES("'bytes','dir':'inout','capacity':2", "'Zm9v'"),
			"must have at most 2 bytes, not 3; came: the string \"Zm9v\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(
			&message, "the example's argument cannot be passed: %s", rows[i].message);
		expect_refused(rows[i].manifest, 2, "/tools/0/examples/0/args/x",
			buffer_terminate(&message));
	}
	expect_refused(PASSES("'array','items':'u64'", "[1,-1]"), 2, "/tools/0/examples/0/args/x/1",
		"the example's argument cannot be passed: " U64_RANGE "; came: the number -1");
	read_good(PASSES("'u64'", "18446744073709551615"));
	read_good(PASSES("'bytes'", "'Zm9v'"));
	expect_refused(SHELL("'argument_schema':{'properties':{'x':{}}},"
			     "'examples':[{'args':{\n'x':'a\\u0000b'}}]"),
		2, "/tools/0/examples/0/args/x",
		"the example's argument cannot be passed: must not hold U+0000, which no argument "
		"of a "
		"program can; came: the string \"a\\u0000b\"");
}

Test(manifest_check_examples, refuses_a_default_that_the_function_cannot_be_given)
{
	static const char place[] = "/tools/0/argument_schema/properties/x/default";

	expect_refused(PRESET("'u64'", "-1"), 2, place,
		"the default cannot be passed: " U64_RANGE "; came: the number -1");
	expect_refused(PRESET("'i8'", "300"), 2, place,
		"the default cannot be passed: must be an integer from -128 to 127; came: the "
		"number 300");
	expect_refused(PRESET("'bytes'", "'Zg'"), 2, place,
		"the default cannot be passed: must be a string in base64, padded and without "
		"white space; came: the string \"Zg\"");
	expect_refused(TAKES("'u64'", "'argument_schema':\n{'properties':{'x':{}},"
				      "'allOf':[{'properties':{'x':{'default':-1}}}]}"),
		2, "/tools/0/argument_schema",
		"the default cannot be passed: " U64_RANGE "; came: the number -1");
	expect_refused(SHELL("'argument_schema':{'properties':{'x':{'default':\n'\\u0000'}}}"), 2,
		place,
		"the default cannot be passed: must not hold U+0000, which no argument of a "
		"program can; came: the string \"\\u0000\"");
	read_good(PRESET("'bytes'", "'Zm9v'"));
}

static void expect_warning(const char *manifest, const char *pointer, const char *text)
{
	cr_expect(read_good(manifest)->tools[0].may_lack, "%s", manifest);
	cr_assert_eq(problems.n_items, 1, "%s", manifest);
	cr_expect_eq(problems.items[0].severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(problems.items[0].pointer, pointer);
	cr_expect_str_eq(problems.items[0].text, text);
}

Test(manifest_check_examples, warns_of_a_schema_that_lets_out_what_the_function_needs)
{
	static const char *const good[] = {
		TAKES("'f64'", "'argument_schema':{'properties':{'x':{}},'required':['x']}"),
		TAKES("'f64'", "'argument_schema':{'properties':{'x':{'default':1}}}"),
		TAKES("'f64'", "'argument_schema':{'properties':{'x':{}},"
			       "'allOf':[{'properties':{'x':{'default':1}}}]}"),
		TAKES("'f64','default':1", "'argument_schema':{'properties':{'x':{}}}"),
		TAKES("'str','nullable':true", "'argument_schema':{'properties':{'x':{}}}"),
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		cr_expect_not(read_good(good[i])->tools[0].may_lack, "%s", good[i]);
		cr_expect_eq(problems.n_items, 0, "%s", good[i]);
	}
	expect_warning(TAKES("'f64'", "'argument_schema':{'properties':{'x':{}}}"),
		"/tools/0/argument_schema/properties/x",
		"the function needs the parameter 'x', and the schema lets callers leave it out: "
		"name it in \"required\", or give it a \"default\"");
	expect_warning(TAKES("'str'", "'argument_schema':{'properties':{'x':{}},'required':[]}"),
		"/tools/0/argument_schema/properties/x",
		"the function needs the parameter 'x', and the schema lets callers leave it out: "
		"name it in \"required\", or give it a \"default\" or \"nullable\"");
}

/* The same of an example is a mistake. */
Test(manifest_check_examples, refuses_an_example_without_what_the_function_needs)
{
	manifest_write("box.json", TAKES("'f64'", "'argument_schema':{'properties':{'x':{}}},"
						  "'examples':[\n{'args':{}}]"));
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_assert_eq(problems.n_items, 2);
	cr_expect_eq(problems.items[1].line, 2);
	cr_expect_str_eq(problems.items[1].pointer, "/tools/0/examples/0/args");
	cr_expect_str_eq(problems.items[1].text,
		"the example's argument cannot be passed: missing required property 'x'; came: an "
		"empty object");
}
