/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/arguments.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "boxes.h"
#include "logged.h"
#include "scarce.h"

/* A schema without a required property, and without a default. */
#define PLAIN                                                                                      \
	"{'name':'plain','argument_schema':{'properties':{'a':{'type':'integer'}}},"               \
	"'native':{'symbol':'f','parameters':"                                                     \
	"[{'name':'a','type':'i64','dir':'inout','nullable':true}]}}"

/* One that lets out what the function needs, unless something else is there. */
#define LAX                                                                                        \
	"{'name':'lax','argument_schema':{'properties':{'a':{},'b':{}},"                           \
	"'if':{'required':['b']},'then':{'properties':{'a':{'default':3}}}},'native':{'symbol':"   \
	"'f','parameters':[{'name':'a','type':'i64'},{'name':'b','type':'u8','default':0}]}}"

static struct toolbox *box;
static struct schema_context *context;
static struct arguments arguments;
static struct asked asked;
static struct arguments_limits limits;

static void set_up(void)
{
	box = make_box("box",
		BOX_TOOL("add",
			"{'name':'a','type':'i64'},{'name':'b','type':'i64','default':7},"
			"{'name':'fixed','type':'i32','value':3}") "," PLAIN "," BOX_TOOL("text",
			"{'name':'a','type':'str'},{'name':'f','type':'f32','default':1}") "," LAX);
	context = schema_context_new();
	limits = (struct arguments_limits){.bytes = 64, .depth = 4};
}

static void tear_down(void)
{
	arguments_deinit(&arguments);
	asked_deinit(&asked);
	schema_context_free(context);
	package_unref(box->package);
}

TestSuite(arguments, .init = set_up, .fini = tear_down);

static int check(unsigned int tool, const char *members)
{
	ask(&asked, members);
	return arguments_check(&arguments, &box->tools[tool], asked.request.args_tape,
		asked.request.args, context, &limits);
}

static void expect_passed(unsigned int tool, const char *members, const char *expected)
{
	cr_assert_eq(check(tool, members), 0, "%s", members);
	cr_expect(arguments.size == strlen(expected) &&
			  memcmp(arguments.json, expected, arguments.size) == 0,
		"%s: %.*s", members, (int)arguments.size, arguments.json);
}

static void expect_violation(
	unsigned int tool, const char *members, const char *path, const char *message)
{
	cr_assert_eq(check(tool, members), ARGUMENTS_E_INVALID, "%s", members);
	cr_assert_eq(arguments.report.n_violations, 1);
	cr_expect_str_eq(arguments.report.violations[0].path, path);
	cr_expect_str_eq(arguments.report.violations[0].message, message, "%s: %s", members,
		arguments.report.violations[0].message);
}

Test(arguments, are_passed_on_as_they_came)
{
	expect_passed(0, "'args':{ 'a': 9007199254740993, 'b':-0}",
		"{ \"a\": 9007199254740993, \"b\":-0}");
	expect_passed(1, "'args':{'\\u0061':12}", "{\"\\u0061\":12}");
}

Test(arguments, get_integers_as_their_digits)
{
	expect_passed(1, "'args':{ 'a' : 1e2 }", "{ \"a\" : 100 }");
	expect_passed(1, "'args':'{\\\"a\\\":2.0}'", "{\"a\":2}");
	expect_passed(0, "'args':{'a':-3.0}", "{\"a\":-3,\"b\":7}");
	expect_passed(2, "'args':{'a':'2.0','f':2.0}", "{\"a\":\"2.0\",\"f\":2.0}");
}

Test(arguments, that_are_absent_are_an_empty_object)
{
	expect_passed(1, "", "{}");
	expect_passed(1, "'args':null", "{}");
	expect_passed(1, "'args':''", "{}");
	expect_passed(1, "'args':'null'", "{}");
}

Test(arguments, may_be_the_text_of_an_object)
{
	expect_passed(
		1, "'args':' { \\\"a\\\": 9007199254740993 } '", "{ \"a\": 9007199254740993 }");
	expect_passed(1, "'args':'{}'", "{}");
}

Test(arguments, get_the_defaults_of_what_is_absent)
{
	expect_passed(0, "'args':{'a':1}", "{\"a\":1,\"b\":7}");
	expect_passed(0, "'args':'{\\\"a\\\":1}'", "{\"a\":1,\"b\":7}");
}

