/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "catalogue/package.h"
#include "json/reader.h"
#include "manifest_fixture.h"
#include "util/array.h"
#include "util/clock.h"

/* Tools, and whether their files are what they were. */

TestSuite(toolbox, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

/* A tool running the file `run` with the script x.sh, beside a file of its folder. */
#define COMMAND(more)                                                                              \
	"{'kind':'command','tools':[{'name':'f','command':{'argv':['./run','x.sh']" more "}}]}"

static void write_program(const char *name, const char *text)
{
	manifest_write(name, text);
	cr_assert_eq(chmod(manifest_path(name), 0700), 0);
}

static struct tool *read_command(void)
{
	struct tool *tool;

	write_program("run", "one");
	write_program("x.sh", "one");
	manifest_write("beside", "one");
	tool = &read_good(COMMAND(""))->tools[0];
	cr_assert_eq(origins_add(&package->programs, manifest_path("beside"), &tool->beside), 0);
	return tool;
}

Test(toolbox, has_a_tool_that_is_current_until_one_of_its_files_changes)
{
	static const struct {
		const char *file;
		bool is_program_current;
		bool is_current;
	} rows[] = {
		{"other", true, true},
		{"box.json", true, false},
		{"run", false, false},
		{"x.sh", false, false},
		{"beside", false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tool *tool = read_command();

		cr_expect(tool_is_current(tool));
		cr_expect_eq(package->looked_ms, 0, "a program is looked at before each call");
		manifest_write(rows[i].file, "another");
		cr_expect_eq(tool_program_is_current(tool), rows[i].is_program_current, "%s",
			rows[i].file);
		cr_expect_eq(package_has_same_programs(package), rows[i].is_program_current);
		cr_expect_eq(tool_is_current(tool), rows[i].is_current, "%s", rows[i].file);
	}
}

Test(toolbox, without_a_file_beside_its_tool_looks_at_none)
{
	struct tool *tool = read_command();

	tool->beside = ORIGIN_NONE;
	manifest_write("beside", "another");
	cr_expect(tool_is_current(tool));
}

Test(toolbox, has_a_program_by_name_where_it_was_found)
{
	char text[512];
	const struct tool *tool;

	write_program("one/.keep", "");
	write_program("two/.keep", "");
	snprintf(text, sizeof(text),
		"{'kind':'command','tools':[{'name':'f','command':{'argv':['prog'],'env':"
		"{'PATH':'%s:%s'}}}]}",
		manifest_path("one"), manifest_path("two"));
	tool = &read_good(text)->tools[0];
	cr_expect(tool_program_is_current(tool), "it is still nowhere");
	write_program("two/prog", "one");
	cr_expect_not(tool_program_is_current(tool), "it was nowhere");
	tool = &read_good(text)->tools[0];
	cr_expect(tool_program_is_current(tool));
	write_program("one/prog", "one");
	cr_expect_not(tool_program_is_current(tool), "another one comes before it");
}

Test(toolbox, of_a_library_is_looked_at_once_in_a_few_milliseconds)
{
	const struct tool *tool = &read_good(TOOL(SQRT))->tools[0];
	bool is_current;

	cr_expect(tool_is_current(tool));
	cr_expect_neq(package->looked_ms, 0);
	manifest_write("box.json", "{}");
	do {
		package->looked_ms = clock_now_ms();
		is_current = tool_is_current(tool);
	} while (clock_now_ms() - package->looked_ms >= 10); /* it was held up */
	cr_expect(is_current);
	package->looked_ms = clock_now_ms() - 10;
	cr_expect_not(tool_is_current(tool));
	cr_expect_leq(package->looked_ms, clock_now_ms() - 10, "it was not found current");
	cr_expect(tool_program_is_current(tool), "it starts no program");
	cr_expect_eq(tool_program_digest(tool), 0);
}

Test(toolbox, has_another_digest_of_programs_for_other_files)
{
	uint64_t before = tool_program_digest(read_command());

	cr_expect_neq(before, 0);
	cr_assert_eq(manifest_read_again("box.json"), 0);
	cr_expect_eq(tool_program_digest(&toolbox->tools[0]), before);
	write_program("x.sh", "longer");
	cr_assert_eq(manifest_read_again("box.json"), 0);
	cr_expect_neq(tool_program_digest(&toolbox->tools[0]), before);
	write_program("x.sh", "one");
	cr_assert_eq(manifest_read_again("box.json"), 0);
	before = tool_program_digest(&toolbox->tools[0]);
	write_program("run", "longer");
	cr_assert_eq(manifest_read_again("box.json"), 0);
	cr_expect_neq(tool_program_digest(&toolbox->tools[0]), before);
	read_good("{'kind':'command','env':{'PATH':'/bin'},'tools':[{'name':'f','command':"
		  "{'argv':['./run']}}]}");
	cr_expect_neq(tool_program_digest(&toolbox->tools[0]), 0, "the PATH of one tool");
	free(package->environment);
	package->environment = malloc(sizeof("PATH=/bin\0"));
	cr_assert(package->environment);
	memcpy(package->environment, "PATH=/bin\0", sizeof("PATH=/bin\0"));
	cr_expect_eq(tool_program_digest(&toolbox->tools[0]), 0, "the PATH of its host");
}

Test(toolbox, makes_tasks_of_the_calls_that_may_take_long)
{
	static const struct {
		enum tool_task task;
		uint64_t own_ms;
		uint64_t common_ms;
		bool is_task;
	} rows[] = {
		{TOOL_TASK_BY_TIME, 0, 0, false},
		{TOOL_TASK_BY_TIME, 0, 30000, false},
		{TOOL_TASK_BY_TIME, 0, 30001, true},
		{TOOL_TASK_BY_TIME, 30000, 30001, false},
		{TOOL_TASK_BY_TIME, 30001, 1, true},
		{TOOL_TASK_FORBIDDEN, 30001, 30001, false},
		{TOOL_TASK_OPTIONAL, 1, 1, true},
		{TOOL_TASK_REQUIRED, 1, 1, true},
	};
	struct tool *tool = &read_good(TOOL(SQRT))->tools[0];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tool->task = rows[i].task;
		tool->timeout_ms = rows[i].own_ms;
		package->limits.timeout_ms = rows[i].common_ms;
		cr_expect_eq(tool_may_be_task(tool), rows[i].is_task, "row %zu", i);
	}
}

Test(toolbox, drops_some_of_its_tools_or_all)
{
	static const bool second_and_third[] = {false, true, true, false};

	read_good(BOX("{'name':'a'," SQRT "},{'name':'b'," SQRT "},{'name':'c'," SQRT
		      "},{'name':'d'," SQRT "}"));
	toolbox_drop_tools(toolbox, second_and_third);
	cr_assert_eq(toolbox->n_tools, 2);
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect_str_eq(toolbox->tools[i].name, i == 0 ? "a" : "d");
		cr_expect_eq(toolbox->tools[i].index, i);
	}
	toolbox_drop_tools(toolbox, NULL);
	cr_expect_eq(toolbox->n_tools, 0);
	cr_expect_null(toolbox->tools);
}

