/* SPDX-License-Identifier: Apache-2.0 */
#include "call/run_llm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"

/* The flag run_llm: schemas with and without the flag, and arguments that lack the flag. */

#define OURS(value)                                                                                \
	"\"run_llm\":{\"type\":\"boolean\",\"default\":" value ",\"description\":\"Whether you "   \
	"speak after this tool: true to go on with its result, false to be silent.\"}"

static void read_schema(const char *json, struct json_tape *tape)
{
	cr_assert_eq(json_tape_read(tape, json, strlen(json), 8, NULL), 0, "%s", json);
}

static void expect_text(struct buffer *out, const char *expected)
{
	cr_expect_str_eq(buffer_terminate(out), expected, "%s", out->data);
	buffer_deinit(out);
}

Test(run_llm, reads_the_value_of_a_manifest)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	read_schema("[true,false,\"argument\"]", &tape);
	cr_expect_eq(run_llm_at(&tape, JSON_NONE), RUN_LLM_UNSAID);
	cr_expect_eq(run_llm_at(&tape, 1), RUN_LLM_YES);
	cr_expect_eq(run_llm_at(&tape, 2), RUN_LLM_NO);
	cr_expect_eq(run_llm_at(&tape, 3), RUN_LLM_ARGUMENT);
}

/* The schema @json is listed with the property as @expected. */
static void expect_listed(const char *json, enum run_llm value, const char *expected)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer out = {0};

	read_schema(json, &tape);
	run_llm_write_listed(&tape, value, &out);
	expect_text(&out, expected);
}

Test(run_llm, adds_the_property_to_a_schema)
{
	expect_listed("{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"]}",
		RUN_LLM_NO,
		"{\"type\":\"object\",\"properties\":{\"a\":{}," OURS(
			"false") "},\"required\":[\"a\"]}");
	expect_listed("{\"properties\":{}}", RUN_LLM_YES, "{\"properties\":{" OURS("true") "}}");
	expect_listed("{\"type\":\"object\"}", RUN_LLM_YES,
		"{\"type\":\"object\",\"properties\":{" OURS("true") "}}");
	expect_listed("{}", RUN_LLM_NO, "{\"properties\":{" OURS("false") "}}");
}

Test(run_llm, takes_a_declared_property_out_of_a_schema)
{
	static const char declared[] =
		"{\"properties\":{\"a\":{},\"run_llm\":{\"type\":\"boolean\"}},"
		"\"required\":[\"run_llm\",\"a\"],\"x\":[\"run_llm\"]}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer out = {0};

	read_schema(declared, &tape);
	cr_expect(run_llm_is_declared(&tape));
	run_llm_write_checked(&tape, &out);
	expect_text(&out, "{\"properties\":{\"a\":{}},\"required\":[\"a\"],\"x\":[\"run_llm\"]}");
	read_schema("{\"properties\":{\"a\":{\"run_llm\":{}}}}", &tape);
	cr_expect_not(run_llm_is_declared(&tape));
	read_schema("{\"properties\":true}", &tape);
	cr_expect_not(run_llm_is_declared(&tape));
}

Test(run_llm, takes_the_flag_out_of_arguments)
{
	static const char *const cases[][2] = {
		{"{\"run_llm\":true}", "{}"},
		{"{\"a\": 1.10,\"run_llm\":false,\"b\":\"\\u00e9\"}",
			"{\"a\":1.10,\"b\":\"\\u00e9\"}"},
		{"{\"\\u0072un_llm\":true,\"c\":[]}", "{\"c\":[]}"},
		{"{\"run_llms\":true}", "{\"run_llms\":true}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		struct buffer out = {0};

		read_schema(cases[i][0], &tape);
		run_llm_write_rest(&tape, 0, &out);
		expect_text(&out, cases[i][1]);
	}
}