Test(arguments, that_are_no_object_are_refused)
{
	expect_violation(1, "'args':[1]", "",
		"must be an object, or a string with the text of an object; came: array");
	expect_violation(1, "'args':5", "",
		"must be an object, or a string with the text of an object; came: number");
	expect_violation(1, "'args':'[1]'", "",
		"must be an object, or a string with the text of an object; came: array");
	expect_violation(1, "'args':' '", "",
		"must be an object, or a string with the text of an object; its text is not JSON "
		"(byte 0: "
		"expected a value, found an empty text)");
	expect_violation(1, "'args':'{'", "",
		"must be an object, or a string with the text of an object; its text is not JSON "
		"(byte 1: "
		"expected a key in double quotes, but the text ends)");
}

Test(arguments, that_break_the_schema_are_reported_with_their_path)
{
	expect_violation(1, "'args':{'a':'x'}", "/a", "must be an integer, not the string \"x\"");
	expect_violation(0, "'args':{}", "", "missing required property 'a' (an integer)");
	expect_violation(0, "'args':{'a':1,'fixed':4}", "/fixed",
		"unexpected property 'fixed'; the object takes 'a', 'b'");
}

/* The values that no JSON schema refuses, and a type of C cannot hold. */
Test(arguments, that_a_type_cannot_hold_are_refused)
{
	cr_expect_eq(check(0, "'args':{'a':9223372036854775807}"), 0);
	cr_expect_eq(check(0, "'args':{'a':9223372036854775808}"), ARGUMENTS_E_INVALID);
	cr_expect_str_eq(arguments.report.violations[0].path, "/a");
	cr_expect_eq(check(2, "'args':{'a':'\\u0000'}"), ARGUMENTS_E_INVALID);
	cr_expect_eq(check(2, "'args':{'a':'','f':1e39}"), ARGUMENTS_E_INVALID);
	cr_expect_str_eq(arguments.report.violations[0].path, "/f");
	cr_expect_eq(check(2, "'args':{'a':'','f':1e38}"), 0);
}

Test(arguments, that_are_arrays_have_the_place_of_the_element_that_a_type_cannot_hold)
{
	struct toolbox *lists =
		make_box("lists", "{'name':'list','native':{'symbol':'f','parameters':"
				  "[{'name':'v','type':'array','items':'u64'}]}}");

	ask(&asked, "'args':{'v':[1,-1,-2]}");
	cr_assert_eq(arguments_check(&arguments, &lists->tools[0], asked.request.args_tape,
			     asked.request.args, context, &limits),
		ARGUMENTS_E_INVALID);
	cr_assert_eq(arguments.report.n_violations, 1);
	cr_expect_str_eq(arguments.report.violations[0].path, "/v/1");
	cr_expect_str_eq(arguments.report.violations[0].message,
		"must be an integer from 0 to 18446744073709551615");
	package_unref(lists->package);
}

/* Nor is a schema that is given held to what the function needs. */
Test(arguments, that_the_function_needs_are_missing_whatever_the_schema_says)
{
	expect_violation(3, "'args':{}", "", "missing required property 'a'");
	expect_passed(3, "'args':{'a':1}", "{\"a\":1}");
	expect_passed(3, "'args':{'b':1}", "{\"b\":1,\"a\":3}");
	cr_expect_eq(check(3, "'args':{'b':256}"), ARGUMENTS_E_INVALID);
	cr_expect_eq(arguments.report.n_violations, 1);
}

Test(arguments, that_a_message_cannot_multiply_are_refused)
{
	static const char text[] =
		"{\"bus\":{\"topic\":\"t\",\"data\":{\"x\":{\"arg\":\"a\",\"scale\":10},\"y\":{"
		"\"arg\":"
		"\"b\",\"scale\":10}}},\"args\":{\"b\":1e999,\"c\":1e999,\"a\":1}}";
	struct package package = {.kind = KIND_BUS};
	struct toolbox toolbox = {.package = &package};
	struct tool tool = {.toolbox = &toolbox};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(bus_call_cleanup) struct bus_call *call = NULL;
	cleanup(schema_report_deinit) struct schema_report report = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	tool.bus = call = bus_call_new(&tape, json_find(&tape, 0, "bus"), JSON_NONE, JSON_NONE);
	cr_assert_eq(arguments_marshal_check(
			     &tool, context, &tape, json_find(&tape, 0, "args"), &report),
		ARGUMENTS_E_INVALID);
	cr_assert_eq(report.n_violations, 1);
	cr_expect_str_eq(report.violations[0].path, "/b");
	cr_expect_str_eq(report.violations[0].message, "must have fewer digits: it is multiplied");
}