Test(toolbox, has_another_tool_where_it_would_do_or_say_something_else)
{
	static char other[] = "{}";
	struct tool *before = &read_good(TOOL(SQRT))->tools[0];
	struct tool after = *before;
	struct package package_after = *package;
	struct toolbox toolbox_after = *toolbox;

	cr_expect_not(tool_differs(before, &after));
	after.risk = TOOL_WRITE;
	cr_expect(tool_differs(before, &after), "its risk");
	after.risk = before->risk;
	after.definition = other;
	cr_expect(tool_differs(before, &after), "its definition");
	after.definition = before->definition;
	after.run[ORIGIN_DIGEST_BYTES - 1] ^= 1;
	cr_expect(tool_differs(before, &after), "the way of running");
	after.run[ORIGIN_DIGEST_BYTES - 1] ^= 1;
	toolbox_after.package = &package_after;
	after.toolbox = &toolbox_after;
	cr_expect_not(tool_differs(before, &after));
	package_after.library.digest++;
	cr_expect(tool_differs(before, &after), "its library");
}

Test(toolbox, knows_risks_by_their_words)
{
	static const char text[] = "[\"unrated\",\"read\",\"write\",\"execute\",\"Read\",1]";
	static const enum tool_risk risks[] = {
		TOOL_UNRATED, TOOL_READ, TOOL_WRITE, TOOL_EXECUTE, TOOL_UNRATED, TOOL_UNRATED};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 2, NULL), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(risks); i++)
		cr_expect_eq(tool_risk_at(&tape, 1 + i), risks[i], "%u", i);
}
