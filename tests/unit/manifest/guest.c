/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/guest/guest.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "quotes.h"
#include "scarce.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* The toolbox of a guest, whose manifest is the text of a message. JSON is written with ' in place
 * of ". */

static struct manifest_reader *reader;
static struct package *package;
static struct diagnostics problems;

static void set_up(void)
{
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void tear_down(void)
{
	package_unref(package);
	diagnostics_deinit(&problems);
	manifest_reader_free(reader);
}

TestSuite(manifest_guest, .init = set_up, .fini = tear_down, .timeout = 60);

static int read_text(const char *text, enum tool_risk risk)
{
	cleanup_free char *json = quoted(text);
	const struct guest_manifest manifest = {
		.text = {json, strlen(json)}, .source = "skill-lamp", .risk = risk};

	package_unref(package);
	package = NULL;
	diagnostics_deinit(&problems);
	problems = (struct diagnostics){0};
	return manifest_read_guest(reader, &manifest, &package, &problems);
}

/* Expect that @text is refused for the value at @pointer. */
static void expect_problem(const char *text, const char *pointer)
{
	cr_expect_eq(read_text(text, TOOL_EXECUTE), MANIFEST_E_REFUSED, "%s", text);
	cr_expect_null(package);
	cr_assert_gt(problems.n_items, 0, "%s", text);
	cr_expect_str_eq(problems.items[0].pointer, pointer, "%s", problems.items[0].text);
}

#define LAMP(tools) "{'toolbox_id':'lamp','description':'A lamp.','tools':[" tools "]}"

Test(manifest_guest, has_the_tools_and_the_source)
{
	const struct toolbox *toolbox;

	cr_assert_eq(read_text(LAMP("{'name':'on','risk':'write','timeout_ms':50},{'name':'off'}"),
			     TOOL_EXECUTE),
		0);
	toolbox = package->toolboxes[0];
	cr_expect_eq(package->kind, KIND_GUEST);
	cr_expect_str_eq(package->id, "lamp");
	cr_expect_str_eq(package->guest_source, "skill-lamp");
	cr_expect_str_eq(toolbox->description, "A lamp.");
	cr_assert_eq(toolbox->n_tools, 2);
	cr_expect_eq(toolbox->tools[0].risk, TOOL_WRITE);
	cr_expect_eq(toolbox->tools[0].timeout_ms, 50);
	cr_expect_str_eq(toolbox->tools[1].argument_schema,
		"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
	cr_expect(package_is_guest(package));
}

Test(manifest_guest, gives_an_undeclared_tool_the_configured_risk)
{
	cr_assert_eq(read_text(LAMP("{'name':'on'}"), TOOL_EXECUTE), 0);
	cr_expect_eq(package->toolboxes[0]->tools[0].risk, TOOL_EXECUTE);
	cr_expect(strstr(package->toolboxes[0]->tools[0].definition, "\"risk\":\"execute\""));
	cr_assert_eq(read_text(LAMP("{'name':'on'}"), TOOL_READ), 0);
	cr_expect_eq(package->toolboxes[0]->tools[0].risk, TOOL_READ);
}

Test(manifest_guest, refuses_what_a_manifest_may_not_have)
{
	expect_problem(LAMP("{'name':'on'},{'name':'on'}"), "/tools/1/name");
	expect_problem(LAMP("{'name':'4'}"), "/tools/0/name");
	expect_problem(LAMP("{}"), "/tools/0");
	expect_problem(LAMP("{'name':'on','risk':'small'}"), "/tools/0/risk");
	expect_problem(LAMP("{'name':'on','argument_schema':{'type':'x'}}"),
		"/tools/0/argument_schema/type");
	expect_problem(LAMP("{'name':'on','triggers':['(']}"), "/tools/0/triggers/0");
	expect_problem(LAMP("1"), "/tools/0");
	expect_problem(LAMP(""), "/tools");
}

/* A guest runs its tools itself. */
Test(manifest_guest, refuses_the_keys_of_other_kinds)
{
	expect_problem(LAMP("{'name':'on','command':{'argv':['true']}}"), "/tools/0/command");
	expect_problem(LAMP("{'name':'on','native':{'symbol':'f'}}"), "/tools/0/native");
	expect_problem(LAMP("{'name':'on','given':'statistics'}"), "/tools/0/given");
	expect_problem(LAMP("{'name':'on','grant_key':'x'}"), "/tools/0/grant_key");
	expect_problem(LAMP("{'name':'on','asked_key':'x'}"), "/tools/0/asked_key");
}

Test(manifest_guest, is_another_tool_of_another_source)
{
	cleanup_free char *json = quoted(LAMP("{'name':'on'}"));
	const struct guest_manifest manifest = {
		.text = {json, strlen(json)}, .source = "other", .risk = TOOL_EXECUTE};
	cleanup(package_cleanup) struct package *other = NULL;

	cr_assert_eq(read_text(LAMP("{'name':'on'}"), TOOL_EXECUTE), 0);
	cr_assert_eq(manifest_read_guest(reader, &manifest, &other, &problems), 0);
	cr_expect(tool_differs(&package->toolboxes[0]->tools[0], &other->toolboxes[0]->tools[0]));
}

Test(manifest_guest, runs_in_no_process_of_ours)
{
	cr_assert_eq(read_text("{'toolbox_id':'lamp','tools':[{'name':'on'}]}", TOOL_WRITE), 0);
	cr_expect_str_eq(package->file, "");
	cr_expect_null(package->toolboxes[0]->description);
	cr_expect(package->is_checked, "there is no library to check");
	cr_expect_eq(package->n_toolboxes, 1);
	cr_expect_eq(package->risk, TOOL_WRITE);
}

Test(manifest_guest, tells_all_mistakes_in_one_go)
{
	static const char *const pointers[] = {
		"/tools/0/risk", "/tools/1/name", "/tools/3/timeout_ms"};

	cr_expect_eq(read_text(LAMP("{'name':'on','risk':'small'},{'name':5},{'name':'off'},"
				    "{'name':'dim','timeout_ms':-1}"),
			     TOOL_EXECUTE),
		MANIFEST_E_REFUSED);
	cr_assert_eq(problems.n_items, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_str_eq(problems.items[i].pointer, pointers[i]);
}

/* Read a tool whose argument_schema has @depth levels of `not`. */
static int read_deep(unsigned int depth)
{
	struct buffer text = {0};
	int r;

	buffer_append_string(&text, "{'toolbox_id':'lamp','tools':[{'name':'on','argument_schema':{"
				    "'type':'object','default':");
	for (unsigned int i = 0; i < depth; i++)
		buffer_append_char(&text, '[');
	for (unsigned int i = 0; i < depth; i++)
		buffer_append_char(&text, ']');
	buffer_append_string(&text, "}}]}");
	r = read_text(buffer_terminate(&text), TOOL_READ);
	buffer_deinit(&text);
	return r;
}

/* The message was read with another bound, so the manifest may be too deep. */
Test(manifest_guest, refuses_levels_that_no_file_may_have)
{
	char words[128];

	cr_expect_eq(read_deep(JSON_DEPTH_DEFAULT - 4), 0, "%s",
		problems.n_items > 0 ? problems.items[0].text : "");
	cr_expect_eq(read_deep(JSON_DEPTH_DEFAULT - 3), MANIFEST_E_REFUSED);
	cr_expect_null(package);
	cr_assert_eq(problems.n_items, 1);
	snprintf(words, sizeof(words), "must be nested at most %d levels deep; it is deeper",
		JSON_DEPTH_DEFAULT);
	cr_expect_str_eq(problems.items[0].pointer, "/tools");
	cr_expect_str_eq(problems.items[0].text, words);
}

/* All guests share the reader, and none has keys of an earlier guest. */
Test(manifest_guest, has_nothing_of_the_guest_that_was_read_before)
{
	expect_problem(LAMP("{'name':'on','risk':'small'}"), "/tools/0/risk");
	cr_assert_eq(read_text("{'toolbox_id':'bulb','tools':[{'name':'off'}]}", TOOL_READ), 0);
	cr_expect_str_eq(package->id, "bulb");
	cr_expect_null(package->toolboxes[0]->description);
	cr_expect_eq(package->toolboxes[0]->n_tools, 1);
	cr_expect_str_eq(package->toolboxes[0]->tools[0].name, "off");
}

Test(manifest_guest, says_so_when_memory_runs_short)
{
	static const char text[] = LAMP("{'name':'on','triggers':['on {x}'],'argument_schema':{"
					"'type':'object','properties':{'x':{'type':'string'}}}},"
					"{'name':'off'}");
	cleanup_free char *json = quoted(text);
	const struct guest_manifest manifest = {
		.text = {json, strlen(json)}, .source = "skill-lamp", .risk = TOOL_READ};

	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(package_cleanup) struct package *read = NULL;
		int r = manifest_read_guest(reader, &manifest, &read, &problems);

		cr_assert_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(r == 0, read != NULL, "%zu", n);
		cr_expect_eq(problems.n_errors, 0, "%zu", n);
	}
}