Test(arguments, of_too_many_bytes_are_too_large)
{
	limits.bytes = 9;
	cr_expect_eq(check(1, "'args':{'a': 123}"), ARGUMENTS_E_TOO_LARGE);
	cr_expect(arguments.actual == 10 && arguments.max == 9);
	cr_expect_str_eq(arguments.limit, "bytes");
	cr_expect_eq(check(1, "'args':'{\\\"a\\\": 123}'"), ARGUMENTS_E_TOO_LARGE);
	cr_expect_eq(check(1, "'args':{'a':123}"), 0);
}

Test(arguments, of_too_many_levels_in_a_text_are_too_large)
{
	cr_expect_eq(check(1, "'args':'{\\\"a\\\":[[[[]]]]}'"), ARGUMENTS_E_TOO_LARGE);
	cr_expect(arguments.actual == 5 && arguments.max == 4);
	cr_expect_str_eq(arguments.limit, "levels of nesting");
}

Test(arguments, are_forgotten_for_the_next)
{
	cr_expect_eq(check(1, "'args':{'a':'x'}"), ARGUMENTS_E_INVALID);
	cr_expect_eq(check(1, "'args':{'a':1}"), 0);
	cr_expect_eq(arguments.report.n_violations, 0);
}

Test(arguments, are_coerced_only_where_the_manifest_says_so)
{
	expect_violation(0, "'args':{'a':'25'}", "/a",
		"must be an integer, not the string \"25\"; send the number 25, without quotes");
	box->package->coerces = true;
	expect_passed(0, "'args':{'a':'25'}", "{\"a\":25,\"b\":7}");
	expect_passed(
		0, "'args':{'a':'9007199254740993','b':1}", "{\"a\":9007199254740993,\"b\":1}");
}

Test(arguments, that_are_wrong_coerced_too_are_reported_as_they_came)
{
	box->package->coerces = true;
	expect_violation(
		0, "'args':{'a':'many'}", "/a", "must be an integer, not the string \"many\"");
	expect_violation(0, "'args':{'a':'99999999999999999999'}", "/a",
		"must be an integer from -9223372036854775808 to 9223372036854775807");
}

Test(arguments, that_were_large_leave_no_memory)
{
	cleanup(buffer_deinit) struct buffer members = {0};

	limits.bytes = 1 << 20;
	buffer_append_string(&members, "'args':'{\\\"a\\\":1,\\\"z\\\":[");
	for (unsigned int i = 0; i < 100000; i++)
		buffer_append_string(&members, "0,");
	buffer_append_string(&members, "0]}'");
	cr_assert(buffer_terminate(&members));
	cr_assert_eq(check(1, members.data), 0);
	cr_expect_gt(arguments.tape.capacity, 100000);
	cr_expect_gt(arguments.text.capacity, 200000);
	arguments_recycle(&arguments);
	cr_expect_eq(arguments.tape.capacity, 0);
	cr_expect_eq(arguments.text.capacity, 0);

	cr_assert_eq(check(1, "'args':'{\\\"a\\\":1}'"), 0);
	arguments_recycle(&arguments);
	cr_expect_neq(arguments.tape.capacity, 0);
	cr_expect_neq(arguments.text.capacity, 0);
}

/* ── the flag run_llm ────────────────────────────────────────────────────────────────────────── */

