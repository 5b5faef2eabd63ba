/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "manifest_fixture.h"

TestSuite(array_file, .init = manifest_set_up, .fini = manifest_tear_down);

#define GOOD "{'name':'a','command':'true'}"

Test(array_file, is_a_toolbox_of_shell_lines)
{
	const struct toolbox *box = read_good(
		"[{'name':'lights','description':'On.','triggers':['light on'],"
		"'command':'light on','timeout':1.5,'cooldown':0,'colour':'red'}," GOOD "]");

	cr_expect_str_eq(box->id, "box");
	cr_expect_eq(box->package->kind, KIND_COMMAND);
	cr_assert_eq(box->n_tools, 2);
	cr_expect_str_eq(box->tools[0].name, "lights");
	cr_expect_str_eq(box->tools[0].description, "On.");
	cr_expect_str_eq(box->tools[0].command.arguments.items[2], "light on");
	cr_expect(box->tools[0].command.is_shell);
	cr_expect_eq(box->tools[0].timeout_ms, 1500);
	cr_expect_eq(box->tools[0].cooldown_s, 0);
	cr_expect_eq(box->tools[1].timeout_ms, 5000);
	cr_expect_eq(box->tools[1].cooldown_s, 30);
}

Test(array_file, is_unchanged_as_long_as_its_bytes_are)
{
	read_good("[" GOOD "]");
	cr_expect(manifest_is_unchanged(package));
	manifest_write("box.json", "[{'name':'b','command':'true'}]");
	cr_expect_not(manifest_is_unchanged(package));
}

Test(array_file, loads_whole_or_not_at_all)
{
	expect_refused("[" GOOD ",\n5]", 2, "/1",
		"must be an object with 'name' and 'command', a shell line; came: the number 5");
	expect_refused("[" GOOD ",\n{'name':'b'}]", 2, "/1",
		"missing required property 'command' (a shell line)");
	expect_refused("[" GOOD ",\n{'command':'true'}]", 2, "/1",
		"missing required property 'name' (a string of 1 to 64 characters)");
	expect_refused("[" GOOD ",\n" GOOD "]", 2, "/1/name",
		"the name 'a' is taken by tool 0, counted from 0");
}

Test(array_file, without_elements_is_a_toolbox_without_tools)
{
	const struct toolbox *box = read_good("[]");

	cr_expect_str_eq(box->id, "box");
	cr_expect_eq(box->package->kind, KIND_COMMAND);
	cr_expect_eq(box->n_tools, 0);
}

Test(array_file, tells_mistakes_where_they_stand)
{
	expect_refused("[" GOOD ",{'name':'b','command':\n5}]", 2, "/1/command",
		"must be a string of at least 1 character, not the number 5");
	expect_refused("[" GOOD ",{'name':'b','command':'c','timeout':\n0}]", 2, "/1/timeout",
		"must be a number of seconds above 0, and at most 86400; came: the number 0");
	expect_refused("[" GOOD ",{'name':'b','command':'c','timeout':\n-6e99}]", 2, "/1/timeout",
		"must be a number of seconds above 0, and at most 86400; came: the number -6e99");
	expect_refused("[" GOOD ",{'name':'b','command':'c','cooldown':\n'x'}]", 2, "/1/cooldown",
		"must be a number of seconds from 0 to 86400; came: the string \"x\"");
	expect_refused("[" GOOD ",{'name':\n'b c','command':'c'}]", 2, "/1/name",
		"the tool name 'b c' must begin with a letter or '_' and hold at most 64 letters, "
		"digits, '_' or '-'");
}
