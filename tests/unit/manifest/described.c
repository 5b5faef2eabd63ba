/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "manifest_fixture.h"

static struct manifest_reader *reader;
static struct diagnostics found;

static void set_up(void)
{
	manifest_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
	read_good("{'kind':'plugin','library':'./lib.so','config':{'a': [1.10]},'risk':'write'}");
}

static void tear_down(void)
{
	diagnostics_deinit(&found);
	manifest_reader_free(reader);
	manifest_tear_down();
}

TestSuite(manifest_described, .init = set_up, .fini = tear_down);

/* Let the toolbox take @described as the description of its `tools`. */
static int take(const char *described)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(
		json_tape_read(&tape, described, strlen(described), JSON_DEPTH_DEFAULT, NULL), 0);
	return manifest_take_tools(reader, &tape, json_find(&tape, 0, "tools"), package, &found);
}

Test(manifest_described, asks_with_the_configuration_as_it_was_written)
{
	cr_expect_eq(toolbox->n_tools, 0);
	cr_expect_str_eq(toolbox->package->config, "{\"a\":[1.10]}");
	cr_expect(strstr(toolbox->package->load, "\"config\":{\"a\":[1.10]}}"), "%s",
		toolbox->package->load);
	cr_expect_null(strstr(toolbox->package->load, "\"tools\""));
}

Test(manifest_described, reads_what_is_told_as_a_manifest)
{
	cr_assert_eq(take("{\"sealed\":true,\"tools\":[{\"name\":\"b\"},{\"name\":\"a\","
			  "\"risk\":\"read\",\"timeout_ms\":5,\"given\":\"statistics\"}]}"),
		0);
	cr_assert_eq(toolbox->n_tools, 2);
	cr_expect_eq(toolbox->tools[0].given, GIVEN_NOTHING);
	cr_expect_eq(toolbox->tools[1].given, GIVEN_STATISTICS);
	cr_expect_str_eq(toolbox->tools[0].definition,
		"{\"name\":\"b\",\"description\":\"\",\"argument_schema\":{\"type\":\"object\","
		"\"properties\":{},\"additionalProperties\":false},\"output_schema\":{\"type\":"
		"\"object\"},\"toolbox_id\":\"box\",\"source\":{\"kind\":\"plugin\",\"toolbox\":"
		"\"box\"},"
		"\"risk\":\"write\"}");
	cr_expect_eq(toolbox->tools[1].risk, TOOL_READ);
	cr_expect_eq(toolbox->tools[1].timeout_ms, 5);
	cr_expect(strstr(toolbox->package->load, ",\"tools\":[\"b\",\"a\"]}"), "%s",
		toolbox->package->load);
}

#define TYPES(key, schema)                                                                         \
	"{\"tools\":[{\"name\":\"f\",\"grant_key\":\"id\",\"asked_key\":\"" key                    \
	"\",\"argument_schema\":" schema "}]}"
#define CHARS(type) "{\"type\":\"object\",\"properties\":{\"chars\":{\"type\":" type "}}}"

Test(manifest_described, names_what_an_approval_is_for)
{
	cr_assert_eq(take(TYPES("chars", CHARS("\"string\""))), 0);
	cr_expect_str_eq(toolbox->tools[0].grant_key, "id");
	cr_expect_str_eq(toolbox->tools[0].asked_key, "chars");
}

static void expect_untold(const char *described, const char *pointer, const char *words)
{
	diagnostics_deinit(&found);
	found = (struct diagnostics){0};
	cr_expect_eq(take(described), MANIFEST_E_REFUSED);
	cr_assert_geq(found.n_items, 1);
	cr_expect_str_eq(found.items[0].pointer, pointer);
	cr_expect_eq(found.items[0].line, 0, "it stands in no file");
	cr_expect(strstr(found.items[0].text, words), "%s", found.items[0].text);
	cr_expect_eq(toolbox->n_tools, 0);
}

Test(manifest_described, refuses_what_a_manifest_could_not_say)
{
	expect_untold("{\"tools\":[]}", "/tools", "in its description: must ");
	expect_untold("{\"tools\":5}", "/tools", "must be an array");
	expect_untold("{\"tools\":[{}]}", "/tools/0", "missing required property 'name'");
	expect_untold("{\"tools\":[{\"name\":\"a\",\"x\":1}]}", "/tools/0/x", "");
	expect_untold("{\"tools\":[{\"name\":\"a b\"}]}", "/tools/0/name", "the tool name 'a b'");
	expect_untold("{\"tools\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", "/tools/1/name",
		"is taken by tool 0, counted from 0");
	expect_untold(
		"{\"tools\":[{\"name\":\"a\",\"cooldown_s\":86401}]}", "/tools/0/cooldown_s", "");
	expect_untold(TYPES("other", CHARS("\"string\"")), "/tools/0/asked_key",
		"must name a property of 'argument_schema' of the type \"string\"");
	expect_untold(TYPES("chars", CHARS("[\"string\"]")), "/tools/0/asked_key", "must name");
	expect_untold(TYPES("chars", CHARS("\"object\"")), "/tools/0/asked_key", "must name");
	expect_untold(TYPES("chars", "{\"type\":\"object\"}"), "/tools/0/asked_key", "must name");
	expect_untold("{\"tools\":[{\"name\":\"a\",\"argument_schema\":{\"type\":\"x\"}}]}",
		"/tools/0/argument_schema/type", "");
	cr_expect_eq(take("{\"tools\":[{\"name\":\"a\"}]}"), 0, "and takes what comes then");
}

Test(manifest_described, knows_the_tools_that_judge_their_arguments)
{
	static const struct {
		const char *places;
		int status;
	} rows[] = {{"[]", 0}, {"[1]", 0}, {"[0,1]", 0}, {"[2]", MANIFEST_E_REFUSED},
		{"[-1]", MANIFEST_E_REFUSED}, {"[\"0\"]", MANIFEST_E_REFUSED},
		{"[0.5]", MANIFEST_E_REFUSED}};
	char text[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text),
			"{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"validating\":%s}",
			rows[i].places);
		diagnostics_deinit(&found);
		read_good("{'kind':'plugin','library':'./lib.so'}");
		cr_expect_eq(take(text), rows[i].status, "%s", text);
		cr_assert_eq(found.n_items, rows[i].status ? 1 : 0, "%s", text);
		if (rows[i].status) {
			cr_expect_str_eq(found.items[0].pointer, "/validating");
			cr_expect_str_eq(
				found.items[0].text, "its host names a tool that is not there");
			continue;
		}
		cr_expect_eq(toolbox->tools[0].validates, strchr(rows[i].places, '0') != NULL);
		cr_expect_eq(toolbox->tools[1].validates, strchr(rows[i].places, '1') != NULL);
	}
}

Test(manifest_described, has_its_mistakes_without_lines_and_none_of_its_tools)
{
	cr_expect_eq(take("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\",\"colour\":1}]}"),
		MANIFEST_E_REFUSED);
	cr_expect_eq(toolbox->n_tools, 0);
	cr_assert_eq(found.n_items, 1);
	cr_expect_eq(found.items[0].line, 0);
	cr_expect_str_eq(found.items[0].pointer, "/tools/1/colour");
	cr_expect(strstr(found.items[0].text, "in its description: unexpected property 'colour'") ==
			  found.items[0].text,
		"%s", found.items[0].text);
}