Test(arguments, give_their_flag_run_llm_to_the_answer_and_not_to_the_tool)
{
	expect_passed(1, "'args':{'run_llm':true,'a':1}", "{\"a\":1}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_YES);
	expect_passed(1, "'args':'{\\\"run_llm\\\":false}'", "{}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_NO);
	expect_passed(1, "'args':{'a':1}", "{\"a\":1}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_UNSAID, "it is the flag of one call");
	box->tools[1].run_llm = RUN_LLM_NO;
	expect_passed(1, "'args':{'a':1}", "{\"a\":1}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_NO, "as the manifest has it");
	expect_passed(1, "'args':{'a':1,'run_llm':true}", "{\"a\":1}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_YES, "the model knows better");
}

Test(arguments, refuse_a_flag_run_llm_that_is_neither_true_nor_false)
{
	static const char *const rows[][2] = {
		{"'args':{'run_llm':'true'}", "must be true or false; came: the string \"true\""},
		{"'args':{'run_llm':1}", "must be true or false; came: the number 1"},
		{"'args':{'run_llm':null}", "must be true or false; came: null"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_violation(1, rows[i][0], "/run_llm", rows[i][1]);
}

Test(arguments, have_a_plain_run_llm_where_the_tool_needs_one)
{
	box->tools[1].run_llm = RUN_LLM_ARGUMENT;
	expect_passed(1, "'args':{'a':1,'run_llm':'x'}", "{\"a\":1,\"run_llm\":\"x\"}");
	cr_expect_eq(arguments.run_llm, RUN_LLM_UNSAID);
}

/* ── the words of a person ───────────────────────────────────────────────────────────────────── */

static int fit(unsigned int tool, const char *members, const char *expected)
{
	int r;

	ask(&asked, members);
	r = arguments_fit(&arguments, &box->tools[tool], asked.request.args_tape,
		asked.request.args, context, &limits, NULL);
	cr_expect(arguments.size == strlen(expected) &&
			  memcmp(arguments.json, expected, arguments.size) == 0,
		"%s: %.*s", members, (int)arguments.size, arguments.json);
	cr_expect_eq(arguments.changes.n_violations, 0, "nobody is told of the texts");
	return r;
}

Test(arguments, of_a_person_are_texts_that_hold_values_for_every_kind)
{
	cr_expect_eq(fit(0, "'args':{'a':'25','b':'-1'}", "{\"a\":25,\"b\":-1}"), 0);
	cr_expect_eq(fit(2, "'args':{'a':'25','f':'2.5'}", "{\"a\":\"25\",\"f\":2.5}"), 0);
	cr_expect_eq(fit(0, "'args':{'a':'many','b':'1'}", "{\"a\":\"many\",\"b\":1}"),
		ARGUMENTS_E_INVALID, "as far as it goes");
	cr_expect_eq(fit(0, "'args':{'a':'many','b':1}", "{\"a\":\"many\",\"b\":1}"),
		ARGUMENTS_E_INVALID, "nothing of the last check is left");
}

Test(arguments, that_were_coerced_are_logged_once)
{
	const char *log;

	box->package->coerces = true;
	cr_assert_eq(check(0, "'args':{'a':'25'}"), 0);
	logged_begin();
	arguments_log_changes(&arguments, &box->tools[0]);
	arguments_log_changes(&arguments, &box->tools[0]);
	log = logged_end();
	cr_expect_str_eq(log,
		"INFO  Arguments of box/add were coerced: /a: the string \"25\" was taken as the "
		"number "
		"it holds\n",
		"%s", log);
	cr_expect_eq(arguments.changes.n_violations, 0);
}

Test(arguments, say_nothing_of_coercion_where_it_did_not_help)
{
	box->package->coerces = true;
	cr_expect_eq(check(0, "'args':{'a':'25','b':'many'}"), ARGUMENTS_E_INVALID);
	cr_expect_eq(arguments.changes.n_violations, 0);
	cr_expect_eq(arguments.report.n_violations, 2);
}

/* Check the arguments once for each allocation, which fails. The result is -ENOMEM or @expected. */
static void expect_even_without_memory(unsigned int tool, const char *members, int expected)
{
	ask(&asked, members);
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct schema_context *fresh = schema_context_new();
		int r = fresh ? arguments_check(&arguments, &box->tools[tool],
					asked.request.args_tape, asked.request.args, fresh, &limits)
			      : -ENOMEM;

		cr_expect((scarce_has_failed() && r == -ENOMEM) || r == expected,
			"%s: %d after %zu allocations", members, r, n);
		schema_context_free(fresh);
		arguments_deinit(&arguments);
		arguments = (struct arguments){0};
	}
}

Test(arguments, are_never_passed_unchecked_because_memory_is_short)
{
	expect_even_without_memory(0, "'args':{'a':1}", 0);
	expect_even_without_memory(0, "'args':'{\\\"a\\\":1}'", 0);
	expect_even_without_memory(0, "'args':{'c':1}", ARGUMENTS_E_INVALID);
	expect_even_without_memory(2, "'args':{'a':'\\u0000'}", ARGUMENTS_E_INVALID);
	expect_even_without_memory(3, "'args':{}", ARGUMENTS_E_INVALID);
	expect_even_without_memory(1, "'args':{'run_llm':true,'a':1}", 0);
	expect_even_without_memory(1, "'args':{'run_llm':1}", ARGUMENTS_E_INVALID);
	box->package->coerces = true;
	expect_even_without_memory(0, "'args':{'a':'25'}", 0);
}
