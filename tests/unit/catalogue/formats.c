/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/anthropic.h"
#include "catalogue/definition.h"
#include "manifest_fixture.h"
#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"

/* Definitions of tools with schemas of many kinds, in each format for a model. */

TestSuite(formats, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

#define COMMAND(members)                                                                           \
	"{'kind':'command','tools':[{'name':'t','command':{'argv':['true']}," members "}]}"

#define ARGUMENTS(properties, required)                                                            \
	COMMAND("'description':'d','risk':'read','argument_schema':{'type':'object',"              \
		"'properties':{" properties "},'required':[" required "],"                         \
		"'additionalProperties':false}")

/* Expect the definition in @format of the tool in @manifest; "" if it has no place there. */
static void expect_format(enum definition_format format, const char *manifest, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *json = quoted(expected);
	bool is_written;

	read_good(manifest);
	is_written = definition_write(&toolbox->tools[0], format, "t", &out);
	cr_expect_str_eq(buffer_terminate(&out), json, "%s: %s", manifest, out.data);
	cr_expect_eq(is_written, *expected != '\0');
}

/* ── Anthropic's names ───────────────────────────────────────────────────────────────────────── */

#define LONG_NAME "a234567890123456789012345678901234567890123456789012345678901234"

Test(formats, leave_out_an_argument_whose_name_anthropic_refuses)
{
	static const char *const cases[][2] = {
		{ARGUMENTS("'a':{},'b c':{'type':'string'}", "'a'"),
			"{'name':'t','description':'d','input_schema':{'type':'object',"
			"'properties':{'a':{}},'required':['a'],'additionalProperties':false}}"},
		{ARGUMENTS("'ä':{}", ""),
			"{'name':'t','description':'d','input_schema':{'type':'object',"
			"'properties':{},'required':[],'additionalProperties':false}}"},
		{ARGUMENTS("'a.b-c_D9':{}", ""),
			"{'name':'t','description':'d','input_schema':{'type':'object',"
			"'properties':{'a.b-c_D9':{}},'required':[],'additionalProperties':false}"
			"}"},
		{ARGUMENTS("'" LONG_NAME "':{}", ""),
			"{'name':'t','description':'d','input_schema':{'type':'object',"
			"'properties':{'" LONG_NAME
			"':{}},'required':[],'additionalProperties':false}}"},
		{ARGUMENTS("'" LONG_NAME "5':{}", ""),
			"{'name':'t','description':'d','input_schema':{'type':'object',"
			"'properties':{},'required':[],'additionalProperties':false}}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_format(DEFINITION_ANTHROPIC, cases[i][0], cases[i][1]);
}

Test(formats, have_no_place_for_a_tool_that_requires_such_a_name)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	expect_format(DEFINITION_ANTHROPIC, ARGUMENTS("'a':{},'b c':{},'ä':{}", "'b c','ä'"), "");
	definition_write_reason(&toolbox->tools[0], DEFINITION_ANTHROPIC, &reason);
	cr_expect_not_null(strstr(buffer_terminate(&reason), "'b c', 'ä'"), "%s", reason.data);
	buffer_reset(&reason);
	definition_write_reason(&toolbox->tools[0], DEFINITION_OPENAI, &reason);
	cr_expect_eq(reason.size, 0, "it has a place in others");
	expect_format(DEFINITION_COMPACT, ARGUMENTS("'b c':{}", "'b c'"),
		"{'name':'t','description':'d','parameters':{'type':'object','properties':"
		"{'b c':{}},'required':['b c'],'additionalProperties':false}}");
}

Test(formats, name_the_arguments_that_anthropic_refuses)
{
	static const struct {
		const char *schema;
		bool is_listed;
		const char *refused;
	} cases[] = {
		{"{'type':'object','properties':{'a':{}}}", true, ""},
		{"{'type':'object','properties':{'a b':{},'c':{},'':{}}}", true, "'a b', ''"},
		{"{'type':'object','properties':{'a b':{},'c d':{}},'required':['c d']}", false,
			"'c d'"},
		{"{'type':'object','required':['e f']}", false, "'e f'"},
		{"{'type':'object'}", true, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer refused = {0};
		cleanup_free char *schema = quoted(cases[i].schema);

		cr_expect_eq(anthropic_write_schema(schema, &out, &refused), cases[i].is_listed,
			"%s", cases[i].schema);
		cr_expect_eq(out.size > 0, cases[i].is_listed);
		cr_expect_str_eq(buffer_terminate(&refused), cases[i].refused);
	}
}

/* ── OpenAI's bounds ─────────────────────────────────────────────────────────────────────────── */

Test(formats, cut_a_description_for_openai_between_characters)
{
	cleanup(buffer_deinit) struct buffer manifest = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t n_points = 0;
	const char *at;

	buffer_append_string(&manifest, "{'kind':'command','tools':[{'name':'t','command':"
					"{'argv':['true']},'description':'");
	for (size_t i = 0; i < 1100; i++)
		buffer_append_string(&manifest, "é");
	buffer_append_string(&manifest, "'}]}");
	read_good(buffer_terminate(&manifest));
	cr_expect(definition_write(&toolbox->tools[0], DEFINITION_OPENAI, "t", &out));
	buffer_terminate(&out);
	at = strstr(out.data, "\"description\":\"");
	cr_assert_not_null(at);
	at += strlen("\"description\":\"");
	for (; *at != '"'; at++)
		n_points += ((unsigned char)*at & 0xC0) != 0x80;
	cr_expect_eq(n_points, 1024, "%zu", n_points);
	cr_expect_eq(strncmp(at - strlen("…"), "…", strlen("…")), 0);
}

Test(formats, are_strict_for_openai_where_a_schema_lets_them)
{
	static const struct {
		const char *manifest;
		bool is_strict;
	} cases[] = {
		{ARGUMENTS("'a':{'type':'string'}", "'a'"), true},
		{ARGUMENTS("'a':{'type':'integer'},'b':{'type':'boolean'}", "'a','b'"), true},
		{ARGUMENTS("'a':{'type':'string','enum':['x','y']}", "'a'"), true},
		{ARGUMENTS("'a':{'type':'array','items':{'type':'number'}}", "'a'"), true},
		/* Each property has to be required, and to have a type. */
		{ARGUMENTS("'a':{'type':'string'}", ""), false},
		{ARGUMENTS("'a':{}", "'a'"), false},
		{ARGUMENTS("'a':{'type':'string'},'b':{'type':'string'}", "'a'"), false},
		{COMMAND("'argument_schema':{'type':'object','properties':{'a':{'type':'string'}},"
			 "'required':['a']}"),
			false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		read_good(cases[i].manifest);
		cr_expect(definition_write(&toolbox->tools[0], DEFINITION_OPENAI, "t", &out));
		cr_expect_eq(strstr(buffer_terminate(&out), "\"strict\":true") != NULL,
			cases[i].is_strict, "%s: %s", cases[i].manifest, out.data);
	}
}

/* ── a root of several shapes ────────────────────────────────────────────────────────────────── */

/* No model's format takes alternatives at the root, so their properties are merged. */
Test(formats, merge_the_alternatives_of_a_root)
{
	static const char *const keywords[] = {"oneOf", "anyOf", "allOf"};

	for (size_t i = 0; i < 3; i++) {
		char manifest[512];
		cleanup(buffer_deinit) struct buffer out = {0};

		snprintf(manifest, sizeof(manifest),
			"{'kind':'command','tools':[{'name':'t','command':{'argv':['true']},"
			"'argument_schema':{'type':'object','%s':[{'properties':{'a':{'type':"
			"'string'}},'required':['a']},{'properties':{'b':{'type':'integer'}},"
			"'required':['b']}]}}]}",
			keywords[i]);
		read_good(manifest);
		cr_expect(definition_write(&toolbox->tools[0], DEFINITION_OPENAI, "t", &out));
		buffer_terminate(&out);
		cr_expect_null(strstr(out.data, keywords[i]), "%s", out.data);
		cr_expect_not_null(strstr(out.data, "\"a\":{\"type\":\"string\"}"), "%s", out.data);
		cr_expect_not_null(
			strstr(out.data, "\"b\":{\"type\":\"integer\"}"), "%s", out.data);
	}
}

Test(formats, are_whole_or_have_failed_when_memory_is_short)
{
	static const enum definition_format all[] = {DEFINITION_COMPACT, DEFINITION_OPENAI,
		DEFINITION_ANTHROPIC, DEFINITION_MCP, DEFINITION_MARKDOWN};

	read_good(COMMAND(
		"'argument_schema':{'type':'object','oneOf':[{'properties':{'a b':{'type':'string',"
		"'enum':['x']}}},{'properties':{'c':{'type':['integer','null']}},'required':['c']}]"
		"}"));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		cleanup(buffer_deinit) struct buffer expected = {0};
		size_t n = 0;

		definition_write(&toolbox->tools[0], all[i], "t", &expected);
		cr_assert_eq(buffer_status(&expected), 0);
		buffer_terminate(&expected);
		for (; scarce_once_after(n); n++) {
			cleanup(buffer_deinit) struct buffer out = {0};
			bool has_failed;

			definition_write(&toolbox->tools[0], all[i], "t", &out);
			has_failed = scarce_has_failed();
			if (buffer_status(&out) == 0)
				cr_expect_str_eq(buffer_terminate(&out), expected.data,
					"format %u after %zu: %s", all[i], n, out.data);
			else
				cr_expect(has_failed && buffer_status(&out) == -ENOMEM);
		}
		cr_expect_gt(n, 0);
	}
}
